"""In a namespace, whatever a command tries, it meets the proxy or nothing; nobody else does."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.exec.conftest import Desk, Machine, desk_of, machine_of, surroundings
from tests.exec.support import escape_attempts
from tests.exec.support import machine as there
from tests.sandbox.support.users import CALLER, USERS, User
from warex.traces import Dns, FaultDelivered, RequestSeen, Trace, Tunnel, read_trace

pytestmark = pytest.mark.wire

EVERY = """
name: every
rules:
  - name: every
    match: {url: "**"}
    trigger: {always: true}
    fault: {kind: http_error, status: 500}
"""
MEETS_THE_PROXY = {
    "tcp_four": "THROUGH",
    "tcp_six": "THROUGH",
    "tcp_four_in_six": "THROUGH",
    "tcp_multipath": "THROUGH",
    "tcp_fast_open": "THROUGH",
    "http_to_an_address": "HTTP/1.1 500",
    "https_to_a_resolver": "HTTP/1.1 500",
    "another_resolver_by_udp": "an address of WAREX's",
    "another_resolver_by_udp_six": "an address of WAREX's",
    "another_resolver_by_tcp": "an address of WAREX's",
}
EITHER = {"tcp_marked_and_source_routed", "the_network_of_process_1"}
"""Root alone may try, and gets no further than by the plain way."""
CAME_THROUGH = ("THROUGH", "LEAK", "connected", "HTTP/", "b'")
INSIDE = {"192.0.2.2", "fd00:77::2"}


@dataclass
class Tried:
    who: User
    came: dict[str, str]
    trace: Trace
    report: dict[str, Any]
    """Of the machine, on which nobody else has done anything."""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with machine_of(tmp_path_factory.mktemp("alone")) as made:
        yield made


def scenario(desk: Desk) -> tuple[str, str]:
    path = desk.folder / "every.yaml"
    path.write_text(EVERY)
    return "--scenario", str(path)


@pytest.fixture(
    scope="module",
    params=[
        str(CALLER),
        *(pytest.param(str(who), marks=pytest.mark.slow) for who in USERS[1:2]),
    ],
)
def tried(request: pytest.FixtureRequest, alone: Machine) -> Iterator[Tried]:
    (who,) = (who for who in USERS if str(who) == request.param)
    with desk_of(alone, who) as desk:
        out = desk.folder / "out"
        done = desk.warex(
            *("--isolate", "namespace", "--out", out, *scenario(desk)),
            *("--", "env", "-i", sys.executable, escape_attempts.__file__),
        )
        assert done.returncode == 0, done
        yield Tried(who, json.loads(done.stdout), read_trace(out / "events.jsonl"), alone.report())


def test_every_way_out_leads_to_the_proxy_or_nowhere(tried: Tried) -> None:
    came = tried.came

    assert {attempt: came[attempt] for attempt in MEETS_THE_PROXY} == MEETS_THE_PROXY
    others = {
        attempt: message
        for attempt, message in came.items()
        if attempt not in {*MEETS_THE_PROXY, *EITHER}
    }
    assert {
        attempt: message for attempt, message in others.items() if message.startswith(CAME_THROUGH)
    } == {}
    assert {came[attempt] for attempt in EITHER if came[attempt].startswith(CAME_THROUGH)} <= {
        "THROUGH"
    }


def test_traffic_that_reached_the_proxy_is_in_the_trace(tried: Tried) -> None:
    urls = {request.url for request in tried.trace.events(RequestSeen)}
    relayed = [(tunnel.host, tunnel.port, tunnel.why) for tunnel in tried.trace.events(Tunnel)]
    through = sum(values == "THROUGH" for values in tried.came.values())

    assert urls == {"http://shop.test/", f"https://{there.DOH}/"}
    assert len(list(tried.trace.events(FaultDelivered))) == 2
    assert set(relayed) == {(it, there.ECHO, "not_http") for it in (there.FOUR, there.SIX)}
    assert len(relayed) == through
    assert {event.name for event in tried.trace.events(Dns)} == {"shop.test"}


def test_on_the_machine_nothing_is_heard_but_the_proxy(tried: Tried) -> None:
    kinds = {kind for kind, _, _ in tried.report["heard"]}
    sources = {source for _, source, _ in tried.report["heard"]}

    # Besides TCP only what the machine's own devices say of themselves (IPv6).
    assert kinds <= {"tcp", "protocol 0", "protocol 58"}
    assert sources & INSIDE == set()
    assert set(tried.report["visits"]) == {f"tcp {there.ECHO}"}


@pytest.mark.slow
def test_without_us_the_same_ways_lead_out_and_are_heard(
    machine: Machine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with desk_of(machine, USERS[0]) as desk:
        came = json.loads(desk.ran(escape_attempts.__file__).stdout)
    report = machine.report()

    assert came["http_to_an_address"] == "HTTP/1.1 200"
    assert came["another_resolver_by_udp"] == came["quic_four"] == "b'LEAK'"
    assert came["loopback_four"].startswith("LEAK")
    assert came["abstract_socket"] == "connected"
    kinds = {kind for kind, _, _ in report["heard"]}
    assert {"tcp", "udp"} <= kinds
    assert {f"tcp {there.OWN}", "tcp 53", "udp 53", "udp 443", "unix"} <= set(report["visits"])


@pytest.mark.slow
def test_others_at_the_same_moment_are_neither_seen_nor_hit(machine: Machine) -> None:
    ask = "curl -sS -o /dev/null -w '%{http_code}\\n' https://shop.test/"
    with desk_of(machine, USERS[0]) as desk, desk_of(machine, USERS[-1]) as other:
        out = desk.folder / "out"
        exec_ = ["-m", "warex.cli", "exec", "--quiet", *scenario(desk), "--out", str(out)]
        with subprocess.Popen(
            machine.words(desk.who, [*exec_, "--", "sh", "-c", f"{ask}; read line; {ask}"]),
            env=surroundings(desk.who, desk.folder),
            cwd=desk.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as inside:
            assert inside.stdout is not None
            first = inside.stdout.readline()
            outside = [
                it.ran("-c", f"import os; os.execlp('sh', 'sh', '-c', {ask!r})").stdout
                for it in (other, desk)
            ]
            second, _ = inside.communicate("on\n", timeout=30)
        seen = [request.url for request in read_trace(out / "events.jsonl").events(RequestSeen)]

    assert (first, second) == ("500\n", "500\n")
    assert outside == ["200\n", "200\n"]
    assert seen == ["https://shop.test/"] * 2
