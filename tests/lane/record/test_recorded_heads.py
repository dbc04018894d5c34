import pytest

from warex.engine.http.heads import Headers, ResponseHead
from warex.lane.record.recorded_heads import LONG, USUAL, RecordedHeads


def head(*fields: tuple[str, str], raw: bytes = b"") -> ResponseHead:
    return ResponseHead(200, b"", "HTTP/2.0", Headers.of_text(fields), raw)


@pytest.mark.parametrize("size", [10, USUAL - 1, USUAL, USUAL * 2])
def test_a_head_is_recorded_whole(size: int) -> None:
    fields = [("x", "a" * size), ("y", "b")]
    assert RecordedHeads().fields(head(*fields)) == (fields, 0)


def test_usual_heads_are_never_cut() -> None:
    heads = RecordedHeads()
    fields = [("x", "a" * (USUAL - 1))]
    for _ in range(2 * LONG // USUAL):
        assert heads.fields(head(*fields)) == (fields, 0)


def test_long_heads_take_bounded_room_in_a_trial() -> None:
    heads = RecordedHeads()
    long = [(f"x{number}", "a" * 4000) for number in range(60)]
    fields = [("first", "1"), *long, ("last", "2")]
    recorded: list[tuple[str, str]] = []
    sizes = left_out = 0
    for _ in range(500):
        recorded, left_out = heads.fields(head(*fields))
        sizes += sum(len(name) + len(value) for name, value in recorded)
    assert sizes <= LONG + 500 * USUAL
    assert recorded == [fields[0], *long[:4], fields[-1]]
    assert left_out == 56


def test_a_head_of_many_short_fields_is_cut_as_well() -> None:
    heads = RecordedHeads()
    fields = [("x", "a" * 30)] * 8000
    for _ in range(LONG // (31 * 8000) + 1):
        recorded, left_out = heads.fields(head(*fields))
    assert len(recorded) == USUAL // 31
    assert left_out == 8000 - len(recorded)
