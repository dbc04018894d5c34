"""Anthropic's `anthropic`: Messages, on its own API, on Bedrock and on Vertex AI."""

from typing import Any

import anthropic

from tests.llm.sdks.python.sdk_io import (
    IN_BASE64,
    PARAMETERS,
    RESULT,
    STREAMED,
    SYSTEM,
    WHOLE,
    Given,
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


def run(given: Given) -> None:
    options: Any = {"api_key": "sk-ant-test", "max_retries": 1}
    if base := given.base("anthropic"):
        options["base_url"] = base
    with anthropic.Anthropic(**options) as opened:
        client: Any = opened
        _messages(given, client)
        count = client.messages.count_tokens
        asked = [{"role": "user", "content": "A room"}]
        given.do("count", lambda: count(model=MODEL, messages=asked))
    _elsewhere(given)
    given.in_loop("async", lambda: _in_loop(options))


def _messages(given: Given, client: Any) -> None:
    create = client.messages.create
    for case in (*WHOLE, *MORE):
        given.do(case, lambda case=case: create(**message(case)))
    for case in (*STREAMED, *MORE):
        given.events(f"{case} streamed", lambda case=case: create(**message(case), stream=True))
    raw = client.messages.with_raw_response.create
    given.do("bytes", lambda: raw(**message("tools")).http_response.content)
    given.do("bytes streamed", lambda: raw(**message("tools"), stream=True).http_response.read())
    given.do("header", lambda: raw(**message("text")).headers["x-a-header"])
    pictures = [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": it}}
        for it in IN_BASE64
    ]
    asked = [{"type": "text", "text": question("text")}, *pictures]
    given.do("images", lambda: create(**message("text", asked)))
    given.do("loop", lambda: _loop(client))


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


def _elsewhere(given: Given) -> None:
    bedrock: Any = anthropic.AnthropicBedrock(
        aws_access_key="AKIDTEST",
        aws_secret_key="secret",
        aws_region="us-east-1",
        base_url=given.base("bedrock"),
        max_retries=1,
    )
    base = given.base("vertex")
    vertex: Any = anthropic.AnthropicVertex(
        region="us-east5",
        project_id="shop",
        access_token="ya29.test",
        base_url=base and f"{base}/v1",
        max_retries=1,
    )
    for where, client in (("bedrock", bedrock), ("vertex", vertex)):
        for case in ("tools", "thinking", "long", "busy"):
            given.do(
                f"{where} {case}",
                lambda client=client, case=case: client.messages.create(**message(case)),
            )
        for case in ("tools", "thinking", "cut", "broken"):
            given.events(
                f"{where} {case} streamed",
                lambda client=client, case=case: client.messages.create(
                    **message(case), stream=True
                ),
            )


async def _in_loop(options: Any) -> Any:
    async with anthropic.AsyncAnthropic(**options) as opened:
        client: Any = opened
        whole = await client.messages.create(**message("tools"))
        events = [it async for it in await client.messages.create(**message("text"), stream=True)]
        return [whole, *events]
