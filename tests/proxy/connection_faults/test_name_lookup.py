"""A name's failure is in the ledger, delivered when its answer has left or silence was borne."""

import asyncio

from tests.proxy.support.lanes import scenario
from warex.clock import Clock
from warex.faults.connection.dns_failure import DnsFailure
from warex.lane.connection_faults.tries import ConnectionTries
from warex.lane.record.recorder import Recorder
from warex.proxy.connection_faults.name_lookup import LookupFaults
from warex.proxy.dns import numbers
from warex.scenarios import Injector, Trigger
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned


def _faults(code: str) -> tuple[LookupFaults, ConnectionTries, Recorder]:
    clock = Clock()
    recorder = Recorder(clock)
    fault = DnsFailure.model_validate({"code": code})
    rules = scenario(fault, Trigger(nth=(1,)), match={"url": "https://shop.test/*"})
    tries = ConnectionTries(Injector(rules, 1).connections, recorder)
    return LookupFaults(tries, clock), tries, recorder


async def test_an_answer_that_has_left_is_delivered() -> None:
    faults, _, recorder = _faults("nxdomain")
    failing = faults.plan("shop.test")
    assert failing is not None
    assert failing.code == numbers.NXDOMAIN
    assert [type(it) for it in recorder.ledger] == [FaultPlanned]
    failing.on_sent()
    assert [type(it) for it in recorder.ledger] == [FaultPlanned, FaultDelivered]
    assert faults.plan("other.test") is None


async def test_dns_silence_counts_once_the_client_waited() -> None:
    faults, _, recorder = _faults("timeout")
    failing = faults.plan("shop.test")
    assert failing is not None
    assert failing.code is None
    async with asyncio.timeout(5):
        while len(recorder.ledger) < 2:
            await asyncio.sleep(0.01)
    delivered = recorder.ledger[1]
    assert isinstance(delivered, FaultDelivered)
    assert delivered.waited_s >= 1.0


async def test_silence_that_the_trials_end_breaks_is_missed() -> None:
    faults, tries, recorder = _faults("timeout")
    assert faults.plan("shop.test") is not None
    faults.close()
    tries.finish()
    missed = recorder.ledger[1]
    assert isinstance(missed, FaultMissed)
    assert missed.reason == "trial_over"
