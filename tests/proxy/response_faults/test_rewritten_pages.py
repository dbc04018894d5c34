"""A page that a fault changes, on the wire: what the client gets, and what the ledger says."""

import asyncio
import gzip
import re

import httpx
import pytest
import zstandard

from tests.proxy.support.client import trusting
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin, Seen
from warex.faults import Fault, HeaderChange, HttpError, JavascriptFailure, JsonCorruption, Popup
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Scenario, Trigger
from warex.traces import FaultDelivered, FaultMissed, HarnessBroke, RequestSeen, Witness

pytestmark = pytest.mark.wire

HTML = (b"Content-Type", b"text/html")
PAGE = b"<!doctype html><head><title>a</title></head>" + b"<p>text</p>" * 5000
BROWSER = {"sec-fetch-dest": "document", "accept": "text/html"}
FIRST = Trigger(first=1)


def asking(lane: Lane) -> httpx.Client:
    return httpx.Client(proxy=lane.url, headers=BROWSER, timeout=10)


def site(plain: Origin, *more: tuple[bytes, bytes], body: bytes = PAGE) -> str:
    plain.routes["/"] = Answer(headers=[HTML, *more], body=body)
    return f"http://127.0.0.1:{plain.port}/"


def script_in(page: bytes) -> bytes:
    found = re.search(rb"<head>(<script>.*?</script>)<title>", page, re.DOTALL)
    assert found
    assert page.replace(found[1], b"", 1) == PAGE
    return found[1]


def report_in(page: bytes) -> str:
    found = re.search(r'"report":"(/[0-9a-f]{16})"', script_in(page).decode())
    assert found
    return found[1]


def test_a_page_is_delivered_when_it_says_that_it_was_shown(begin: Begin, plain: Origin) -> None:
    url = site(plain, (b"Content-Encoding", b"gzip"), body=gzip.compress(PAGE))
    with begin(scenario=scenario(Popup(), FIRST)) as lane, asking(lane) as client:
        report = report_in(client.get(url).content)
        assert client.get(url).content == PAGE
        assert not lane.events(FaultDelivered)
        for what in ("shown", "dismissed"):
            assert client.post(url.rstrip("/") + report, content=what).status_code == 204

    (done,) = lane.events(FaultDelivered)
    assert not lane.events(FaultMissed)
    assert not lane.events(HarnessBroke)
    said = [(it.exchange, it.injection, it.what) for it in lane.events(Witness)]
    assert said == [("x1", done.injection, "shown"), ("x1", done.injection, "dismissed")]
    assert [it.target for it in plain.seen] == ["/", "/"]
    assert len(lane.events(RequestSeen)) == 2


def missed(begin: Begin, url: str, given: Scenario | None = None) -> str:
    with begin(scenario=given or scenario(Popup(), FIRST)) as lane, asking(lane) as client:
        client.get(url)
    assert not lane.events(FaultDelivered)
    (found,) = lane.events(FaultMissed)
    return found.reason


def test_a_page_that_never_says_so_was_not_rendered(begin: Begin, plain: Origin) -> None:
    assert missed(begin, site(plain)) == "not_rendered"


@pytest.mark.parametrize(
    ("kind", "body"),
    [(b"text/html", b""), (b"text/html", b"<!-- a"), (b"application/json", b"{}")],
)
def test_where_there_is_no_page_there_is_nothing_to_rewrite(
    begin: Begin, plain: Origin, kind: bytes, body: bytes
) -> None:
    plain.routes["/a"] = Answer(headers=[(b"Content-Type", kind)], body=body)

    assert missed(begin, f"http://127.0.0.1:{plain.port}/a") == "nothing_to_rewrite"


def test_a_page_comes_as_it_is_where_its_coding_is_not_read(begin: Begin, plain: Origin) -> None:
    url = site(plain, (b"Content-Encoding", b"x-own"))
    with begin(scenario=scenario(Popup(), FIRST)) as lane, asking(lane) as client:
        assert client.get(url).content == PAGE

    (found,) = lane.events(FaultMissed)
    assert found.reason == "nothing_to_rewrite"


