"""Anthropic's `anthropic`: Messages, on its own API, on Bedrock and on Vertex AI."""

from typing import Any

import anthropic

from tests.llm.sdks.python.sdk_io import (
    COMPLETE,
    IN_BASE64,
    PARAMETERS,
    RESULT,
    STREAMED,
    SYSTEM,
    SdkRecorder,
    question,
)

MODEL = "claude-sonnet-4-5-20250929"
MORE = ("thinking", "refusal", "silent")


def message(case: str, content: Any = None) -> dict[str, Any]:
    return {
        "model": MODEL,
        "system": SYSTEM,
        "max_tokens": 500,
        "messages": [{"role": "user", "content": content or question(case)}],
        "tools": [{"name": n, "input_schema": p} for n, p in PARAMETERS.items()],
    }


def run(recorder: SdkRecorder) -> None:
    options: Any = {"api_key": "sk-ant-test", "max_retries": 1}
    if base := recorder.base("anthropic"):
        options["base_url"] = base
    with anthropic.Anthropic(**options) as opened:
        client: Any = opened
        _messages(recorder, client)
        count = client.messages.count_tokens
        asked = [{"role": "user", "content": "A room"}]
        recorder.record("count", lambda: count(model=MODEL, messages=asked))
    _elsewhere(recorder)
    recorder.record_async("async", lambda: _in_loop(options))


def _messages(recorder: SdkRecorder, client: Any) -> None:
    create = client.messages.create
    for case in (*COMPLETE, *MORE):
        recorder.record(case, lambda case=case: create(**message(case)))
    for case in (*STREAMED, *MORE):
        recorder.record_events(
            f"{case} streamed", lambda case=case: create(**message(case), stream=True)
        )
    raw = client.messages.with_raw_response.create
    recorder.record("bytes", lambda: raw(**message("tools")).http_response.content)
    recorder.record(
        "bytes streamed", lambda: raw(**message("tools"), stream=True).http_response.read()
    )
    recorder.record("header", lambda: raw(**message("text")).headers["x-a-header"])
    pictures = [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": it}}
        for it in IN_BASE64
    ]
    asked = [{"type": "text", "text": question("text")}, *pictures]
    recorder.record("images", lambda: create(**message("text", asked)))
    recorder.record("loop", lambda: _loop(client))


def _loop(client: Any) -> Any:
    asked = message("loop")
    first = client.messages.create(**asked)
    results = [
        {"type": "tool_result", "tool_use_id": it.id, "content": RESULT}
        for it in first.content
        if it.type == "tool_use"
    ]
    asked["messages"] += [
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": results},
    ]
    with client.messages.stream(**asked) as streamed:
        return [first, streamed.get_final_message()]


def _elsewhere(recorder: SdkRecorder) -> None:
    bedrock: Any = anthropic.AnthropicBedrock(
        aws_access_key="AKIDTEST",
        aws_secret_key="secret",
        aws_region="us-east-1",
        base_url=recorder.base("bedrock"),
        max_retries=1,
    )
    base = recorder.base("vertex")
    vertex: Any = anthropic.AnthropicVertex(
        region="us-east5",
        project_id="shop",
        access_token="ya29.test",
        base_url=base and f"{base}/v1",
        max_retries=1,
    )
    for where, client in (("bedrock", bedrock), ("vertex", vertex)):
        for case in ("tools", "thinking", "long", "busy"):
            recorder.record(
                f"{where} {case}",
                lambda client=client, case=case: client.messages.create(**message(case)),
            )
        for case in ("tools", "thinking", "cut", "broken"):
            recorder.record_events(
                f"{where} {case} streamed",
                lambda client=client, case=case: client.messages.create(
                    **message(case), stream=True
                ),
            )


async def _in_loop(options: Any) -> Any:
    async with anthropic.AsyncAnthropic(**options) as opened:
        client: Any = opened
        full = await client.messages.create(**message("tools"))
        events = [it async for it in await client.messages.create(**message("text"), stream=True)]
        return [full, *events]
