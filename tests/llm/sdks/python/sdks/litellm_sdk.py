"""BerriAI's `litellm`: one call for every vendor's API."""

import json
import re
from typing import Any, Final

import litellm

from tests.llm.sdks.python.sdk_io import FUNCTIONS, IN_BASE64, SYSTEM, Given, question

MODELS = {
    "openai": "openai/gpt-4o-2024-08-06",
    "anthropic": "anthropic/claude-sonnet-4-5-20250929",
    "google": "gemini/gemini-2.5-flash",
    "bedrock": "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "ollama": "ollama_chat/qwen3:8b",
    "mistral": "mistral/mistral-medium-latest",
    "cohere": "cohere_chat/v2/command-a-03-2025",
}
"""By vendor."""
BASES = {
    "openai": "{}/v1",
    "google": "{}/v1beta",
    "mistral": "{}/v1",
    "cohere": "{}/v2/chat",
}
"""What the API's address is at a vendor's, for those that must have more than that."""

OWN_ID: Final = re.compile(r'"id":"(call_[0-9a-f]{28}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})"')
"""How litellm numbers calls of tools where an API does not: anew each time."""


def request(given: Given, vendor: str, case: str, content: Any = None) -> dict[str, Any]:
    base = given.origin(vendor) if vendor == "ollama" else given.base(vendor)
    more: dict[str, Any] = {"api_base": BASES.get(vendor, "{}").format(base)} if base else {}
    if vendor == "bedrock":
        more = {"aws_bedrock_runtime_endpoint": base} if base else {}
        more |= {
            "aws_access_key_id": "AKIDTEST",
            "aws_secret_access_key": "secret",
            "aws_region_name": "us-east-1",
        }
    else:
        more["api_key"] = "test"
    return {
        "model": MODELS[vendor],
        "messages": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": content or question(case)},
        ],
        "tools": FUNCTIONS,
        "max_tokens": 500,
        "num_retries": 0,
        "max_retries": 0,
        **more,
    }


def run(given: Given) -> None:
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    ask: Any = litellm.completion
    counted = {"stream": True, "stream_options": {"include_usage": True}}
    for vendor in MODELS:
        for case in ("text", "tools", "length", "long"):
            given.do(
                f"{vendor} {case}",
                lambda vendor=vendor, case=case: clean(ask(**request(given, vendor, case))),
            )
        # Of Cohere's events, named as its reference has them, it can read none.
        for case in ("text", "tools", "cut") if vendor != "cohere" else ():
            given.events(
                f"{vendor} {case} streamed",
                lambda vendor=vendor, case=case: map(
                    clean, ask(**request(given, vendor, case), **counted)
                ),
            )
        url = {"url": f"data:image/png;base64,{IN_BASE64[0]}"}
        asked = [
            {"type": "text", "text": question("text")},
            {"type": "image_url", "image_url": url},
        ]
        given.do(
            f"{vendor} image",
            lambda vendor=vendor, asked=asked: clean(ask(**request(given, vendor, "text", asked))),
        )
        given.in_loop(
            f"{vendor} async", lambda vendor=vendor: _in_loop(request(given, vendor, "text"))
        )


async def _in_loop(asked: Any) -> Any:
    ask: Any = litellm.acompletion
    return clean(await ask(**asked))


def clean(answer: Any) -> Any:
    """Return an answer without what litellm makes up anew each time: ids, and when it came."""
    sent = json.loads(OWN_ID.sub('"id":"own"', answer.model_dump_json()))
    return {key: it for key, it in sent.items() if key not in ("id", "created")}
