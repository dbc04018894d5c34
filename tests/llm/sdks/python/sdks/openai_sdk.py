"""OpenAI's `openai`: Chat and Responses, on OpenAI and on Azure."""

from typing import Any

import openai

from tests.llm.sdks.python.sdk_io import (
    COMPLETE,
    FUNCTIONS,
    IN_BASE64,
    PARAMETERS,
    RESULT,
    STREAMED,
    SYSTEM,
    SdkRecorder,
    question,
)

MODEL = "gpt-5-2025-08-07"
MORE = ("thinking", "filter", "refusal", "silent")


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
    }


def counted(case: str) -> dict[str, Any]:
    return {**chat(case), "stream": True, "stream_options": {"include_usage": True}}


def response(case: str, content: Any = None) -> dict[str, Any]:
    return {
        "model": MODEL,
        "instructions": SYSTEM,
        "input": [{"role": "user", "content": content}] if content else question(case),
        "tools": [{"type": "function", "name": n, "parameters": p} for n, p in PARAMETERS.items()],
        "top_p": 0.9,
    }


def run(recorder: SdkRecorder) -> None:
    base = recorder.base("openai")
    options: Any = {"api_key": "sk-test", "max_retries": 1}
    if base:
        options["base_url"] = f"{base}/v1"
    with openai.OpenAI(**options) as opened:
        client: Any = opened
        _chat(recorder, client)
        _responses(recorder, client)
        _others(recorder, client)
    with openai.AzureOpenAI(
        api_key="azure-test",
        api_version="2025-04-01-preview",
        azure_endpoint=recorder.origin("azure"),
        max_retries=1,
    ) as opened:
        azure: Any = opened
        deployed = {"model": "our-deployment"}
        recorder.record("azure", lambda: azure.chat.completions.create(**chat("tools") | deployed))
        recorder.record_events(
            "azure streamed", lambda: azure.chat.completions.create(**counted("text") | deployed)
        )
        recorder.record(
            "azure long", lambda: azure.chat.completions.create(**chat("long") | deployed)
        )
    recorder.record_async("async", lambda: _in_loop(options))


def _chat(recorder: SdkRecorder, client: Any) -> None:
    create = client.chat.completions.create
    for case in (*COMPLETE, *MORE):
        recorder.record(f"chat {case}", lambda case=case: create(**chat(case)))
    for case in (*STREAMED, *MORE):
        recorder.record_events(f"chat {case} streamed", lambda case=case: create(**counted(case)))
    recorder.record_events("chat uncounted", lambda: create(**chat("text"), stream=True))
    raw = client.chat.completions.with_raw_response.create
    recorder.record("chat bytes", lambda: raw(**chat("tools")).http_response.content)
    recorder.record("chat bytes streamed", lambda: raw(**counted("tools")).http_response.read())
    recorder.record("chat header", lambda: raw(**chat("text")).headers["x-a-header"])
    pictures = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{it}"}}
        for it in IN_BASE64
    ]
    asked = [{"type": "text", "text": question("text")}, *pictures]
    recorder.record("chat images", lambda: create(**chat("text", asked)))
    recorder.record("chat loop", lambda: _chat_loop(client))


def _chat_loop(client: Any) -> Any:
    asked = chat("loop")
    first = client.chat.completions.create(**asked)
    message = first.choices[0].message
    results = [
        {"role": "tool", "tool_call_id": it.id, "content": RESULT} for it in message.tool_calls
    ]
    asked["messages"] += [message.model_dump(exclude_none=True), *results]
    with client.chat.completions.stream(
        **asked, stream_options={"include_usage": True}
    ) as streamed:
        return [first, streamed.get_final_completion()]


def _responses(recorder: SdkRecorder, client: Any) -> None:
    create = client.responses.create
    for case in (*COMPLETE, *MORE):
        recorder.record(f"responses {case}", lambda case=case: create(**response(case)))
    for case in (*STREAMED, *MORE):
        recorder.record_events(
            f"responses {case} streamed", lambda case=case: create(**response(case), stream=True)
        )
    raw = client.responses.with_raw_response.create
    recorder.record("responses bytes", lambda: raw(**response("tools")).http_response.content)
    pictures = [
        {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{it}"}
        for it in IN_BASE64
    ]
    asked = [{"type": "input_text", "text": question("text")}, *pictures]
    recorder.record("responses images", lambda: create(**response("text", asked)))
    recorder.record("responses loop", lambda: _responses_loop(client))


def _responses_loop(client: Any) -> Any:
    asked = response("loop")
    first = client.responses.create(**asked)
    results = [
        {"type": "function_call_output", "call_id": it.call_id, "output": RESULT}
        for it in first.output
        if it.type == "function_call"
    ]
    more = {**asked, "previous_response_id": first.id, "input": [*results, _again()]}
    return [first, client.responses.create(**more)]


def _again() -> Any:
    return {"role": "user", "content": question("loop")}


def _others(recorder: SdkRecorder, client: Any) -> None:
    embed = {"model": "text-embedding-3-small", "input": "room", "encoding_format": "float"}
    recorder.record("embeddings", lambda: client.embeddings.create(**embed))
    recorder.record("models", lambda: client.models.list().data)
    recorder.record("completions", lambda: client.completions.create(model=MODEL, prompt="A room"))
    count = client.responses.input_tokens.count
    recorder.record("count", lambda: count(model=MODEL, input="A room"))


async def _in_loop(options: Any) -> Any:
    async with openai.AsyncOpenAI(**options) as opened:
        client: Any = opened
        full = await client.chat.completions.create(**chat("tools"))
        events = [it async for it in await client.responses.create(**response("text"), stream=True)]
        return [full, *events]
