"""Mistral's `mistralai`: chat, whole and streamed."""

from typing import Any

from mistralai.client import Mistral
from mistralai.client.utils import BackoffStrategy, RetryConfig

from tests.llm.sdks.python.sdk_io import (
    COMPLETE,
    FUNCTIONS,
    IN_BASE64,
    RESULT,
    STREAMED,
    SYSTEM,
    SdkRecorder,
    question,
)

MODEL = "mistral-medium-latest"


def chat(case: str, content: Any = None) -> dict[str, Any]:
    return {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": content or question(case)},
        ],
        "tools": FUNCTIONS,
        "temperature": 0.5,
        "random_seed": 7,
    }


def run(recorder: SdkRecorder) -> None:
    again = RetryConfig("backoff", BackoffStrategy(10, 20, 1.5, 1_000), True)
    with Mistral(api_key="test", server_url=recorder.base("mistral"), retry_config=again) as opened:
        client: Any = opened
        for case in (*COMPLETE, "thinking"):
            recorder.record(case, lambda case=case: _ask(client, case))
        for case in (*STREAMED, "thinking"):
            recorder.record_events(f"{case} streamed", lambda case=case: _stream(client, case))
        pictures = [
            {"type": "image_url", "image_url": f"data:image/png;base64,{it}"} for it in IN_BASE64
        ]
        asked = [{"type": "text", "text": question("text")}, *pictures]
        recorder.record("images", lambda: client.chat.complete(**chat("text", asked)))
        recorder.record("loop", lambda: _loop(client))
        recorder.record(
            "fill in", lambda: client.fim.complete(model="codestral-latest", prompt="a =")
        )
        embed = client.embeddings.create
        recorder.record("embeddings", lambda: embed(model="mistral-embed", inputs=["A room"]))
        start = client.beta.conversations.start
        recorder.record("conversation", lambda: start(model=MODEL, inputs="A room"))
        recorder.record_async("async", lambda: _in_loop(client))


# The SDK would retry an overloaded API for a whole second.
NOT_AGAIN = RetryConfig("none", BackoffStrategy(10, 20, 1.5, 0), False)


def _ask(client: Any, case: str) -> Any:
    more = {"retries": NOT_AGAIN} if case == "overloaded" else {}
    return client.chat.complete(**chat(case), **more)


def _stream(client: Any, case: str) -> Any:
    more = {"retries": NOT_AGAIN} if case == "overloaded" else {}
    return client.chat.stream(**chat(case), **more)


def _loop(client: Any) -> Any:
    asked = chat("loop")
    first = client.chat.complete(**asked)
    message = first.choices[0].message
    results = [
        {"role": "tool", "tool_call_id": it.id, "name": it.function.name, "content": RESULT}
        for it in message.tool_calls
    ]
    asked["messages"] += [message, *results]
    return [first, *client.chat.stream(**asked)]


async def _in_loop(client: Any) -> Any:
    full = await client.chat.complete_async(**chat("tools"))
    events = [it async for it in await client.chat.stream_async(**chat("text"))]
    return [full, *events]
