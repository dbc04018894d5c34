import base64
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.llm.detached_images import detached
from tests.llm.families.vectors import Vector, vectors
from warex.llm import LLM_APIS, LlmApi, recognise, with_system_text
from warex.llm.body import large_base64 as module
from warex.llm.body.large_base64 import omit_base64

SMALL, IMAGE = "iVBORw0KGgo=", b"\x89PNG" * 16384
LONG = base64.b64encode(IMAGE).decode()


@pytest.fixture
def from_the_first_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGE", 0)


def test_a_small_body_is_read_as_it_is() -> None:
    body = json.dumps({"image": LONG}).encode()

    shorter, left_out = omit_base64(body)

    assert shorter is body
    assert not left_out


KINDS = {
    "long": LONG,
    "broken": f"{LONG}=",
    "url": f"data:image/png;base64,{LONG}",
    "text": '"\n,a',
}


@pytest.mark.usefixtures("from_the_first_byte")
@given(kinds=st.lists(st.sampled_from(sorted(KINDS)), max_size=6), glued=st.booleans())
@settings(max_examples=30)
def test_all_that_was_left_out_is_put_back(kinds: list[str], glued: bool) -> None:
    texts = [KINDS[kind] for kind in kinds]
    body = json.dumps(["".join(texts) if glued else texts, {"".join(texts[:2]): 1}]).encode()

    shorter, left_out = omit_base64(body)

    assert left_out.restore(shorter) == body
    assert left_out.put_back(json.loads(shorter)) == json.loads(body)
    assert bool(left_out) == (len(shorter) < len(body))
    assert glued or len(left_out.texts) >= sum(kind in ("long", "url") for kind in kinds)


@pytest.mark.usefixtures("from_the_first_byte")
@pytest.mark.parametrize("family", LLM_APIS, ids=lambda family: family.name)
def test_a_large_call_reads_as_a_small_one_does(
    family: LlmApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = [vector for vector in vectors(family.name) if SMALL in json.dumps(vector.request)]
    for vector in shown or [_with_image(vectors(family.name)[0])]:
        sent = vector.sent.replace(SMALL.encode(), LONG.encode())
        # An image that is none, and a text that is not an image: both stay in place.
        sent = sent[:-1] + b', "user": "%s", "image_url": "%s="}' % (LONG.encode(), LONG.encode())

        asked = recognise("POST", vector.path, "", sent)
        changed = with_system_text(vector.recognised(), sent, "Reload.")
        with monkeypatch.context() as patched:
            patched.setattr(module, "_LARGE", len(sent) + 1)
            plainly = recognise("POST", vector.path, "", sent)
            assert with_system_text(vector.recognised(), sent, "Reload.") == changed

        assert asked is not None
        assert plainly is not None
        assert LONG not in json.dumps(asked.messages)
        assert (asked.body_digest, asked.tools) == (plainly.body_digest, plainly.tools)
        messages, images = detached(asked.messages, family.images, asked.omitted)
        assert (messages, images) == detached(plainly.messages, family.images)
        assert set(images.values()) == {IMAGE}


@pytest.mark.usefixtures("from_the_first_byte")
def test_what_is_not_an_image_is_whole_in_the_messages() -> None:
    sent = {"model": LONG, "messages": [{"role": "user", "content": LONG}], "tools": [LONG]}

    asked = recognise("POST", "/v1/chat/completions", "", json.dumps(sent).encode())

    assert asked is not None
    assert (asked.model, asked.messages, asked.tools) == tuple(sent.values())


@pytest.mark.usefixtures("from_the_first_byte")
def test_a_large_image_that_is_not_base64_stays_in_place() -> None:
    image = {"image_url": f"data:image/png;base64,{LONG[:-1]}"}
    sent = {"model": "m", "messages": [{"role": "user", "content": [image]}]}

    asked = recognise("POST", "/v1/chat/completions", "", json.dumps(sent).encode())

    assert asked is not None
    messages, images = detached(asked.messages, _chat().images, asked.omitted)
    assert (messages, images) == (sent["messages"], {})


def _chat() -> LlmApi:
    return next(family for family in LLM_APIS if family.name == "openai_chat")


def _with_image(vector: Vector) -> Vector:
    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{SMALL}"}}
    messages = [*vector.request["messages"], {"role": "user", "content": [part]}]
    return replace(vector, request={**vector.request, "messages": messages})
