"""The kernel loses packets of an open connection, which TCP sends again, and the ledger has it."""

import sys
from typing import Any

import pytest

from tests.proxy.support.lanes import scenario, wait_until
from tests.proxy.support.namespace_programs import BeginInside, mapped
from tests.proxy.support.origin import Answer, Origin
from warex.faults.connection.packet_loss import PacketLoss
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned

pytestmark = pytest.mark.wire

_SHOP: dict[str, Any] = {"match": {"url": "http://shop.test/*"}}
_LONG = b"x" * 300_000
_RETRANSMITTED = """
import sys, urllib.request

def sent_again():
    lines = [line.split() for line in open("/proc/net/snmp") if line.startswith("Tcp:")]
    return int(dict(zip(*lines))["RetransSegs"])

before = sent_again()
body = urllib.request.urlopen(sys.argv[1], timeout=25).read()
print(len(body), sent_again() - before)
"""


def test_lost_packets_are_sent_again_and_the_answer_is_whole(
    begin_inside: BeginInside, plain: Origin
) -> None:
    plain.routes["/long"] = Answer(body=_LONG)
    maps = mapped("http://shop.test", "http://other.test", port=plain.port)
    with begin_inside(scenario=scenario(PacketLoss(share=0.1), **_SHOP), maps=maps) as within:

        def fetch(url: str) -> list[int]:
            said = within.says(sys.executable, "-c", _RETRANSMITTED, url)
            return [int(word) for word in said.split()]

        assert fetch("http://other.test/long") == [len(_LONG), 0]
        length, again = fetch("http://shop.test/long")
        assert length == len(_LONG)
        # Some 200 packets: at least one of them is lost but in 1 of a billion cases.
        assert again > 0
    [planned] = within.lane.events(FaultPlanned)
    assert planned.effects == ("lose_packets",)
    [delivered] = within.lane.events(FaultDelivered)
    assert delivered.injection == planned.injection


def test_a_connection_that_loses_nothing_has_missed_it(
    begin_inside: BeginInside, plain: Origin
) -> None:
    rules = scenario(PacketLoss(share=1e-9), Trigger(nth=(1,)), **_SHOP)
    with begin_inside(scenario=rules, maps=mapped("http://shop.test", port=plain.port)) as within:
        assert within.fetch("http://shop.test/a") == "hello"
        wait_until(lambda: within.lane.events(FaultMissed))
    assert [it.reason for it in within.lane.events(FaultMissed)] == ["nothing_to_rewrite"]
