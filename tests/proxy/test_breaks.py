"""Where WAREX itself breaks, the exchange is cut and the trial is void."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.proxy.support.client import read_answer, read_until_closed, secure
from tests.proxy.support.lanes import configured, scenario
from tests.proxy.support.origin import Answer, Origin
from warex.engine.exchanges import ExchangeRun
from warex.engine.sites import SiteSide
from warex.engine.tls.certificates import ServerContexts
from warex.errors import MachineError
from warex.faults.server.http_error import HttpError
from warex.lane import settlement
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.serving import RunningLane, run_lane
from warex.traces import HarnessBroke, Trace, TraceWriter, read_trace

pytestmark = pytest.mark.wire


class Broken:
    """A proxy in this process, so that it can be broken."""

    def __init__(self, ca: CertificateAuthority, out: Path, origin: Origin) -> None:
        self.out, self.reasons = out, list[str]()
        rules = scenario(HttpError(status=500), match={"url": "*/hit"})
        self._config = configured(ca=ca.folder, out=out, scenario=rules)
        self._origin = origin

    @asynccontextmanager
    async def running(self) -> AsyncIterator[RunningLane]:
        async with run_lane(self._config) as running:
            running.recorder.on_broken = lambda cause: self.reasons.append(str(cause))
            yield running

    async def meets_a_dead_connection(self, running: RunningLane, path: str) -> None:
        with pytest.raises(OSError, match=r"closed|reset"):
            await asyncio.to_thread(self.ask, running.port, path)

    def ask(self, port: int, path: str) -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
            url = f"http://127.0.0.1:{self._origin.port}{path}"
            client.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            read_answer(client)

    @property
    def trace(self) -> Trace:
        return read_trace(self.out / "events.jsonl")


@pytest.fixture
def broken(ca: CertificateAuthority, tmp_path: Path, plain: Origin) -> Broken:
    return Broken(ca, tmp_path / "out", plain)


def fails(*values: object, **named: object) -> None:
    raise RuntimeError("on purpose")


async def test_a_fault_that_breaks_cuts_the_exchange_and_voids_the_trial(
    broken: Broken, plain: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HttpError, "effects", fails)
    async with broken.running() as running:
        await broken.meets_a_dead_connection(running, "/hit")
    assert plain.paths == []
    assert broken.reasons == ["RuntimeError: on purpose"]
    (event,) = broken.trace.events(HarnessBroke)
    assert (event.reason, event.exchange) == ("RuntimeError: on purpose", "x1")
    assert broken.trace.entries[-1].event.event != "trial_ended"


async def test_a_trace_that_cannot_be_written_voids_the_trial(
    broken: Broken, plain: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*values: object) -> None:
        raise MachineError("the disk is full")

    async with broken.running() as running:
        with monkeypatch.context() as patch:
            patch.setattr(TraceWriter, "write", full)
            await broken.meets_a_dead_connection(running, "/a")
    assert plain.paths == []
    assert broken.reasons == ["the disk is full"]
    assert [entry.event.event for entry in broken.trace.entries][:2] == ["trial_began", "armed"]


async def test_a_certificate_that_cannot_be_made_voids_the_trial(
    broken: Broken, ca: CertificateAuthority, secure_h1: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ServerContexts, "context", fails)

    def connect(port: int) -> None:
        with secure(port, "localhost", secure_h1.port, ca.certificate):
            pass

    async with broken.running() as running:
        with pytest.raises(OSError, match=r"reset|EOF"):
            await asyncio.to_thread(connect, running.port)
    assert broken.reasons == ["RuntimeError: on purpose"]
    assert broken.trace.events(HarnessBroke)


async def test_an_engine_that_breaks_cuts_the_exchange_and_voids_the_trial(
    broken: Broken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ExchangeRun, "_relay", fails)
    async with broken.running() as running:
        await broken.meets_a_dead_connection(running, "/a")
    assert broken.reasons == ["RuntimeError: on purpose"]


async def test_an_answer_without_length_is_cut_if_the_engine_breaks(
    broken: Broken, plain: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.routes["/a"] = Answer(raw=b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf a page")
    monkeypatch.setattr(ExchangeRun, "_send_last", fails)

    def read(port: int) -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
            url = f"http://127.0.0.1:{plain.port}/a"
            client.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            read_until_closed(client)

    async with broken.running() as running:
        with pytest.raises(ConnectionResetError):
            await asyncio.to_thread(read, running.port)


async def test_an_end_that_cannot_be_recorded_voids_the_trial(
    broken: Broken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settlement.Settlement, "end", fails)
    async with broken.running() as running:
        await asyncio.to_thread(broken.ask, running.port, "/a")
    assert broken.reasons == ["RuntimeError: on purpose"]


async def test_what_breaks_in_a_callback_of_the_event_loop_voids_the_trial(
    broken: Broken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SiteSide, "_received", fails)
    async with broken.running() as running:
        await broken.meets_a_dead_connection(running, "/a")
    assert broken.reasons == ["RuntimeError: on purpose"]


async def test_an_error_of_the_network_in_a_callback_voids_nothing(broken: Broken) -> None:
    def refused() -> None:
        raise BrokenPipeError("the peer has left")

    async with broken.running():
        asyncio.get_running_loop().call_soon(refused)
        await asyncio.sleep(0)
    assert broken.reasons == []
