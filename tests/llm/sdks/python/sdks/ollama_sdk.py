"""Ollama's `ollama`: chat and generate, on this machine."""

from typing import Any

import ollama

from tests.llm.sdks.python.sdk_io import (
    FUNCTIONS,
    IMAGES,
    RESULT,
    SYSTEM,
    SdkRecorder,
    question,
)

MODEL = "qwen3:8b"
COMPLETE = ("text", "packed", "tools", "thinking", "length", "long", "overloaded")
STREAMED = (*COMPLETE, "broken", "cut")


def chat(case: str, **more: Any) -> dict[str, Any]:
    asked = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": question(case), **more},
    ]
    return {
        "model": MODEL,
        "messages": asked,
        "tools": FUNCTIONS,
        "options": {"temperature": 0.5, "seed": 7},
    }


def run(recorder: SdkRecorder) -> None:
    client: Any = ollama.Client(host=recorder.origin("ollama"))
    for case in COMPLETE:
        recorder.record(case, lambda case=case: client.chat(**chat(case)))
    for case in STREAMED:
        recorder.record_events(
            f"{case} streamed", lambda case=case: client.chat(**chat(case), stream=True)
        )
    recorder.record("images", lambda: client.chat(**chat("text", images=IMAGES)))
    recorder.record("loop", lambda: _loop(client))
    asked: dict[str, Any] = {"model": MODEL, "system": SYSTEM}
    for case in ("text", "thinking", "length", "long"):
        prompt = question(case)
        recorder.record(
            f"generate {case}", lambda prompt=prompt: client.generate(**asked, prompt=prompt)
        )
        recorder.record_events(
            f"generate {case} streamed",
            lambda prompt=prompt: client.generate(**asked, prompt=prompt, stream=True),
        )
    recorder.record("embeddings", lambda: client.embed(model=MODEL, input="A room"))
    recorder.record("show", lambda: client.show(MODEL))
    recorder.record_async("async", lambda: _in_loop(recorder.origin("ollama")))


def _loop(client: Any) -> Any:
    asked = chat("loop")
    first = client.chat(**asked)
    results = [
        {"role": "tool", "tool_name": it.function.name, "content": RESULT}
        for it in first.message.tool_calls
    ]
    asked["messages"] += [first.message, *results]
    return [first, *client.chat(**asked, stream=True)]


async def _in_loop(host: str) -> Any:
    client: Any = ollama.AsyncClient(host=host)
    full = await client.chat(**chat("tools"))
    events = [it async for it in await client.chat(**chat("text"), stream=True)]
    return [full, *events]
