"""Connections are refused or left unanswered by the kernel, and each that was is in the ledger."""

import time
from collections.abc import Sequence
from typing import Any

import pytest

from tests.fetch import FETCH
from tests.proxy.support.lanes import scenario, wait_until
from tests.proxy.support.namespace_programs import BeginInside, LaneNamespace, mapped
from tests.proxy.support.origin import Origin
from warex.faults.connection.connection_refused import ConnectionRefused
from warex.faults.connection.connection_timeout import ConnectionTimeout
from warex.faults.server.http_error import HttpError
from warex.scenarios import Trigger
from warex.traces import Armed, FaultDelivered, FaultMissed, FaultPlanned, RequestSeen

pytestmark = pytest.mark.wire

_REFUSED, _TIMED_OUT = 7, 28
_SHOP: dict[str, Any] = {"match": {"url": "http://shop.test/*"}}


def _delivered(within: LaneNamespace) -> Sequence[FaultDelivered]:
    return within.lane.events(FaultDelivered)


def test_a_connection_is_refused_and_other_hosts_are_not(
    begin_inside: BeginInside, plain: Origin
) -> None:
    maps = mapped("http://shop.test", "http://other.test", port=plain.port)
    with begin_inside(scenario=scenario(ConnectionRefused(), **_SHOP), maps=maps) as within:
        assert within.fetch_fails("http://shop.test/a") == _REFUSED
        assert within.fetch("http://other.test/a") == "hello"
    [planned] = within.lane.events(FaultPlanned)
    assert planned.effects == ("refuse",)
    assert [it.injection for it in _delivered(within)] == [planned.injection]
    assert [seen.url for seen in within.lane.events(RequestSeen)] == ["http://other.test/a"]


def test_only_the_tries_that_a_trigger_names_are_refused(
    begin_inside: BeginInside, plain: Origin
) -> None:
    rules = scenario(ConnectionRefused(hold=0.2), Trigger(nth=(2,)), **_SHOP)
    with begin_inside(scenario=rules, maps=mapped("http://shop.test", port=plain.port)) as within:
        met: list[int] = []
        while len(met) < 3:
            met.append(within.run(*FETCH, "http://shop.test/a").returncode)
            # The next try must be an occurrence of its own.
            over = time.monotonic() + 0.3
            wait_until(lambda over=over: time.monotonic() > over)  # type: ignore[misc]
        assert met == [0, _REFUSED, 0]
    assert len(_delivered(within)) == 1


def test_one_port_may_stay_open_while_the_others_are_closed(
    begin_inside: BeginInside, plain: Origin
) -> None:
    # The first occurrence goes on at its own port; any other port would be the second.
    rules = scenario(
        ConnectionRefused(hold=20), Trigger(nth=(2,)), match={"url": "http://shop.test:*"}
    )
    maps = mapped("http://shop.test", "http://shop.test:8080", port=plain.port)
    with begin_inside(scenario=rules, maps=maps) as within:
        assert within.fetch("http://shop.test/a") == "hello"
        assert within.fetch("http://shop.test/b") == "hello"
        assert within.fetch_fails("http://shop.test:8080/c") == _REFUSED
        assert within.fetch("http://shop.test/d") == "hello"
    assert len(_delivered(within)) == 1


def test_an_address_that_a_rule_names_is_refused_too(
    begin_inside: BeginInside, plain: Origin
) -> None:
    port = plain.port
    rules = scenario(ConnectionRefused(), match={"url": f"http://localhost:{port}/*"})
    with begin_inside(scenario=rules, host_ports=(port,)) as within:
        assert within.fetch_fails(f"http://localhost:{port}/") == _REFUSED
        assert within.fetch_fails(f"http://127.0.0.1:{port}/") == _REFUSED
    rules = scenario(ConnectionRefused(), match={"url": "http://[2001:db8::7]/*"})
    with begin_inside(scenario=rules) as within:
        assert within.fetch_fails("http://[2001:db8::7]/") == _REFUSED
    assert len(_delivered(within)) == 1


