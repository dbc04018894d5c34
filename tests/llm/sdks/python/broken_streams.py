"""python -m tests.llm.sdks.python.broken_streams JSON: ask each API for streams that WAREX breaks.

The argument has the origins of vendors that differ from their SDKs' defaults, and the names of what
is broken, in the order of the calls. It prints what each SDK gave its user, as JSON.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import anthropic
import boto3
import cohere
import ollama
import openai
from google import genai

from tests.llm.sdks.python.sdk_io import ORIGINS
from tests.llm.sdks.python.sdks import (
    anthropic_sdk,
    boto3_sdk,
    cohere_sdk,
    google_genai_sdk,
    ollama_sdk,
    openai_sdk,
)

type Ask = Callable[[], Iterator[Any]]


def streams(at: Mapping[str, str]) -> Mapping[str, Ask]:
    """Return a streamed call to each API, by its name."""
    url = {vendor: at.get(vendor, origin) for vendor, origin in ORIGINS.items()}
    vendor: Any = openai.OpenAI(api_key="sk-test", base_url=f"{url['openai']}/v1", max_retries=2)
    claude: Any = anthropic.Anthropic(api_key="sk", base_url=url["anthropic"], max_retries=2)
    google: Any = genai.Client(
        api_key="AIza-test", http_options=google_genai_sdk.options(url["google"])
    )
    amazon: Any = boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=url["bedrock"],
        aws_access_key_id="AKIDTEST",
        aws_secret_access_key="secret",
    )
    north: Any = cohere.ClientV2("test", base_url=url["cohere"])
    local: Any = ollama.Client(host=url["ollama"])
    case = "text"
    return {
        "openai_chat": lambda: vendor.chat.completions.create(**openai_sdk.counted(case)),
        "openai_responses": lambda: vendor.responses.create(
            **openai_sdk.response(case), stream=True
        ),
        "anthropic_messages": lambda: claude.messages.create(
            **anthropic_sdk.message(case), stream=True
        ),
        "gemini": lambda: google_genai_sdk._stream(google, case),
        "bedrock_converse": lambda: amazon.converse_stream(**boto3_sdk.converse(case))["stream"],
        "bedrock_invoke": lambda: _invoked(amazon, case),
        "ollama": lambda: local.chat(**ollama_sdk.chat(case), stream=True),
        "cohere": lambda: north.chat_stream(**cohere_sdk.chat(case)),
    }


def _invoked(client: Any, case: str) -> Iterator[Any]:
    answer = client.invoke_model_with_response_stream(**boto3_sdk.invoke(case))
    for event in answer["body"]:
        yield json.loads(event["chunk"]["bytes"])


def met(ask: Ask) -> Mapping[str, Any]:
    """Return how many events of a stream its user got, and the error that ended it."""
    events = 0
    try:
        for _ in ask():
            events += 1
    except Exception as error:  # noqa: BLE001 - whatever an SDK raises
        return {"events": events, "error": type(error).__name__, "message": str(error)[:200]}
    return {"events": events, "error": None}


def main() -> None:
    asked = json.loads(sys.argv[1])
    results = {
        api: {broken: met(ask) for broken in asked["broken"]}
        for api, ask in streams(asked["at"]).items()
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
