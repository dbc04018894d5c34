import time
from datetime import datetime

from warex.clock import Clock, iso


def test_a_clock_begins_at_0_whenever_it_is_made() -> None:
    clock = Clock(monotonic=iter([100.0, 100.0, 102.5]).__next__)

    assert (clock.now(), clock.now()) == (0.0, 2.5)


def test_a_step_of_the_machines_clock_moves_no_event() -> None:
    walls = iter([1000.0, 0.0])
    clock = Clock(monotonic=iter([5.0, 6.0, 7.0]).__next__, wall=walls.__next__)

    assert [(clock.now(), clock.wall()) for _ in range(2)] == [(1.0, 1000.0), (2.0, 0.0)]


def test_left_to_itself_it_reads_the_machines_clocks() -> None:
    before = time.monotonic()
    clock = Clock()

    assert 0 <= clock.now() <= time.monotonic() - before
    assert abs(clock.wall() - datetime.now().astimezone().timestamp()) < 60


def test_a_time_is_written_in_utc_with_milliseconds() -> None:
    assert iso(0) == "1970-01-01T00:00:00.000+00:00"
    assert iso(1_700_000_000.1239) == "2023-11-14T22:13:20.123+00:00"
