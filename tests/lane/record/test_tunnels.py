import pytest

from warex.clock import Clock
from warex.lane.record.recorder import Recorder
from warex.lane.record.tunnels import OpenTunnel
from warex.traces import Event, LlmUnread, Tunnel


@pytest.mark.parametrize(("host", "unread"), [("shop.test", 0), ("api.openai.com", 1)])
def test_a_model_that_is_passed_through_is_recorded_as_unread(host: str, unread: int) -> None:
    now = 5.0
    recorder = Recorder(Clock(monotonic=lambda: now))
    events: list[Event] = []
    recorder.on_written = events.append
    now = 8.0

    OpenTunnel(host, 443, "pass_through", 1.0).record(recorder, 3, 4)

    tunnel, *others = events
    assert tunnel == Tunnel(
        host=host, port=443, why="pass_through", sent=3, received=4, seconds=2.0
    )
    assert [it.reason for it in others if isinstance(it, LlmUnread)] == (
        ["passed through: pass_through"] * unread
    )
