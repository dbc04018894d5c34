"""Cohere's `cohere`: chat of version 2, whole and streamed."""

from typing import Any

import cohere

from tests.llm.sdks.python.sdk_io import (
    FUNCTIONS,
    IN_BASE64,
    RESULT,
    STREAMED,
    SYSTEM,
    WHOLE,
    Given,
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


def run(given: Given) -> None:
    client: Any = cohere.ClientV2("test", base_url=given.base("cohere"))
    for case in (*WHOLE, "thinking"):
        given.do(case, lambda case=case: client.chat(**chat(case)))
    # What cannot begin to stream is not asked again.
    for case in (*(it for it in STREAMED if it != "busy"), "thinking"):
        given.events(f"{case} streamed", lambda case=case: client.chat_stream(**chat(case)))
    pictures = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{it}"}}
        for it in IN_BASE64
    ]
    asked = [{"type": "text", "text": question("text")}, *pictures]
    given.do("images", lambda: client.chat(**chat("text", asked)))
    given.do("loop", lambda: _loop(client))
    embed = {"model": "embed-v4.0", "input_type": "search_query", "embedding_types": ["float"]}
    given.do("embeddings", lambda: client.embed(**embed, texts=["room"]))
    rerank = client.rerank
    given.do("rerank", lambda: rerank(model="rerank-v3.5", query="A room", documents=["so"]))
    old: Any = cohere.Client("test", base_url=given.base("cohere"))
    given.do("version 1", lambda: old.chat(model=MODEL, message="A room"))
    given.in_loop("async", lambda: _in_loop(given))


def _loop(client: Any) -> Any:
    asked = chat("loop")
    first = client.chat(**asked)
    results = [
        {"role": "tool", "tool_call_id": it.id, "content": RESULT}
        for it in first.message.tool_calls
    ]
    asked["messages"] += [first.message, *results]
    return [first, *client.chat_stream(**asked)]


async def _in_loop(given: Given) -> Any:
    async with cohere.AsyncClientV2("test", base_url=given.base("cohere")) as opened:
        client: Any = opened
        whole = await client.chat(**chat("tools"))
        return [whole, *[it async for it in client.chat_stream(**chat("text"))]]
