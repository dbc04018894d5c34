"""While many peers flood, others wait little.

What others wait for is the turns of the engine's event loop: a question waits for one, and perhaps
for another one. Their processor time is measured, which is the same on a busy machine.
"""

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
from _pytest.mark import ParameterSet
from h2.config import H2Configuration
from h2.connection import H2Connection
from hyperframe.frame import ContinuationFrame, Frame, HeadersFrame, PingFrame, SettingsFrame

from tests.engine.running import Running, Scripted, running
from tests.proxy.support.client import read_answer, tunnelled
from tests.proxy.support.origin import Origin
from warex.engine.handler import Intercept, Plan, Respond
from warex.engine.http.heads import Headers
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire

FLOODS = 24
LONGEST_TURN_S = 0.02

QUESTION = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


def requests(number: int, *, reset: bool) -> bytes:
    """Return a client's HTTP/2 connection with as many requests."""
    client = H2Connection(H2Configuration(client_side=True))
    client.initiate_connection()
    client.remote_settings[3] = number
    fields = [(":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "/")]
    for stream in range(1, 2 * number, 2):
        client.send_headers(stream, fields, end_stream=True)
        if reset:
            client.reset_stream(stream)
    sent: bytes = client.data_to_send()
    return sent


def frames(*repeated: Frame, times: int) -> bytes:
    begin = requests(0, reset=False)
    return begin + b"".join(it.serialize() for it in repeated) * times


def header_blocks() -> bytes:
    """Return requests, each in many small frames, whose fields are long once decoded."""
    field = b"\x40\x01x\x7f\xa1\x1e" + b"x" * 4000  # Put into the table; then only its index.
    block = b"\x82\x86\x84\x41\x01a" + field + b"\xbe" * 40
    pieces = [block[at : at + 90] for at in range(0, len(block), 90)]
    out = requests(0, reset=False)
    for stream in range(1, 181, 2):
        out += HeadersFrame(stream, data=pieces[0], flags=["END_STREAM"]).serialize()
        for piece in pieces[1:-1]:
            out += ContinuationFrame(stream, data=piece).serialize()
        out += ContinuationFrame(stream, data=pieces[-1], flags=["END_HEADERS"]).serialize()
    return out


QUICK = {"pipelined"}

KINDS: dict[str, Callable[[], bytes]] = {
    "streams": lambda: requests(90, reset=False),
    "resets": lambda: requests(90, reset=True),
    "pings": lambda: frames(PingFrame(0, opaque_data=b"12345678"), times=900),
    "settings": lambda: frames(SettingsFrame(0, settings={4: 65_535}), times=900),
    "continuations": header_blocks,
    "pipelined": lambda: QUESTION * 3000,
}


@contextmanager
def flooding(engine: Running, port: int, data: bytes) -> Iterator[list[int]]:
    """Send the same again and again on many connections, and read nothing."""
    over = threading.Event()
    sent = [0]

    def flood() -> None:
        while not over.is_set():
            with suppress(OSError), tunnelled(engine.port, "127.0.0.1", port) as client:
                client.settimeout(0.2)
                while not over.is_set():
                    client.sendall(data)
                    sent[0] += len(data)

    threads = [threading.Thread(target=flood, daemon=True) for _ in range(FLOODS)]
    for each in threads:
        each.start()
    try:
        yield sent
    finally:
        over.set()
        for each in threads:
            each.join(10)


def slow(kind: str) -> ParameterSet:
    return pytest.param(kind, marks=[] if kind in QUICK else [pytest.mark.slow])


def watch_turns(loop: asyncio.AbstractEventLoop) -> list[float]:
    """Return where the processor time of each turn of an event loop is noted, which runs this."""
    turns: list[float] = []
    selector = loop._selector  # type: ignore[attr-defined]
    select, began = selector.select, time.thread_time()

    def timed(timeout: float | None) -> object:
        nonlocal began
        turns.append(time.thread_time() - began)
        events = select(timeout)
        began = time.thread_time()
        return events

    selector.select = timed
    return turns


@pytest.fixture
def nothing_to_collect() -> Iterator[None]:
    """Collect no garbage meanwhile: what other tests have made would be looked through."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("nothing_to_collect")
@pytest.mark.parametrize("answers_itself", [True, False])
@pytest.mark.parametrize("kind", [slow(it) for it in KINDS])
def test_others_wait_little_while_many_flood(
    ca: CertificateAuthority, plain: Origin, kind: str, answers_itself: bool
) -> None:
    """``answers_itself``: the site is not asked."""
    handler = Scripted(hello_plan=lambda connection: Intercept(site_first=False))
    if answers_itself:
        handler.request_plan = lambda exchange: Plan(Respond(200, Headers(), (b"hello",)))
    with running(handler, ca) as engine, ExitStack() as stack:
        retained = stack.enter_context(tunnelled(engine.port, "127.0.0.1", plain.port))
        turns = engine.call(lambda: watch_turns(engine.loop))
        assert isinstance(turns, list)
        sent = stack.enter_context(flooding(engine, plain.port, KINDS[kind]()))
        until = time.monotonic() + 5
        while not sent[0] and time.monotonic() < until:
            time.sleep(0.01)
        for _ in range(10):
            retained.sendall(QUESTION)
            assert read_answer(retained)[1] == b"hello"
        for _ in range(5):
            with tunnelled(engine.port, "127.0.0.1", plain.port) as client:
                client.sendall(QUESTION)
                assert read_answer(client)[1] == b"hello"
        assert max(list(turns)) <= LONGEST_TURN_S
