"""What a connection try leaves in the ledger."""

import pytest

from tests.proxy.support.lanes import scenario
from warex.clock import Clock
from warex.faults.connection.connection_refused import ConnectionRefused
from warex.faults.connection.connection_timeout import ConnectionTimeout
from warex.faults.connection.dns_failure import DnsFailure
from warex.lane.connection_faults.tries import ConnectionTries
from warex.lane.record.recorder import Recorder
from warex.scenarios import Injector, Scenario, Trigger
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned


def tries_of(of: Scenario, sites: tuple[str, ...] = ()) -> tuple[ConnectionTries, Recorder]:
    recorder = Recorder(Clock())
    return ConnectionTries(Injector(of, 1, sites=sites).connections, recorder), recorder


def test_what_is_planned_is_written_with_the_origin_and_the_point() -> None:
    tries, recorder = tries_of(scenario(ConnectionRefused(), per="url"))
    [injection] = tries.plan("connect", "shop.test", 8443, met=True)
    tries.settle(injection, delivered=True, waited_s=0.5)
    planned, delivered = recorder.ledger
    assert isinstance(planned, FaultPlanned)
    assert planned.url == "https://shop.test:8443/"
    assert (planned.exchange, planned.point, planned.effects) == ("a1", "connect", ("refuse",))
    assert planned.scope == "CONNECT shop.test:8443"
    assert isinstance(delivered, FaultDelivered)
    assert (delivered.injection, delivered.exchange, delivered.waited_s) == ("i1", "a1", 0.5)


def test_an_unusual_port_has_the_scheme_of_its_site() -> None:
    tries, recorder = tries_of(scenario(ConnectionRefused()), sites=("http://shop.test:7770",))
    tries.plan("connect", "shop.test", 7770)
    [planned] = recorder.ledger
    assert isinstance(planned, FaultPlanned)
    assert planned.url == "http://shop.test:7770/"


def test_what_no_rule_hits_leaves_nothing() -> None:
    tries, recorder = tries_of(scenario(DnsFailure(), Trigger(nth=(2,))))
    assert tries.plan("name", "shop.test") == ()
    assert recorder.ledger == []


def test_a_repeat_is_written_as_one() -> None:
    tries, recorder = tries_of(scenario(DnsFailure()))
    for _ in range(2):
        [injection] = tries.plan("name", "shop.test")
        tries.settle(injection, delivered=True)
    planned = [event for event in recorder.ledger if isinstance(event, FaultPlanned)]
    assert [(it.exchange, it.repeat_of, it.ordinal) for it in planned] == [
        ("a1", None, 1),
        ("a2", "i1", 1),
    ]


def test_two_failures_of_one_try_are_written_and_the_second_is_superseded() -> None:
    first, second = scenario(ConnectionRefused()).rules[0], scenario(ConnectionTimeout()).rules[0]
    both = Scenario(name="s", rules=(first, second.model_copy(update={"name": "other"})))
    tries, recorder = tries_of(both)
    assert [it.rule for it in tries.plan("connect", "shop.test", 80)] == ["rule"]
    [_, planned, missed] = recorder.ledger
    assert isinstance(planned, FaultPlanned)
    assert isinstance(missed, FaultMissed)
    assert (missed.rule, missed.injection, missed.reason) == ("other", "i2", "superseded")


def test_an_injection_is_settled_once_and_the_trials_end_settles_the_rest() -> None:
    tries, recorder = tries_of(scenario(ConnectionRefused()))
    [settled] = tries.plan("connect", "shop.test", 443)
    [left] = tries.plan("connect", "wiki.test", 443)
    tries.settle(settled, delivered=False)
    tries.settle(settled, delivered=True)
    tries.finish()
    ends = [event for event in recorder.ledger if not isinstance(event, FaultPlanned)]
    assert [(type(it).__name__, it.injection, it.reason) for it in ends] == [  # type: ignore[union-attr]
        ("FaultMissed", settled.id, "client_gone"),
        ("FaultMissed", left.id, "trial_over"),
    ]


@pytest.mark.parametrize("met", [None, True, False])
def test_nothing_is_planned_for_an_accepted_connection(met: bool | None) -> None:
    tries, recorder = tries_of(scenario(ConnectionRefused()))
    plan = tries.plan("connect", "shop.test", 443, met=met)
    assert bool(plan) == (met is not False)
    assert bool(recorder.ledger) == bool(plan)
