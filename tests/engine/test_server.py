"""What a handler asks of the engine, and what becomes of a handler that breaks."""

import threading

import pytest

from tests.engine.running import Scripted, running, wait_until
from tests.proxy.support.client import read_answer, read_until_closed, tunnelled
from tests.proxy.support.origin import Answer, Origin
from warex.engine.handler import Exchange, Forward, Plan, Relay, RequestPlan
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_a_handler_that_breaks_is_told_and_its_client_is_cut(
    ca: CertificateAuthority, plain: Origin
) -> None:
    def breaks(exchange: Exchange) -> RequestPlan:
        raise KeyError("own mistake")

    handler = Scripted(request_plan=breaks)
    with running(handler, ca) as engine:
        with tunnelled(engine.port, "127.0.0.1", plain.port) as client:
            client.sendall(GET)
            with pytest.raises(ConnectionResetError):
                read_until_closed(client)
        wait_until(lambda: handler.closed_connections)
        assert [repr(error) for error in engine.broken] == ["KeyError('own mistake')"]
        engine.broken.clear()
        # Others are unharmed.
        handler.request_plan = None
        with tunnelled(engine.port, "127.0.0.1", plain.port) as client:
            client.sendall(GET)
            assert read_answer(client)[1] == b"hello"
    assert [it.end for it in handler.outcomes] == ["aborted", "complete"]


def test_a_piece_is_pushed_into_a_response(ca: CertificateAuthority, plain: Origin) -> None:
    begun = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n"
    plain.routes["/"] = Answer(raw=begun)
    handler = Scripted(response_plan=lambda exchange: Plan(Relay(tap=True, changes_length=True)))
    with running(handler, ca) as engine, tunnelled(engine.port, "127.0.0.1", plain.port) as client:
        client.sendall(GET)
        got = b""
        while not got.endswith(b"3\r\none\r\n"):
            got += client.recv(4096)
        (exchange,) = handler.exchanges
        assert engine.call(lambda: engine.engine.push(exchange, b"pushed"))
        assert client.recv(4096) == b"6\r\npushed\r\n"
        engine.call(lambda: engine.engine.abort(exchange, "close"))
        assert read_until_closed(client) == b""
        assert handler.outcome().end == "aborted"
        assert not engine.call(lambda: engine.engine.push(exchange, b"late"))


def test_a_connection_is_closed_once_its_exchanges_have_ended(
    ca: CertificateAuthority, plain: Origin
) -> None:
    handler = Scripted(request_plan=lambda exchange: Plan(Forward(), hold_s=(0.2,)))
    with running(handler, ca) as engine, tunnelled(engine.port, "127.0.0.1", plain.port) as client:
        client.sendall(GET)
        wait_until(lambda: handler.exchanges)
        connection = handler.exchanges[0].connection
        engine.call(lambda: engine.engine.close(connection))
        assert read_until_closed(client).endswith(b"hello")


def test_a_call_is_made_later_or_not_at_all(ca: CertificateAuthority) -> None:
    made = threading.Event()
    with running(Scripted(), ca) as engine:
        engine.call(lambda: engine.engine.call_later(0.01, lambda: pytest.fail("late")).cancel())
        engine.call(lambda: engine.engine.call_later(0.02, made.set))
        assert made.wait(5)
