import msgspec
import pytest

from warex.traces.event_parts import ChangedValue


def test_a_value_that_was_taken_out_is_null() -> None:
    gone = ChangedValue(where="/a", before="1", after=None)

    assert msgspec.json.encode(gone) == b'{"where":"/a","before":"1","after":null}'
    with pytest.raises(msgspec.ValidationError, match="after"):
        msgspec.json.decode(b'{"where":"/a","before":"1"}', type=ChangedValue)