@pytest.mark.parametrize(
    ("fault", "kind", "destination"),
    [
        (Popup(), b"text/html", "document"),
        (JsonCorruption(at="/a"), b"application/json", "empty"),
    ],
)
def test_a_decompression_bomb_passes_as_it_came(
    begin: Begin, plain: Origin, fault: Fault, kind: bytes, destination: str
) -> None:
    bomb = zstandard.compress(bytes(64 << 20))
    headers = [(b"Content-Type", kind), (b"Content-Encoding", b"zstd")]
    plain.routes["/"] = Answer(headers=headers, body=bomb)
    url = f"http://127.0.0.1:{plain.port}/"
    with (
        begin(scenario=scenario(fault, FIRST)) as lane,
        asking(lane) as client,
        client.stream("GET", url, headers={"sec-fetch-dest": destination}) as answer,
    ):
        assert answer.headers["content-encoding"] == "zstd"
        assert b"".join(answer.iter_raw()) == bomb

    (found,) = lane.events(FaultMissed)
    assert found.reason == "decompression_bomb"
    assert not lane.events(HarnessBroke)


def test_the_sites_own_error_page_is_changed_as_any_page(begin: Begin, plain: Origin) -> None:
    plain.routes["/"] = Answer(500, [HTML], PAGE)
    url = f"http://127.0.0.1:{plain.port}/"
    with begin(scenario=scenario(Popup())) as lane, asking(lane) as client:
        script_in(client.get(url).content)
    assert lane.events(FaultMissed)[0].reason == "not_rendered"


def test_a_report_is_heard_while_the_page_still_streams(begin: Begin, plain: Origin) -> None:
    url = site(plain)
    with begin(scenario=scenario(Popup(), FIRST)) as lane, asking(lane) as client:
        with client.stream("GET", url) as answer:
            head = b""
            for piece in answer.iter_bytes():
                head += piece
                if b'"report":' in head:
                    break
            found = re.search(rb'"report":"(/\w+)"', head)
            assert found
            with asking(lane) as other:
                other.post(url.rstrip("/") + found[1].decode(), content="shown")
            wait_until(lambda: lane.events(FaultDelivered))
        client.get(url)

    assert not lane.events(FaultMissed)


def test_a_popup_comes_over_an_injected_error_page_too(begin: Begin, plain: Origin) -> None:
    both = Scenario.model_validate(
        {
            "name": "both",
            "rules": [
                {
                    "name": name,
                    "trigger": {"first": 1},
                    "fault": fault.model_dump(),
                }
                for name, fault in (
                    ("error", HttpError(stage="response", body="<title>gone</title>")),
                    ("popup", Popup()),
                )
            ],
        }
    )
    with begin(scenario=both) as lane, asking(lane) as client:
        page = client.get(site(plain)).text

    assert page.startswith("<script>")
    assert page.endswith("<title>gone</title>")
    assert [it.rule for it in lane.events(FaultDelivered)] == ["error"]
    assert [(it.rule, it.reason) for it in lane.events(FaultMissed)] == [("popup", "not_rendered")]


def test_a_page_that_came_late_keeps_its_coding_where_its_head_alone_is_changed(
    begin: Begin, plain: Origin
) -> None:
    late = JavascriptFailure(mode="delay", delay=0.01, stage="response")
    both = Scenario.model_validate(
        {
            "name": "both",
            "rules": [
                {
                    "name": fault.kind,
                    "match": {"resource": ["document"]},
                    "trigger": {"first": 1},
                    "fault": fault.model_dump(),
                }
                for fault in (late, HeaderChange())
            ],
        }
    )
    url = site(plain, (b"Content-Encoding", b"gzip"), body=gzip.compress(PAGE))
    with begin(scenario=both) as lane, asking(lane) as client:
        answer = client.get(url)

    assert answer.content == PAGE
    assert answer.headers["content-length"] == str(len(gzip.compress(PAGE)))
    assert answer.headers["content-security-policy"] == "script-src 'none'"
    assert len(lane.events(FaultDelivered)) == 2


ASKS_FOR_LESS = {
    "if-none-match": '"1"',
    "if-modified-since": "Mon, 02 Nov 2026 10:00:00 GMT",
    "range": "bytes=0-99",
    "if-range": '"1"',
    "accept-encoding": "gzip, br;q=0.5, dcz, x-own",
}


