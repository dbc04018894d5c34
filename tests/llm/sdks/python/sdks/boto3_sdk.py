"""Amazon's `boto3`: Bedrock's Converse and InvokeModel, whole and streamed."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
from botocore.config import Config

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

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
MORE = ("thinking", "filter", "silent")


def converse(case: str, *parts: Any) -> dict[str, Any]:
    tools = [
        {"toolSpec": {"name": name, "inputSchema": {"json": it}}} for name, it in PARAMETERS.items()
    ]
    return {
        "modelId": MODEL,
        "system": [{"text": SYSTEM}],
        "messages": [{"role": "user", "content": [{"text": question(case)}, *parts]}],
        "inferenceConfig": {"temperature": 0.5, "maxTokens": 500},
        "toolConfig": {"tools": tools},
    }


def invoke(case: str) -> dict[str, Any]:
    body = {
        "anthropic_version": "bedrock-2023-05-31",
        "max_tokens": 500,
        "system": SYSTEM,
        "messages": [{"role": "user", "content": question(case)}],
        "tools": [{"name": n, "input_schema": p} for n, p in PARAMETERS.items()],
    }
    return {"modelId": MODEL, "body": json.dumps(body)}


def run(recorder: SdkRecorder) -> None:
    client: Any = boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=recorder.base("bedrock"),
        aws_access_key_id="AKIDTEST",
        aws_secret_access_key="secret",
        config=Config(retries={"total_max_attempts": 2, "mode": "standard"}),
    )
    for case in (*COMPLETE, *MORE):
        recorder.record(f"converse {case}", lambda case=case: client.converse(**converse(case)))
    for case in (*STREAMED, *MORE):
        recorder.record_events(
            f"converse {case} streamed", lambda case=case: _converse(client, case)
        )
    pictures = [{"image": {"format": "png", "source": {"bytes": it}}} for it in IMAGES]
    recorder.record("converse images", lambda: client.converse(**converse("text", *pictures)))
    recorder.record("converse loop", lambda: _loop(client))
    for case in (*COMPLETE, "thinking"):
        recorder.record(f"invoke {case}", lambda case=case: _invoke(client, **invoke(case)))
    for case in (*STREAMED, "thinking"):
        recorder.record_events(f"invoke {case} streamed", lambda case=case: _invoked(client, case))
    _others(recorder, client)


def _converse(client: Any, case: str) -> Iterator[Any]:
    answer = client.converse_stream(**converse(case))
    yield answer["ResponseMetadata"]
    yield from answer["stream"]


def _loop(client: Any) -> Any:
    asked = converse("loop")
    first = client.converse(**asked)
    message = first["output"]["message"]
    results = [
        {"toolResult": {"toolUseId": it["toolUse"]["toolUseId"], "content": [{"text": RESULT}]}}
        for it in message["content"]
        if "toolUse" in it
    ]
    asked["messages"] += [message, {"role": "user", "content": results}]
    return [first, *client.converse_stream(**asked)["stream"]]


def _invoke(client: Any, **asked: Any) -> Any:
    answer = client.invoke_model(**asked)
    return [answer["ResponseMetadata"], answer["body"].read()]


def _invoked(client: Any, case: str) -> Iterator[Any]:
    answer = client.invoke_model_with_response_stream(**invoke(case))
    yield answer["ResponseMetadata"]
    yield from answer["body"]


def _others(recorder: SdkRecorder, client: Any) -> None:
    titan = {"modelId": "amazon.titan-text-express-v1", "body": json.dumps({"inputText": "A room"})}
    recorder.record("titan", lambda: _invoke(client, **titan))
    embeds = {**titan, "modelId": "amazon.titan-embed-text-v2:0"}
    recorder.record("embeddings", lambda: _invoke(client, **embeds))
    asked = {"converse": {"messages": [{"role": "user", "content": [{"text": "A room"}]}]}}
    recorder.record("count", lambda: client.count_tokens(modelId=MODEL, input=asked))
