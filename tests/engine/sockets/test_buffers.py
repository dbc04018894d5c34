"""What may wait at one place, by what waits at all places."""

import pytest

from warex.engine.sockets.buffers import LEAST, USUAL, Buffers, Intake

MOST = 64 * USUAL


class Paused:
    def __init__(self) -> None:
        self.by: set[object] = set()

    def pause(self, by: object) -> None:
        self.by.add(by)

    def resume(self, by: object) -> None:
        self.by.discard(by)


def test_each_place_has_the_usual_room_until_little_is_left_then_little() -> None:
    buffers = Buffers(MOST)
    limits = []
    for _ in range(66):
        limits.append(buffers.limit)
        buffers.add(USUAL)
    assert limits[:49] == [USUAL] * 49
    assert limits[49:] == sorted(limits[49:], reverse=True)
    assert limits[-1] == LEAST
    buffers.add(-66 * USUAL)
    assert (buffers.used, buffers.limit) == (0, USUAL)


def test_a_temporary_hold_is_always_released() -> None:
    buffers = Buffers(MOST)

    def fail() -> None:
        with buffers.holding(5):
            assert buffers.used == 5
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert buffers.used == 0


def test_a_peer_waits_while_much_of_it_does() -> None:
    end, buffers = Paused(), Buffers(MOST)
    intake = Intake(end, buffers, has_windows=False)
    intake.add(USUAL)
    assert not end.by
    intake.add(1)
    assert end.by == {intake}
    intake.remove(1)
    assert not end.by
    assert buffers.used == USUAL


def test_streams_bound_themselves_until_there_is_no_room() -> None:
    end, buffers = Paused(), Buffers(MOST)
    intake = Intake(end, buffers, has_windows=True)
    intake.add(10 * USUAL)
    assert not end.by
    buffers.add(MOST)
    intake.add(1)
    assert end.by == {intake}


def test_a_peer_that_waits_for_room_goes_on_once_others_give_it_back() -> None:
    end, buffers = Paused(), Buffers(MOST)
    buffers.add(MOST)
    intake = Intake(end, buffers, has_windows=False)
    intake.add(LEAST + 1)
    assert end.by
    buffers.add(-MOST)
    assert not end.by
