import typing

import pytest
from hypothesis import given
from pydantic import BaseModel, ValidationError

from warex.traces import events
from warex.traces.events import Event, event_adapter

from .samples import any_event

KINDS: tuple[type[BaseModel], ...] = typing.get_args(typing.get_args(Event.__value__)[0])


@given(any_event)
def test_an_unknown_key_is_refused(event: Event) -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        event_adapter.validate_python(event.model_dump() | {"surprise": 1})


def test_an_unknown_event_is_refused() -> None:
    with pytest.raises(ValidationError, match="union_tag"):
        event_adapter.validate_python({"event": "alien"})


@pytest.mark.parametrize("kind", KINDS)
def test_no_event_has_a_field_named_like_a_stamp(kind: type[BaseModel]) -> None:
    assert not kind.model_fields.keys() & {"schema_version", "seq", "t", "at"}


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_cannot_be_changed(kind: type[BaseModel]) -> None:
    assert kind.model_config.get("frozen")


def test_every_event_of_the_room_is_in_the_union() -> None:
    defined = {
        kind
        for kind in vars(events).values()
        if isinstance(kind, type) and issubclass(kind, BaseModel) and "event" in kind.model_fields
    }

    assert defined == set(KINDS)
