"""What real Chromium does behind the proxy, and that the ledger knows it."""

from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from tests.proxy.support.http2_endings import before, go_away, in_turn, reset
from tests.proxy.support.lanes import Begin, Lane, beginner, scenario, wait_until
from tests.proxy.support.origin import Answer, Frames, Origin, Seen, served, server_context
from tests.proxy.support.websocket import echo_site
from warex.faults.connection.connection_cut import ConnectionCut
from warex.faults.connection.network_error import NetworkError
from warex.faults.server.http_error import HttpError
from warex.faults.streams.sse_fault import SseFault
from warex.faults.streams.websocket_fault import WebsocketFault
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.chromium import QUIET_FLAGS
from warex.scenarios import Rule, Scenario, Trigger
from warex.scenarios.injection.browser_retries import REPEAT_WINDOW
from warex.traces import FaultDelivered, FaultPlanned, RequestSeen, ResponseSeen, TlsRejected

pytestmark = pytest.mark.browser

FIRST = Trigger(first=1)
HTML = [(b"Content-Type", b"text/html")]
# No icon to fetch: one would take the connection that a test wants the next page to use again.
PAGE = Answer(
    headers=HTML,
    body=b"<!doctype html><title>The page</title><link rel=icon href='data:,'><p>healthy",
)


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            # Playwright hands the proxy to each context; Chromium must be told that there is one.
            proxy={"server": "http://127.0.0.1:9"},
            args=[*QUIET_FLAGS, "--disable-quic", "--no-sandbox"],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return ensure_ca(tmp_path_factory.mktemp("authority") / "ca")


@pytest.fixture(scope="module")
def forkserver() -> Iterator[Forkserver]:
    server = Forkserver()
    yield server
    server.close()


@pytest.fixture
def begin(forkserver: Forkserver, ca: CertificateAuthority, tmp_path: Path) -> Begin:
    return beginner(forkserver, ca, tmp_path)


@pytest.fixture
def site() -> Iterator[Origin]:
    with served() as origin:
        origin.routes["/page"] = origin.routes["/warm"] = PAGE
        yield origin


SPEAKS = """url => new Promise(done => {
  const seen = [], socket = new WebSocket(url);
  socket.onopen = () => ["one", "two", "three", "bye"].forEach(it => socket.send(it));
  socket.onmessage = it => seen.push(it.data);
  socket.onclose = it => done([...seen, it.code, it.reason]);
})"""


