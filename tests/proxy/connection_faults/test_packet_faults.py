"""Packets of an open connection are lost or come out of order, and the ledger has it."""

import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.proxy.support.lanes import configured, scenario, wait_until
from tests.proxy.support.namespace_programs import BeginInside, mapped
from tests.proxy.support.origin import Answer, Origin
from warex.errors import MachineError
from warex.faults.connection.packet_loss import PacketLoss
from warex.faults.connection.packet_reorder import PacketReorder
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.client import start_proxy
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.namespace.launcher import open_namespace
from warex.scenarios import Match, Rule, Scenario, Trigger
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned

pytestmark = pytest.mark.wire

_SHOP: dict[str, Any] = {"match": {"url": "http://shop.test/*"}}
_LONG = b"x" * 300_000
_COUNTED = """
import sys, urllib.request

def counters():
    names = {}
    for file in ("/proc/net/snmp", "/proc/net/netstat"):
        lines = [line.split() for line in open(file)]
        for keys, values in zip(lines[::2], lines[1::2]):
            names.update(zip(keys, values))
    return int(names["RetransSegs"]), int(names["TCPOFOQueue"])

before = counters()
body = urllib.request.urlopen(sys.argv[1], timeout=25).read()
print(len(body), *(now - then for now, then in zip(counters(), before)))
"""
"""Prints an answer's length, and how many packets were sent again and came out of order."""


def test_lost_packets_are_sent_again_and_the_answer_is_whole(
    begin_inside: BeginInside, plain: Origin
) -> None:
    plain.routes["/long"] = Answer(body=_LONG)
    maps = mapped("http://shop.test", "http://other.test", port=plain.port)
    with begin_inside(scenario=scenario(PacketLoss(share=0.1), **_SHOP), maps=maps) as within:

        def fetch(url: str) -> list[int]:
            message = within.says(sys.executable, "-c", _COUNTED, url)
            return [int(word) for word in message.split()]

        other_length, sent_late, _ = fetch("http://other.test/long")
        length, again, _ = fetch("http://shop.test/long")
        assert length == other_length == len(_LONG)
        # Some 200 packets: at least one of them is lost but in 1 of a billion cases. A busy machine
        # may also send one again whose acknowledgement is late.
        assert again > 4 * sent_late
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


def test_packets_come_out_of_order_and_the_answer_is_whole(
    begin_inside: BeginInside, plain: Origin
) -> None:
    plain.routes["/long"] = Answer(body=_LONG)
    maps = mapped("http://shop.test", port=plain.port)
    rules = scenario(PacketReorder(share=0.2), **_SHOP)
    with begin_inside(scenario=rules, maps=maps) as within:
        message = within.says(sys.executable, "-c", _COUNTED, "http://shop.test/long")
        length, _, out_of_order = map(int, message.split())
        assert length == len(_LONG)
        assert out_of_order > 0
    [planned] = within.lane.events(FaultPlanned)
    assert planned.effects == ("reorder_packets",)
    [delivered] = within.lane.events(FaultDelivered)
    assert delivered.injection == planned.injection


def test_a_connection_none_of_whose_packets_is_overtaken_has_missed_it(
    begin_inside: BeginInside, plain: Origin
) -> None:
    rules = scenario(PacketReorder(share=1e-9), Trigger(nth=(1,)), **_SHOP)
    with begin_inside(scenario=rules, maps=mapped("http://shop.test", port=plain.port)) as within:
        assert within.fetch("http://shop.test/a") == "hello"
        wait_until(lambda: within.lane.events(FaultMissed))
    assert [it.reason for it in within.lane.events(FaultMissed)] == ["nothing_to_rewrite"]


def test_lost_and_reordered_packets_of_one_connection_are_both_delivered(
    begin_inside: BeginInside, plain: Origin
) -> None:
    plain.routes["/long"] = Answer(body=_LONG)
    match = Match(url="http://shop.test/*")
    rules = Scenario(
        name="both",
        rules=tuple(
            Rule(name=fault.kind, match=match, trigger=Trigger(always=True), fault=fault)
            for fault in (PacketLoss(share=0.1), PacketReorder(share=0.1))
        ),
    )
    with begin_inside(scenario=rules, maps=mapped("http://shop.test", port=plain.port)) as within:
        assert len(within.fetch("http://shop.test/long")) == len(_LONG)
    assert len(within.lane.events(FaultDelivered)) == 2


def test_without_the_kernels_queue_it_is_refused_before_the_run(
    forkserver: Forkserver, ca: CertificateAuthority, tmp_path: Path
) -> None:
    rules = scenario(PacketReorder(), **_SHOP)
    config = configured(ca=ca.folder, out=tmp_path, capture="namespace", scenario=rules)
    with open_namespace(ca) as space:
        # A socket that the kernel refuses a queue, as it does without the module.
        passed = replace(space.passed, queue=space.passed.route)
        with (
            pytest.raises(MachineError, match=r"rule 'rule' \(packet_reorder\) needs .*modprobe"),
            start_proxy(forkserver, config, print, passed=passed),
        ):
            pass
