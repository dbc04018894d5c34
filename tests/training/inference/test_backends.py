from collections.abc import Iterator

import pytest

from tests.exports.builders import failure, row
from tests.training.endpoint import CHOICE, Endpoint, endpoint
from warex.errors import InputError, MachineError
from warex.training.inference.backends import answers_by_endpoint, has_action


@pytest.fixture
def url() -> Iterator[str]:
    with endpoint() as served:
        yield served


@pytest.mark.wire
def test_an_endpoint_is_asked_the_prompt_and_never_shown_the_answer(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    rows = [row("a"), failure("b")]

    results = dict((it.id, answer) for it, answer in answers_by_endpoint(url, "m", rows))

    assert results == {name: {"role": "assistant", "content": "reload()"} for name in ("a", "b")}
    assert {body["model"] for body in Endpoint.asked} == {"m"}
    assert sorted(str(body["messages"]) for body in Endpoint.asked) == sorted(
        str(it.prompt) for it in rows
    )
    assert Endpoint.keys == ["Bearer secret"] * 2


@pytest.mark.wire
def test_an_overloaded_endpoint_is_asked_again(url: str) -> None:
    Endpoint.answers[:] = [(503, {}), (200, CHOICE)]

    ((_, answer),) = answers_by_endpoint(url, "m", [row()])

    assert answer["content"] == "reload()"


@pytest.mark.wire
@pytest.mark.parametrize(
    ("status", "value", "kind", "words"),
    [
        (401, {"error": "no key"}, InputError, "answered 401"),
        (500, {"error": "broken"}, MachineError, "answered 500"),
        (200, {"nothing": 1}, InputError, "did not answer a chat completion"),
    ],
)
def test_an_endpoint_that_is_of_no_use_is_said_to_be_so(
    url: str, status: int, value: object, kind: type[Exception], words: str
) -> None:
    Endpoint.answers[:] = [(status, value)]

    with pytest.raises(kind, match=words):
        list(answers_by_endpoint(url, "m", [row()]))


def test_an_invalid_address_and_a_closed_port_have_different_errors() -> None:
    with pytest.raises(InputError, match="is not an http:// or https:// address"):
        list(answers_by_endpoint("shop", "m", [row()]))
    with pytest.raises(MachineError, match="cannot be reached"):
        list(answers_by_endpoint("http://127.0.0.1:1/v1", "m", [row()]))


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("I load it again.\nreload()\n", True),
        ("I load it again.\nreload()", False),
        ("click [7]\n", True),
        ("I think of reload() now,\n", False),
        ("```\nreload()\n", False),
        ("<action>\nreload()\n", False),
    ],
)
def test_an_answer_is_over_where_its_action_is(text: str, over: bool) -> None:
    assert has_action(text) == over