def test_a_pages_websocket_loses_a_message_and_is_closed_with_a_code(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    second = Rule(
        name="drop",
        trigger=Trigger(always=True),
        fault=WebsocketFault(action="drop", nth=(2,)),
    )
    on_bye = Rule(
        name="close",
        trigger=Trigger(always=True),
        fault=WebsocketFault(code=1013, reason="later", text="bye"),
    )
    rules = Scenario(name="sockets", rules=(second, on_bye))
    with echo_site() as port, begin(scenario=rules) as lane, page_behind(browser, lane) as page:
        page.goto(f"http://localhost:{site.port}/page")
        seen = page.evaluate(SPEAKS, f"ws://localhost:{port}/")
    assert seen == ["one", "three", 1013, "later"]
    assert {it.rule for it in lane.events(FaultDelivered)} == {"drop", "close"}


LISTENS = """url => new Promise(done => {
  const seen = [], source = new EventSource(url);
  source.onmessage = it => {
    if (seen.push(it.data) && it.data == "4") { source.close(); done(seen); }
  };
})"""


def test_an_event_source_goes_on_where_its_stream_has_ended(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    async def events(seen: Seen, reader: StreamReader, writer: StreamWriter) -> None:
        first = int(seen.header("last-event-id") or 0) + 1
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        sent = [b"id: %d\nretry: 10\ndata: %d\n\n" % (n, n) for n in range(first, 5)]
        writer.write(head + b"".join(sent))
        await reader.read()

    site.routes["/events"] = events
    rules = scenario(SseFault(action="close", nth=(3,)), FIRST)
    with begin(scenario=rules) as lane, page_behind(browser, lane) as page:
        page.goto(f"http://localhost:{site.port}/page")
        assert page.evaluate(LISTENS, "/events") == ["1", "2", "3", "4"]
    asked = [it.header("last-event-id") for it in site.seen if it.target == "/events"]
    assert asked == [None, "2"]
    assert len(lane.events(FaultDelivered)) == 1


@contextmanager
def page_behind(browser: Browser, lane: Lane) -> Iterator[Page]:
    context = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True)
    context.set_default_timeout(30_000)
    try:
        yield context.new_page()
    finally:
        context.close()


def mapped(site: Origin) -> tuple[str, ...]:
    return (f"https://shop.example=http://127.0.0.1:{site.port}",)


def on_page(fault: HttpError | ConnectionCut | NetworkError) -> Scenario:
    return scenario(fault, FIRST, match={"url": "*/page"})


def test_chromiums_silent_repeat_of_a_cut_document_is_cut_too(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    rule = on_page(ConnectionCut(how="reset"))
    with begin(scenario=rule, maps=mapped(site)) as lane, page_behind(browser, lane) as page:
        # It repeats only on a connection that it has used before.
        page.goto("https://shop.example/warm")
        with pytest.raises(Error, match=r"net::ERR_(CONNECTION|EMPTY)|chrome-error:"):
            page.goto("https://shop.example/page")
        # What comes later than the window is a person's reload, and that is another occurrence.
        page.wait_for_timeout(1000 * REPEAT_WINDOW + 100)
        page.goto("https://shop.example/page")
        expect(page).to_have_title("The page")
    planned = lane.events(FaultPlanned)
    assert len(planned) > 1, "Chromium did not repeat: this test has lost its subject"
    assert [event.repeat_of for event in planned] == [None] + ["i1"] * (len(planned) - 1)
    assert {event.ordinal for event in planned} == {1}
    assert len(lane.events(FaultDelivered)) == len(planned)
    asked = [event for event in lane.events(RequestSeen) if event.url.endswith("/page")]
    assert [event.repeat_of is None for event in asked] == [
        True,
        *[False] * (len(planned) - 1),
        True,
    ]


def test_a_page_in_the_answers_place_is_shown(browser: Browser, begin: Begin, site: Origin) -> None:
    with (
        begin(scenario=on_page(HttpError(status=503)), maps=mapped(site)) as lane,
        page_behind(browser, lane) as page,
    ):
        answer = page.goto("https://shop.example/page")
        assert answer is not None
        assert answer.status == 503
        expect(page.locator("body")).not_to_be_empty()
        page.reload()
        expect(page).to_have_title("The page")
    assert len(lane.events(FaultDelivered)) == 1
    documents = [e for e in lane.events(RequestSeen) if e.url.endswith("/page")]
    assert [(event.resource, event.top_level) for event in documents] == [("document", True)] * 2


def test_a_browser_that_gives_up_a_held_page_is_noticed(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with (
        begin(scenario=on_page(NetworkError(delay=30)), maps=mapped(site)) as lane,
        page_behind(browser, lane) as page,
    ):
        with pytest.raises(Error, match="Timeout"):
            page.goto("https://shop.example/page", timeout=3000)
        page.goto("https://shop.example/warm")
        wait_until(lambda: len(lane.proxy.call("GET", "/ledger")) == 2)
    (delivered,) = lane.events(FaultDelivered)
    assert delivered.client_left
    assert 1 <= delivered.waited_s < 30


def test_a_page_over_http2_passes_with_all_its_parts(
    browser: Browser, begin: Begin, ca: CertificateAuthority, tmp_path: Path
) -> None:
    parts = "".join(f'<img src="/{number}.svg">' for number in range(20))
    image = b'<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
    context = server_context(*ca.leaf("localhost", tmp_path), ["h2", "http/1.1"])
    with served(context) as site:
        site.routes["/"] = Answer(
            headers=[(b"content-type", b"text/html")],
            body=f"<!doctype html>{parts}<p id=done>".encode(),
        )
        for number in range(20):
            site.routes[f"/{number}.svg"] = Answer(
                headers=[(b"content-type", b"image/svg+xml")], body=image
            )
        target = (f"https://shop.example=https://localhost:{site.port}",)
        with begin(maps=target) as lane, page_behind(browser, lane) as page:
            page.goto("https://shop.example/")
            widths = page.evaluate("[...document.images].map(image => image.naturalWidth)")
        assert widths == [1] * 20
        assert set(site.alpn) == {"h2"}
    # The browser may leave before it has its favicon.
    asked = [event for event in lane.events(RequestSeen) if "favicon" not in event.url]
    assert {event.http_version for event in asked} == {"HTTP/2.0"}
    assert len({event.connection for event in asked}) == 1
    assert not lane.events(TlsRejected)
    answers = {event.exchange: event.status for event in lane.events(ResponseSeen)}
    assert [answers[event.exchange] for event in asked] == [200] * 21


@pytest.mark.slow
@pytest.mark.parametrize("status", [408, 421])
def test_an_answer_that_chromium_silently_asks_for_again_is_one_occurrence(
    browser: Browser, begin: Begin, site: Origin, status: int
) -> None:
    rule = on_page(HttpError(status=status))
    for _ in range(3):
        with begin(scenario=rule, maps=mapped(site)) as lane, page_behind(browser, lane) as page:
            page.goto("https://shop.example/warm")
            answer = page.goto("https://shop.example/page")
            page.wait_for_timeout(1000 * REPEAT_WINDOW + 100)
            page.goto("https://shop.example/page")
            title = page.title()
        if came_in_time(lane):
            break
    assert answer is not None
    assert answer.status == status
    assert title == "The page"
    planned = lane.events(FaultPlanned)
    assert len(planned) > 1, "Chromium did not repeat: this test has lost its subject"
    assert {event.ordinal for event in planned} == {1}
    assert [event.repeat_of for event in planned] == [None] + ["i1"] * (len(planned) - 1)


def came_in_time(lane: Lane) -> bool:
    """Whether the machine let Chromium ask again as fast as it does: else it counts as the user."""
    entries = list(lane.trace.entries)
    asked = [e.t for e in entries if isinstance(e.event, RequestSeen) and "page" in e.event.url]
    (first, *_) = [e.t for e in entries if isinstance(e.event, FaultDelivered)]
    return asked[1] - first <= REPEAT_WINDOW


@pytest.mark.slow
def test_chromium_sends_again_what_a_site_refused(
    browser: Browser, begin: Begin, ca: CertificateAuthority, tmp_path: Path
) -> None:
    """REFUSED_STREAM, HTTP_1_1_REQUIRED and a GOAWAY, each a lost page if changed."""
    tls = server_context(*ca.leaf("localhost", tmp_path), ["h2", "http/1.1"])
    script = [(b":status", b"200"), (b"content-type", b"text/javascript")]

    def count(conn: H2Connection, stream: int) -> bytes:
        conn.send_headers(stream, script)
        conn.send_data(stream, b"done = (window.done || 0) + 1", end_stream=True)
        return b""

    turns: dict[str, Frames] = {
        "/refused.js": reset(ErrorCodes.REFUSED_STREAM),
        "/gone.js": go_away(ErrorCodes.NO_ERROR, before),
    }
    with served(tls) as site:
        for path, turn in turns.items():
            site.routes[path] = in_turn(turn, then=count)
        site.routes["/page"] = Answer(
            headers=[(b"content-type", b"text/html")],
            body=PAGE.body + b"".join(b"<script src=%s></script>" % it.encode() for it in turns),
        )
        site.routes["/old"] = replace(PAGE, frames=reset(ErrorCodes.HTTP_1_1_REQUIRED))
        with begin() as lane, page_behind(browser, lane) as page:
            page.goto(f"https://localhost:{site.port}/page")
            assert page.evaluate("window.done") == len(turns)
            page.goto(f"https://localhost:{site.port}/old")
            expect(page).to_have_title("The page")
        assert lane.proxy.broken is None
        asked = [seen.version for seen in site.seen if seen.target == "/old"]
        assert (asked[0], asked[-1]) == ("HTTP/2.0", "HTTP/1.1")


@pytest.mark.slow
def test_chromium_loads_ahead_what_early_hints_name(
    browser: Browser, begin: Begin, ca: CertificateAuthority, tmp_path: Path
) -> None:
    tls = server_context(*ca.leaf("localhost", tmp_path), ["h2", "http/1.1"])
    pending: list[tuple[H2Connection, int]] = []

    def hint(conn: H2Connection, stream: int) -> bytes:
        pending.append((conn, stream))
        link = b"</hinted.css>; rel=preload; as=style"
        conn.send_headers(stream, [(b":status", b"103"), (b"link", link)])
        return b""

    def style(conn: H2Connection, stream: int) -> bytes:
        """Only now the page itself."""
        page, of = pending[0]
        page.send_headers(of, [(b":status", b"200"), (b"content-type", b"text/html")])
        page.send_data(of, PAGE.body, end_stream=True)
        conn.send_headers(stream, [(b":status", b"200"), (b"content-type", b"text/css")])
        conn.end_stream(stream)
        return b""

    with served(tls) as site:
        site.routes["/page"] = Answer(frames=hint)
        site.routes["/hinted.css"] = Answer(frames=style)
        with begin() as lane, page_behind(browser, lane) as page:
            page.goto(f"https://localhost:{site.port}/page")
            expect(page).to_have_title("The page")
        assert site.paths[:2] == ["/page", "/hinted.css"]
