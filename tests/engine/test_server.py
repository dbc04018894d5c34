"""What a handler asks of the engine, and what becomes of a handler that breaks."""

import asyncio
import base64
import socket
import threading
from dataclasses import dataclass

import pytest

from tests.engine.running import Scripted, running, wait_until
from tests.proxy.support.client import H2Client, read_answer, read_until_closed, secure, tunnelled
from tests.proxy.support.origin import Answer, Origin
from warex.engine.handler import (
    Abort,
    Connection,
    Exchange,
    Forward,
    Handler,
    Plan,
    Relay,
    RequestPlan,
)
from warex.engine.http.events import ResponseEvent
from warex.engine.http.heads import RequestHead
from warex.engine.http.http1.client import Http1Client
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_a_handler_that_breaks_is_reported_and_its_client_is_cut(
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


# ---- several handlers


@dataclass(slots=True)
class ByName:
    """Each request names its handler in a header, each connection by its proxy user."""

    first: Scripted
    named: dict[str, Scripted]

    def of_connection(self, connection: Connection) -> Handler:
        return self.named.get(connection.proxy_user, self.first)

    def of_request(self, connection: Connection, head: RequestHead) -> Handler:
        return self.named.get(head.headers.get("x-handler"), self.of_connection(connection))


def to(name: str) -> bytes:
    return f"GET / HTTP/1.1\r\nHost: localhost\r\nX-Handler: {name}\r\n\r\n".encode()


def test_handlers_that_share_a_connection_see_their_own_exchanges_only(
    ca: CertificateAuthority, plain: Origin
) -> None:
    handlers = ByName(Scripted(), {"b": Scripted()})
    with running(handlers, ca) as engine:
        with tunnelled(engine.port, "127.0.0.1", plain.port) as client:
            for name in ("a", "b", "a", "b"):
                client.sendall(to(name))
                assert read_answer(client)[1] == b"hello"
        first, other = handlers.first, handlers.named["b"]
        wait_until(lambda: first.closed_connections and other.closed_connections)
    for each in (first, other):
        assert [it.end for it in each.outcomes] == ["complete"] * 2
        (connection,) = {id(it.connection) for it in each.exchanges}
        assert [id(it) for it in each.closed_connections] == [connection]
    assert first.exchanges[0].connection is not other.exchanges[0].connection
    # Nor do they share a connection to the site.
    assert len({seen.connection for seen in plain.seen}) == 2


def test_a_proxy_user_gives_a_connection_to_its_handler(
    ca: CertificateAuthority, plain: Origin
) -> None:
    handlers = ByName(Scripted(), {"b": Scripted()})
    user = base64.b64encode(b"b:x").decode()
    with running(handlers, ca) as engine:
        with socket.create_connection(("127.0.0.1", engine.port), timeout=30) as client:
            where = f"127.0.0.1:{plain.port}"
            client.sendall(
                f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n"
                f"Proxy-Authorization: Basic {user}\r\n\r\n".encode()
            )
            assert read_answer(client)[0].startswith(b"HTTP/1.1 200 ")
            client.sendall(GET)
            assert read_answer(client)[1] == b"hello"
        wait_until(lambda: handlers.named["b"].closed_connections)
    assert len(handlers.named["b"].outcomes) == 1
    assert handlers.first.exchanges == []
    assert len(handlers.first.closed_connections) == 1


def test_a_handler_that_breaks_or_resets_harms_no_other_on_its_connection(
    ca: CertificateAuthority, secure_h2: Origin
) -> None:
    def breaks(exchange: Exchange) -> RequestPlan:
        raise KeyError("own mistake")

    calm = Scripted(request_plan=lambda exchange: Plan(Forward(), hold_s=(0.2,)))
    broken = Scripted(request_plan=breaks)
    resets = Scripted(request_plan=lambda exchange: Plan(Abort("reset")))
    handlers = ByName(calm, {"broken": broken, "resets": resets})
    with (
        running(handlers, ca) as engine,
        secure(engine.port, "localhost", secure_h2.port, ca.certificate, "h2") as raw,
    ):
        client = H2Client(raw, "localhost")
        pending = client.ask("/held", flush=False)
        cut = [client.ask("/", headers=[("x-handler", name)]) for name in handlers.named]
        assert [client.wait(it).reset for it in cut] == [2, 2]
        assert client.wait(pending).status == 200
    assert [repr(it) for it in broken.broken] == ["KeyError('own mistake')"]
    assert (calm.broken, resets.broken) == ([], [])
    assert calm.outcome().end == "complete"


def test_dropping_a_handler_ends_only_its_connections_and_exchanges(
    ca: CertificateAuthority, plain: Origin
) -> None:
    pending = Scripted(request_plan=lambda exchange: Plan(Forward(), hold_s=(60,)))
    handlers = ByName(Scripted(), {"b": pending})
    other = handlers.named["b"]
    with (
        running(handlers, ca) as engine,
        tunnelled(engine.port, "127.0.0.1", plain.port) as shared,
        tunnelled(engine.port, "127.0.0.1", plain.port) as own,
    ):
        shared.sendall(to("b"))
        own.sendall(GET)
        assert read_answer(own)[1] == b"hello"
        wait_until(lambda: other.exchanges)
        asyncio.run_coroutine_threadsafe(engine.engine.drop(other), engine.loop).result(5)
        assert [it.end for it in other.outcomes] == ["shut_down"]
        assert len(other.closed_connections) == 1
        own.sendall(GET)
        assert read_answer(own)[1] == b"hello"
        asyncio.run_coroutine_threadsafe(engine.engine.drop(handlers.first), engine.loop).result(5)
        with pytest.raises(ConnectionError):
            read_answer(own)
    assert len(handlers.first.closed_connections) == 2


def test_an_error_on_a_sites_answer_goes_to_its_handler_and_cuts(
    ca: CertificateAuthority, plain: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers = ByName(Scripted(), {"b": Scripted()})
    calm, broken = handlers.first, handlers.named["b"]
    receive = Http1Client.receive

    def breaks(http: Http1Client, data: bytes) -> list[ResponseEvent]:
        if b"X-Breaks" in data:
            raise KeyError("own mistake")
        return receive(http, data)

    monkeypatch.setattr(Http1Client, "receive", breaks)
    plain.routes["/breaks"] = Answer(headers=[(b"X-Breaks", b"1")])
    with (
        running(handlers, ca) as engine,
        tunnelled(engine.port, "127.0.0.1", plain.port) as client,
    ):
        client.sendall(to("a"))
        assert read_answer(client)[1] == b"hello"
        client.sendall(to("b").replace(b"GET /", b"GET /breaks"))
        assert read_until_closed(client) == b""
        wait_until(lambda: broken.outcomes)
    assert [repr(it) for it in broken.broken] == ["KeyError('own mistake')"]
    assert (calm.broken, broken.outcome().end) == ([], "site_failed")