@pytest.mark.parametrize("match", [{}, {"status": 200}])
def test_a_site_is_asked_for_the_whole_answer_that_is_to_be_changed(
    begin: Begin, plain: Origin, match: dict[str, object]
) -> None:
    given = scenario(Popup(), match=match)
    with begin(scenario=given) as lane, asking(lane) as client:
        script_in(client.get(site(plain), headers=ASKS_FOR_LESS).content)

    sent = {name.decode().lower(): value.decode() for name, value in plain.seen[0].headers}
    assert not sent.keys() & (ASKS_FOR_LESS.keys() - {"accept-encoding"})
    assert sent["accept-encoding"] == "gzip, br;q=0.5"
    (seen,) = lane.events(RequestSeen)
    assert {"if-none-match", "range"} <= {name.lower() for name, _ in seen.headers}


@pytest.mark.parametrize("match", [{"url": "**/other"}, {"url": "**/other", "status": 200}])
def test_a_site_is_asked_as_the_client_asks_for_what_stays_as_it_is(
    begin: Begin, plain: Origin, match: dict[str, object]
) -> None:
    with begin(scenario=scenario(Popup(), match=match)) as lane, asking(lane) as client:
        client.get(site(plain), headers=ASKS_FOR_LESS)

    sent = {name.decode().lower(): value.decode() for name, value in plain.seen[0].headers}
    assert sent.items() >= ASKS_FOR_LESS.items()


@pytest.mark.parametrize(("match", "hit"), [({}, False), ({"resource": ("document",)}, True)])
def test_a_frame_is_changed_only_where_documents_are_named(
    begin: Begin, plain: Origin, match: dict[str, object], hit: bool
) -> None:
    given = scenario(Popup(), match=match)
    with begin(scenario=given) as lane, asking(lane) as client:
        frame = client.get(site(plain), headers={"sec-fetch-dest": "iframe"}).content

    assert (frame != PAGE) == hit == bool(lane.events(FaultMissed))


def test_a_line_of_json_is_changed_before_the_site_has_sent_the_next(
    begin: Begin, plain: Origin
) -> None:
    more, seen = asyncio.Event(), b""

    async def lines(_: Seen, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n"
            b'{"price":1}\n'
        )
        await writer.drain()
        await more.wait()
        writer.write(b'{"price":2}\n')
        await writer.drain()
        writer.close()

    plain.routes["/"] = lines
    url = f"http://127.0.0.1:{plain.port}/"
    given = scenario(JsonCorruption(), FIRST)
    with (
        begin(scenario=given) as lane,
        httpx.Client(proxy=lane.url, headers={"sec-fetch-dest": "empty"}, timeout=10) as client,
        client.stream("GET", url) as answer,
    ):
        for piece in answer.iter_bytes():
            seen += piece
            if seen == b'{"price":2}\n':
                plain.run(more.set)
    assert seen == b'{"price":2}\n' * 2
    (delivered,) = lane.events(FaultDelivered)
    assert [(it.where, it.before, it.after) for it in delivered.changes] == [("/0/price", "1", "2")]


def test_a_page_is_changed_over_http2_too(
    begin: Begin, secure_h2: Origin, ca: CertificateAuthority
) -> None:
    secure_h2.routes["/"] = Answer(headers=[HTML, (b"etag", b'"1"')], body=PAGE)
    url = f"https://localhost:{secure_h2.port}/"
    with (
        begin(scenario=scenario(Popup(), FIRST)) as lane,
        httpx.Client(
            http2=True, proxy=lane.url, verify=trusting(ca.certificate), headers=BROWSER
        ) as client,
    ):
        changed, plain = client.get(url), client.get(url)
        report = report_in(changed.content)
        assert client.post(url.rstrip("/") + report, content="shown").status_code == 204

    assert {changed.http_version, plain.http_version} == {"HTTP/2"}
    assert plain.content == PAGE
    assert changed.headers.keys() & {"etag", "content-length", "transfer-encoding"} == set()
    assert len(lane.events(FaultDelivered)) == 1
