"""BerriAI's `litellm`: one call for every vendor's API."""

import json
import re
from typing import Any, Final

import litellm

from tests.llm.sdks.python.sdk_io import FUNCTIONS, IN_BASE64, SYSTEM, SdkRecorder, question

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
"""The path of the API at vendors that require more than an origin."""

OWN_ID: Final = re.compile(r'"id":"(call_[0-9a-f]{28}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})"')
"""The ids that litellm gives to tool calls of APIs without ids; they differ in every run."""


def call_options(
    recorder: SdkRecorder, vendor: str, case: str, content: Any = None
) -> dict[str, Any]:
    base = recorder.origin(vendor) if vendor == "ollama" else recorder.base(vendor)
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


def run(recorder: SdkRecorder) -> None:
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    ask: Any = litellm.completion
    counted = {"stream": True, "stream_options": {"include_usage": True}}
    for vendor in MODELS:
        for case in ("text", "tools", "length", "long"):
            recorder.record(
                f"{vendor} {case}",
                lambda vendor=vendor, case=case: clean(ask(**call_options(recorder, vendor, case))),
            )
        # It cannot read Cohere's events with the names of its reference.
        for case in ("text", "tools", "cut") if vendor != "cohere" else ():
            recorder.record_events(
                f"{vendor} {case} streamed",
                lambda vendor=vendor, case=case: map(
                    clean, ask(**call_options(recorder, vendor, case), **counted)
                ),
            )
        url = {"url": f"data:image/png;base64,{IN_BASE64[0]}"}
        asked = [
            {"type": "text", "text": question("text")},
            {"type": "image_url", "image_url": url},
        ]
        recorder.record(
            f"{vendor} image",
            lambda vendor=vendor, asked=asked: clean(
                ask(**call_options(recorder, vendor, "text", asked))
            ),
        )
        recorder.record_async(
            f"{vendor} async",
            lambda vendor=vendor: _in_loop(call_options(recorder, vendor, "text")),
        )


async def _in_loop(asked: Any) -> Any:
    ask: Any = litellm.acompletion
    return clean(await ask(**asked))


def clean(answer: Any) -> Any:
    """Return an answer without the ids and times that litellm generates."""
    content = json.loads(OWN_ID.sub('"id":"own"', answer.model_dump_json()))
    return {key: it for key, it in content.items() if key not in ("id", "created")}
