import typing

import msgspec
import pytest
from hypothesis import given

from warex.traces import events
from warex.traces.event_parts import ChangedValue
from warex.traces.events import Event, FaultMissed

from .samples import any_event

KINDS: tuple[type[msgspec.Struct], ...] = typing.get_args(Event.__value__)


@given(any_event)
def test_an_unknown_key_is_refused(event: Event) -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field `surprise`"):
        msgspec.convert(msgspec.to_builtins(event) | {"surprise": 1}, Event.__value__)


def test_an_unknown_event_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="Invalid value 'alien'"):
        msgspec.convert({"event": "alien"}, Event.__value__)


@pytest.mark.parametrize("kind", KINDS)
def test_no_event_has_a_field_named_like_a_stamp(kind: type[msgspec.Struct]) -> None:
    assert not set(kind.__struct_fields__) & {"schema_version", "seq", "t", "at"}


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_cannot_be_changed(kind: type[msgspec.Struct]) -> None:
    assert kind.__struct_config__.frozen
    assert kind.__struct_config__.forbid_unknown_fields


def test_every_event_of_the_room_is_in_the_union() -> None:
    defined = {
        kind
        for kind in vars(events).values()
        if isinstance(kind, type)
        and issubclass(kind, msgspec.Struct)
        and kind.__struct_config__.tag_field == "event"
        and kind.__name__ != "BaseEvent"
    }

    assert defined == set(KINDS)


def test_a_value_that_was_taken_out_is_null() -> None:
    missing = ChangedValue(where="/a", before="1", after=None)

    assert msgspec.json.encode(missing) == b'{"where":"/a","before":"1","after":null}'
    with pytest.raises(msgspec.ValidationError, match="after"):
        msgspec.json.decode(b'{"where":"/a","before":"1"}', type=ChangedValue)


def test_an_unknown_reason_is_refused() -> None:
    missed = {"event": "fault_missed", "rule": "r", "reason": "superseded"}

    assert msgspec.convert(missed, FaultMissed).reason == "superseded"
    with pytest.raises(msgspec.ValidationError, match="reason"):
        msgspec.convert({**missed, "reason": "tired"}, FaultMissed)
