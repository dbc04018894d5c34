"""What a ledger says of each injection."""

from warex.lane.record.injections import injections_of
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned


def planned(injection: str, repeat_of: str | None = None) -> FaultPlanned:
    return FaultPlanned(
        injection=injection,
        rule="r",
        fault={"kind": "http_error", "status": 503},
        exchange="x1",
        stage="request",
        scope="",
        effects=("reply",),
        ordinal=1,
        url="https://a.example/",
        repeat_of=repeat_of,
    )


def test_each_injection_has_its_last_state() -> None:
    injections = injections_of(
        [
            planned("i1"),
            planned("i2"),
            planned("i3", repeat_of="i1"),
            FaultDelivered(injection="i1", exchange="x1", rule="r", waited_s=0.5),
            FaultMissed(injection="i2", exchange="x2", rule="r", reason="client_gone"),
            FaultMissed(injection=None, exchange=None, rule="r", reason="not_armed"),
        ]
    )

    assert [
        (it.id, it.kind, it.state, it.reason, it.waited_s, it.repeat_of) for it in injections
    ] == [
        ("i1", "http_error", "delivered", None, 0.5, None),
        ("i2", "http_error", "missed", "client_gone", 0.0, None),
        ("i3", "http_error", "planned", None, 0.0, "i1"),
    ]
