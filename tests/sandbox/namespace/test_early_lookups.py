"""Before the proxy serves, a lookup is sent to TCP, and what was asked is noticed."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.proxy.dns.test_messages import query
from warex.proxy.transparent.passed_sockets import PassedSockets
from warex.sandbox.namespace import early_lookups
from warex.sandbox.namespace.early_lookups import EarlyLookups, answered_early

pytestmark = pytest.mark.wire


@pytest.fixture
def passed() -> Iterator[PassedSockets]:
    with ExitStack() as stack:
        tcp, dns_tcp = (stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in "ab")
        udp, route, netfilter, queue, log = (
            stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in "abcde"
        )
        udp.bind(("127.0.0.1", 0))
        yield PassedSockets((tcp,), (udp,), (dns_tcp,), route, netfilter, queue, log)


@pytest.fixture
def client() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(10)
        yield client


def test_every_question_is_sent_to_tcp_and_nonsense_is_not_answered(
    passed: PassedSockets, client: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(early_lookups, "_HOLD_SECONDS", 0.0)
    resolver = passed.dns_udp[0].getsockname()
    with answered_early(passed):
        client.sendto(b"nonsense", resolver)
        for kind in (1, 16, 28, 33, 65):
            asked = query(b"Shop.test", kind, number=kind)
            client.sendto(asked, resolver)
            answer = client.recv(512)
            assert answer[:2] == asked[:2]
            assert answer[2] & 0x82 == 0x82  # An answer, truncated.
            assert answer[12:] == asked[12:]


def test_the_proxy_itself_answers_a_question_that_is_younger_than_the_hold(
    passed: PassedSockets, client: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(early_lookups, "_HOLD_SECONDS", 60.0)
    client.sendto(asked := query(), passed.dns_udp[0].getsockname())
    with answered_early(passed) as early:
        early.served()

    assert passed.dns_udp[0].recv(512) == asked


@pytest.mark.parametrize("what", ["nothing", "lookup", "dns over tcp", "connection"])
def test_what_was_asked_is_noticed(what: str, passed: PassedSockets, client: socket.socket) -> None:
    early = EarlyLookups(passed)
    with ExitStack() as stack:
        match what:
            case "lookup":
                client.sendto(query(), passed.dns_udp[0].getsockname())
            case "dns over tcp":
                at = passed.dns_tcp[0].getsockname()
                stack.enter_context(socket.create_connection(at))
            case "connection":
                stack.enter_context(socket.create_connection(passed.tcp[0].getsockname()))
            case _:
                pass
        assert early.were_asked() == (what != "nothing")
