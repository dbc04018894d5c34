"""The connection handler: as mitmproxy's own, and a cut where mitmproxy breaks."""

import asyncio
import inspect
import re
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mitmproxy import ctx, http
from mitmproxy.addons.tlsconfig import TlsConfig
from mitmproxy.proxy import server

from tests.proxy.support.client import read_answer, read_until_closed, secure
from tests.proxy.support.lanes import scenario
from tests.proxy.support.origin import Answer, Origin
from warex.errors import MachineError
from warex.faults import HttpError
from warex.lane.config import ProxyConfig
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.engine import Engine, run_engine
from warex.proxy.mitmproxy_patches.connection_handler import WarexConnectionHandler
from warex.proxy.mitmproxy_patches.http_stream import WarexStream
from warex.traces import HarnessBroke, Trace, TraceWriter, read_trace


def test_every_command_that_mitmproxy_knows_is_performed() -> None:
    def named(function: Callable[..., object]) -> set[str]:
        return set(re.findall(r"commands\.(\w+)", inspect.getsource(function)))

    theirs = named(server.ConnectionHandler.server_event)
    ours = named(WarexConnectionHandler._perform)
    assert ours - {"Command"} == theirs - {"Command"}


class Broken:
    """A proxy in this process, so that it can be broken."""

    def __init__(self, ca: CertificateAuthority, out: Path, origin: Origin) -> None:
        self.out, self.reasons = out, list[str]()
        self._config = ProxyConfig(
            ca=ca.folder, out=out, scenario=scenario(HttpError(status=500), match={"url": "*/hit"})
        )
        self._origin = origin

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Engine]:
        async with run_engine(self._config) as engine:
            engine.recorder.on_broken = self.reasons.append
            yield engine

    async def meets_a_dead_connection(self, engine: Engine, path: str) -> None:
        with pytest.raises(OSError, match=r"closed|reset"):
            await asyncio.to_thread(self._ask, engine.port, path)

    def _ask(self, port: int, path: str) -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
            url = f"http://127.0.0.1:{self._origin.port}{path}"
            client.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            read_answer(client)

    @property
    def trace(self) -> Trace:
        return read_trace(self.out / "events.jsonl")


@pytest.fixture
def broken(ca: CertificateAuthority, tmp_path: Path, plain: Origin) -> Broken:
    return Broken(ca, tmp_path / "out", plain)


def fails(*given: object, **named: object) -> None:
    raise RuntimeError("on purpose")


@pytest.mark.wire
async def test_a_fault_that_breaks_cuts_the_exchange_and_voids_the_trial(
    broken: Broken, plain: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HttpError, "effects", fails)
    async with broken.running() as engine:
        await broken.meets_a_dead_connection(engine, "/hit")
    assert plain.paths == []
    assert broken.reasons == ["RuntimeError: on purpose"]
    (event,) = broken.trace.events(HarnessBroke)
    assert (event.reason, event.exchange) == ("RuntimeError: on purpose", "x1")
    assert broken.trace.entries[-1].event.event != "trial_ended"


@pytest.mark.wire
async def test_an_answer_is_not_let_through_where_its_end_cannot_be_recorded(
    broken: Broken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warex.proxy.exchange.flows.response_of", fails)
    async with broken.running() as engine:
        await broken.meets_a_dead_connection(engine, "/a")
    assert broken.reasons == ["RuntimeError: on purpose"]


@pytest.mark.wire
async def test_a_trace_that_cannot_be_written_cuts_the_exchange_and_voids_the_trial(
    broken: Broken, plain: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object) -> None:
        raise MachineError("the disk is full")

    async with broken.running() as engine:
        with monkeypatch.context() as patch:
            patch.setattr(TraceWriter, "write", full)
            await broken.meets_a_dead_connection(engine, "/a")
    assert plain.paths == []
    assert broken.reasons == ["the disk is full"]
    assert [entry.event.event for entry in broken.trace.entries][:2] == ["trial_began", "armed"]


@pytest.mark.wire
async def test_a_hook_of_mitmproxys_own_that_breaks_cuts_the_connection(
    broken: Broken, ca: CertificateAuthority, secure_h1: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TlsConfig, "tls_start_client", fails)

    def connect(port: int) -> None:
        with secure(port, "localhost", secure_h1.port, ca.certificate):
            pass

    async with broken.running() as engine:
        with pytest.raises(OSError, match=r"reset|EOF"):
            await asyncio.to_thread(connect, engine.port)
    assert len(broken.reasons) == 1
    assert "on purpose" in broken.reasons[0]
    assert broken.trace.events(HarnessBroke)


@pytest.mark.wire
async def test_mitmproxys_own_break_cuts_the_connection(
    broken: Broken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WarexStream, "start_response_stream", fails)
    async with broken.running() as engine:
        await broken.meets_a_dead_connection(engine, "/a")
    assert "on purpose" in broken.reasons[0]


@pytest.mark.wire
async def test_an_answer_without_a_length_does_not_seem_whole_when_mitmproxy_breaks(
    broken: Broken, plain: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.routes["/a"] = Answer(raw=b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf a page")
    monkeypatch.setattr(WarexStream, "send_response", fails)

    def read(port: int) -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
            url = f"http://127.0.0.1:{plain.port}/a"
            client.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            read_until_closed(client)

    async with broken.running() as engine:
        with pytest.raises(ConnectionResetError):
            await asyncio.to_thread(read, engine.port)


@pytest.mark.wire
async def test_a_waiting_hook_that_breaks_cuts_the_connection(
    broken: Broken, plain: Origin
) -> None:
    class Waits:
        async def request(self, flow: http.HTTPFlow) -> None:
            await asyncio.sleep(0)
            fails()

    async with broken.running() as engine:
        ctx.master.addons.add(Waits())
        await broken.meets_a_dead_connection(engine, "/a")
    assert plain.paths == []
    assert "on purpose" in broken.reasons[0]
