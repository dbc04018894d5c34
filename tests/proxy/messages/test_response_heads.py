"""What a browser takes from a site it takes through WAREX, and nothing else."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer

import pytest
from bench.fuzz.mutants_http import answers
from playwright.sync_api import Page, sync_playwright

from tests.proxy.support.lanes import Begin
from warex.sandbox.chromium import find_chromium
from warex.traces import HarnessBroke, ResponseSeen

# Where a proxy is known, Chromium takes a 407 for the proxy's.
ANSWERS = [(name, answer) for name, answer in answers() if " 407 " not in name]
START = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello"

FETCH = """async (numbers) => Promise.all(numbers.map(async (number) => {
  const gone = AbortSignal.timeout(4000);
  try {
    const answer = await fetch(`/${number}`, {signal: gone, redirect: 'manual', cache: 'no-store'});
    const head = `${answer.type} ${answer.status} ${answer.headers.get('x')}`;
    try { return [head, await answer.text()]; }
    catch (error) { return [head, error.name]; }
  } catch (error) { return [error.name, '']; }
}))"""


class _Odd(BaseRequestHandler):
    request: socket.socket

    def handle(self) -> None:
        with suppress(OSError):
            self.request.settimeout(5)
            head = b""
            while b"\r\n\r\n" not in head:
                piece = self.request.recv(65536)
                if not piece:
                    return
                head += piece
            number = head.split(b" ")[1].rsplit(b"/", 1)[1].decode()
            self.request.sendall(ANSWERS[int(number)][1] if number.isdecimal() else START)
            self.request.shutdown(socket.SHUT_WR)
            while self.request.recv(65536):
                pass


class _Server(ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128


@contextmanager
def odd_site() -> Iterator[int]:
    """A site that answers /N with the Nth answer, and then closes."""
    with _Server(("127.0.0.1", 0), _Odd) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield int(server.server_address[1])
        server.shutdown()
        thread.join()


def taken(page: Page, origin: str) -> list[tuple[str, str]]:
    page.goto(f"{origin}/start")
    got = []
    for at in range(0, len(ANSWERS), 40):
        numbers = list(range(at, min(at + 40, len(ANSWERS))))
        got += [tuple(it) for it in page.evaluate(FETCH, numbers)]
    return got


@pytest.mark.browser
@pytest.mark.slow
def test_what_chromium_takes_from_a_site_it_takes_through_the_lane(begin: Begin) -> None:
    with odd_site() as port, begin() as lane, sync_playwright() as playwright:
        origin = f"http://127.0.0.1:{port}"
        chromium = str(find_chromium())
        flags = ["--no-sandbox"]
        direct = playwright.chromium.launch(executable_path=chromium, args=flags)
        expected = taken(direct.new_page(), origin)
        direct.close()
        through = playwright.chromium.launch(
            executable_path=chromium,
            args=[*flags, "--proxy-bypass-list=<-loopback>"],
            proxy={"server": lane.url},
        )
        got = taken(through.new_page(), origin)
        through.close()
        assert lane.proxy.broken is None
    differing = {
        name: (existing, here)
        for (name, _), existing, here in zip(ANSWERS, expected, got, strict=True)
        if existing != here
    }
    assert differing == {}
    taken_by_both = [head for head, _ in expected if not head.endswith("Error")]
    assert 250 < len(taken_by_both) < len(ANSWERS)
    assert lane.events(HarnessBroke) == []
    cut = [event for event in lane.events(ResponseSeen) if event.status is None]
    assert all(event.error for event in cut)
