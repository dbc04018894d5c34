import json

import pytest

from warex.llm.body.broken_json import break_event, broken
from warex.llm.body.framing import EVENT_STREAM, split_frames
from warex.llm.families.writing import aws_message

OBJECT = b'{"choices": [{"delta": {"content": "one"}}]}'


@pytest.mark.parametrize(
    ("event", "around"),
    [
        (b"data: %s\n\n", (b"data: ", b"\n\n")),
        (b"event: x\r\ndata: %s\r\n\r\n", (b"event: x\r\ndata: ", b"\r\n\r\n")),
        (b"%s\n", (b"", b"\n")),
        (b"[%s,\n", (b"[", b",\n")),
    ],
)
def test_the_json_breaks_off_and_its_frame_stays(event: bytes, around: tuple[bytes, bytes]) -> None:
    changed = break_event(event % OBJECT, "text/event-stream")

    begin, end = around
    assert changed.startswith(begin + OBJECT[:20])
    assert changed.endswith(end)
    with pytest.raises(ValueError, match=r"delimiter|string|value|property"):
        json.loads(changed.removeprefix(begin).removesuffix(end).lstrip(b"["))


def test_a_message_of_aws_stays_sound_with_a_payload_that_is_not_json() -> None:
    message = break_event(aws_message("chunk", {"bytes": "b25l"}), EVENT_STREAM)

    after = split_frames(message + aws_message("chunk", {"a": 1}), EVENT_STREAM)

    # One that is damaged would end the reading.
    assert list(after.items) == [{"chunk": {"a": 1}}]


@pytest.mark.parametrize("text", [b"", b"[DONE]", b"}{", b": ping"])
def test_what_is_not_an_object_stays(text: bytes) -> None:
    assert broken(text) == text