def test_an_unanswered_connection_is_hit_once_the_client_gives_up(
    begin_inside: BeginInside,
) -> None:
    rules = scenario(ConnectionTimeout(), **_SHOP)
    with begin_inside(scenario=rules, maps=mapped("http://shop.test", port=9)) as within:
        began = time.monotonic()
        assert within.fetch_fails("http://shop.test/a") == _TIMED_OUT
        assert time.monotonic() - began > 2
    [delivered] = _delivered(within)
    assert delivered.waited_s > 0.9


def test_leaving_within_a_second_is_a_miss(begin_inside: BeginInside) -> None:
    rules = scenario(ConnectionTimeout(), **_SHOP)
    maps = mapped("http://shop.test", port=9)
    with begin_inside(scenario=rules, maps=maps) as within:
        assert within.fetch_fails("-m", "0.3", "http://shop.test/a") == _TIMED_OUT
        wait_until(lambda: within.lane.events(FaultMissed))
    assert [it.reason for it in within.lane.events(FaultMissed)] == ["client_gone"]
    with begin_inside(scenario=rules, maps=maps) as within:
        assert within.fetch_fails("-m", "0.3", "http://shop.test/a") == _TIMED_OUT
    assert [it.reason for it in within.lane.events(FaultMissed)] == ["trial_over"]


def test_arming_closes_the_gate_and_the_idle_connections(
    begin_inside: BeginInside, plain: Origin
) -> None:
    rules = scenario(ConnectionRefused(), **_SHOP)
    maps = mapped("http://shop.test", "http://other.test", port=plain.port)
    # It keeps two connections, waits until the rules hit, and finds one of them closed.
    program = """
import select, socket
ask = b"GET /a HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n"
connections = {}
for host in ("shop.test", "other.test"):
    connections[host] = socket.create_connection((host, 80))
    connections[host].sendall(ask % host.encode())
    answer = b""
    while not answer.endswith(b"hello"):
        answer += connections[host].recv(1000)
print("kept", flush=True)
select.select([connections["shop.test"]], [], [], 10)
print(connections["shop.test"].recv(10))
connections["other.test"].sendall(ask % b"other.test")
print(connections["other.test"].recv(15))
try:
    socket.create_connection(("shop.test", 80))
except ConnectionRefusedError:
    print("refused")
"""
    with begin_inside(scenario=rules, maps=maps, arm="first_llm_call") as within:

        def arm() -> None:
            wait_until(lambda: len(plain.seen) == 2)
            within.lane.proxy.call("POST", "/arm")

        message = within.python(program, meanwhile=arm)
    assert message == "kept\nb''\nb'HTTP/1.1 200 OK'\nrefused\n"


@pytest.mark.parametrize("sites", [("http://shop.test",), ()])
def test_the_connection_that_the_first_page_needs_is_refused(
    begin_inside: BeginInside, plain: Origin, sites: tuple[str, ...]
) -> None:
    rules = scenario(ConnectionRefused(hold=0.3), match={"url": "{sites}"})
    maps = mapped("http://shop.test", "http://other.test", port=plain.port)
    with begin_inside(scenario=rules, maps=maps, arm="first_page", sites=sites) as within:
        if sites:
            assert within.fetch("--status", "http://other.test/") == "200"
        assert within.fetch_fails("http://shop.test/") == _REFUSED
        wait_until(lambda: within.lane.events(FaultDelivered))
    assert within.lane.events(Armed) == [], "no page was asked for"


def test_rules_about_requests_block_nothing(begin_inside: BeginInside, plain: Origin) -> None:
    rules = scenario(HttpError(status=500), **_SHOP)
    with begin_inside(scenario=rules, maps=mapped("http://shop.test", port=plain.port)) as within:
        assert within.fetch("--status", "http://shop.test/") == "500"
