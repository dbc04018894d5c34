import json

import pytest
from pydantic import JsonValue

from tests.llm.detached_images import detached
from warex.llm import recognise
from warex.llm.families.cohere import Cohere


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "user", "content": "hi"}]},
        {"model": "m", "messages": []},
        {"model": "m", "messages": [{"content": "hi"}]},
        {"model": "m", "message": "hi"},
    ],
)
def test_other_requests_are_not_recognised_as_calls(body: object) -> None:
    assert recognise("POST", "/v2/chat", "application/json", json.dumps(body).encode()) is None


def test_an_image_in_a_message_is_kept_apart() -> None:
    url = "data:image/png;base64,iVBORw0KGgo="
    part: JsonValue = {"type": "image_url", "image_url": {"url": url}}

    messages, blobs = detached([{"role": "user", "content": [part]}], Cohere().images)

    (digest,) = blobs
    assert f"blob:sha256/{digest}" in json.dumps(messages)
    assert "iVBOR" not in json.dumps(messages)
