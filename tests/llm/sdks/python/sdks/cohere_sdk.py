"""Cohere's `cohere`: chat of version 2, whole and streamed."""

from typing import Any

import cohere

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

MODEL = "command-a-03-2025"
AGAIN: Any = {"max_retries": 1}


def chat(case: str, content: Any = None) -> dict[str, Any]:
    return {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": content or question(case)},
        ],
        "tools": FUNCTIONS,
        "temperature": 0.5,
        "seed": 7,
        "request_options": AGAIN,
    }


def run(recorder: SdkRecorder) -> None:
    client: Any = cohere.ClientV2("test", base_url=recorder.base("cohere"))
    for case in (*COMPLETE, "thinking"):
        recorder.record(case, lambda case=case: client.chat(**chat(case)))
    # The SDK does not retry a stream that could not begin.
    for case in (*(it for it in STREAMED if it != "busy"), "thinking"):
        recorder.record_events(
            f"{case} streamed", lambda case=case: client.chat_stream(**chat(case))
        )
    pictures = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{it}"}}
        for it in IN_BASE64
    ]
    asked = [{"type": "text", "text": question("text")}, *pictures]
    recorder.record("images", lambda: client.chat(**chat("text", asked)))
    recorder.record("loop", lambda: _loop(client))
    embed = {"model": "embed-v4.0", "input_type": "search_query", "embedding_types": ["float"]}
    recorder.record("embeddings", lambda: client.embed(**embed, texts=["room"]))
    rerank = client.rerank
    recorder.record("rerank", lambda: rerank(model="rerank-v3.5", query="A room", documents=["so"]))
    old: Any = cohere.Client("test", base_url=recorder.base("cohere"))
    recorder.record("version 1", lambda: old.chat(model=MODEL, message="A room"))
    recorder.record_async("async", lambda: _in_loop(recorder))


def _loop(client: Any) -> Any:
    asked = chat("loop")
    first = client.chat(**asked)
    results = [
        {"role": "tool", "tool_call_id": it.id, "content": RESULT}
        for it in first.message.tool_calls
    ]
    asked["messages"] += [first.message, *results]
    return [first, *client.chat_stream(**asked)]


async def _in_loop(recorder: SdkRecorder) -> Any:
    async with cohere.AsyncClientV2("test", base_url=recorder.base("cohere")) as opened:
        client: Any = opened
        full = await client.chat(**chat("tools"))
        return [full, *[it async for it in client.chat_stream(**chat("text"))]]
