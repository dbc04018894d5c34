import json
import timeit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.llm import could_be_llm, read_answer, recognise

CALL = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
BODY = json.dumps(CALL).encode()
PATH = "/v1/chat/completions"


@pytest.mark.parametrize(
    "path",
    [
        PATH,
        "/api/v1/chat/completions",
        "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21",
        "/some/gateway/of/ours/chat/completions",
    ],
)
def test_a_call_is_recognised_wherever_it_goes(path: str) -> None:
    request = recognise("POST", path, "application/json; charset=utf-8", BODY)

    assert request is not None
    assert (request.api, request.model) == ("openai_chat", "gpt-4o")


@pytest.mark.parametrize(
    ("method", "path", "content_type", "body"),
    [
        ("GET", PATH, "application/json", BODY),
        ("POST", "/v1/embeddings", "application/json", BODY),
        ("POST", "/search?next=/chat/completions", "application/json", BODY),
        ("POST", PATH, "multipart/form-data; boundary=x", b"--x\r\n\r\n" + BODY + b"\r\n--x--"),
        ("POST", PATH, "application/x-www-form-urlencoded", b"model=m&messages=hi"),
        ("POST", PATH, "application/json", b""),
        ("POST", PATH, "application/json", b"[]"),
        ("POST", PATH, "application/json", b'{"messages": "hi", "model": "m"}'),
        ("POST", PATH, "application/json", b'{"messages": [], "model": "m"}'),
        ("POST", PATH, "application/json", b'{"messages": [{}]}'),
        ("POST", PATH, "application/json", b'{"messages": [{"role": "user"}], "model": 7}'),
        ("POST", PATH, "application/json", b"[" * 100_000),
        ("POST", PATH, "application/json", b'{"model": "m", "messages": ' + b"[" * 100_000),
    ],
)
def test_other_requests_are_not_recognised_as_calls(
    method: str, path: str, content_type: str, body: bytes
) -> None:
    assert recognise(method, path, content_type, body) is None


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded"])
def test_a_call_is_recognised_whatever_its_content_type(kind: str) -> None:
    assert recognise("POST", PATH, kind, BODY) is not None


def test_repeats_of_a_body_have_one_digest_and_other_bodies_another() -> None:
    first, again = (recognise("POST", PATH, "", BODY) for _ in range(2))
    other = recognise("POST", PATH, "", BODY + b" ")

    assert first is not None
    assert again is not None
    assert other is not None
    assert first.body_digest == again.body_digest != other.body_digest


def test_the_same_body_to_another_model_has_another_digest() -> None:
    body = b'{"contents": [{"parts": [{"text": "hi"}]}]}'
    flash, again, pro = (
        recognise("POST", f"/v1beta/models/{model}:generateContent{query}", "", body)
        for model, query in (("flash", ""), ("flash", "?key=k"), ("pro", ""))
    )

    assert flash is not None
    assert again is not None
    assert pro is not None
    assert flash.body_digest == again.body_digest != pro.body_digest


@given(st.binary(), st.text())
def test_no_body_makes_recognising_fail(body: bytes, content_type: str) -> None:
    recognise("POST", PATH, content_type, body)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.fixed_dictionaries({}, optional={"model": _json, "messages": _json, "stream": _json}))
def test_no_json_makes_recognising_fail(body: object) -> None:
    request = recognise("POST", PATH, "application/json", json.dumps(body).encode())
    if request is not None:
        assert read_answer(request, 200, "", b"").error


def test_other_traffic_is_passed_by_in_two_microseconds() -> None:
    paths = ["/", "/static/app.js?v=1", "/api/orders/17/items", "/graphql"]
    rounds = 2_000
    best = min(
        timeit.repeat(lambda: [could_be_llm("POST", p) for p in paths], number=rounds, repeat=7)
    )
    assert best / rounds / len(paths) < 2e-6
