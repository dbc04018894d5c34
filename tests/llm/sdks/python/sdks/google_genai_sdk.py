"""Google's `google-genai`: generateContent, on its own API and on Vertex AI."""

from typing import Any

from google import genai
from google.genai import types
from google.oauth2.credentials import Credentials

from tests.llm.sdks.python.sdk_io import (
    COMPLETE,
    IMAGES,
    PARAMETERS,
    RESULT,
    STREAMED,
    SYSTEM,
    SdkRecorder,
    question,
)

MODEL = "gemini-2.5-flash"
MORE = ("thinking", "filter", "silent")


def config(**more: Any) -> Any:
    declared = [
        types.FunctionDeclaration(name=name, description=name, parameters_json_schema=it)
        for name, it in PARAMETERS.items()
    ]
    return types.GenerateContentConfig(
        system_instruction=SYSTEM,
        temperature=0.5,
        tools=[types.Tool(function_declarations=declared)],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        **more,
    )


def options(base: str | None) -> Any:
    again = types.HttpRetryOptions(attempts=2, initial_delay=0.01, jitter=0.0)
    return types.HttpOptions(base_url=base, retry_options=again)


def run(recorder: SdkRecorder) -> None:
    client: Any = genai.Client(api_key="AIza-test", http_options=options(recorder.base("google")))
    _generate(recorder, client)
    _others(recorder, client)
    vertex: Any = genai.Client(
        vertexai=True,
        project="shop",
        location="us-east5",
        credentials=Credentials("ya29.test"),
        http_options=options(recorder.base("vertex")),
    )
    for case in ("tools", "long"):
        recorder.record(f"vertex {case}", lambda case=case: _ask(vertex, case))
    for case in ("tools", "thinking", "cut"):
        recorder.record_events(f"vertex {case} streamed", lambda case=case: _stream(vertex, case))
    recorder.record_async("async", lambda: _in_loop(recorder))


def _ask(client: Any, case: str) -> Any:
    return client.models.generate_content(model=MODEL, contents=question(case), config=config())


def _stream(client: Any, case: str) -> Any:
    return client.models.generate_content_stream(
        model=MODEL, contents=question(case), config=config()
    )


def _generate(recorder: SdkRecorder, client: Any) -> None:
    for case in (*COMPLETE, *MORE):
        recorder.record(case, lambda case=case: _ask(client, case))
    for case in (*STREAMED, *MORE):
        recorder.record_events(f"{case} streamed", lambda case=case: _stream(client, case))
    pictures = [types.Part.from_bytes(data=it, mime_type="image/png") for it in IMAGES]
    asked = [question("text"), *pictures]
    generate = client.models.generate_content
    recorder.record("images", lambda: generate(model=MODEL, contents=asked, config=config()))
    recorder.record("loop", lambda: _loop(client))


def _loop(client: Any) -> Any:
    asked = [types.Content(role="user", parts=[types.Part(text=question("loop"))])]
    first = client.models.generate_content(model=MODEL, contents=asked, config=config())
    results = [
        types.Part.from_function_response(name=it.name, response={"result": RESULT})
        for it in first.function_calls
    ]
    asked += [first.candidates[0].content, types.Content(role="user", parts=results)]
    again = client.models.generate_content_stream(model=MODEL, contents=asked, config=config())
    return [first, *again]


def _others(recorder: SdkRecorder, client: Any) -> None:
    recorder.record("count", lambda: client.models.count_tokens(model=MODEL, contents="A room"))
    embed = client.models.embed_content
    recorder.record("embeddings", lambda: embed(model="gemini-embedding-001", contents="A room"))
    create = client.interactions.create
    recorder.record("interactions", lambda: create(model=MODEL, input="A room"))


async def _in_loop(recorder: SdkRecorder) -> Any:
    client: Any = genai.Client(api_key="AIza-test", http_options=options(recorder.base("google")))
    models = client.aio.models
    full = await models.generate_content(model=MODEL, contents=question("tools"), config=config())
    streamed = await models.generate_content_stream(
        model=MODEL, contents=question("text"), config=config()
    )
    events = [it async for it in streamed]
    await client.aio.aclose()
    return [full, *events]
