"""A page that a fault changes, on the wire: what the client gets, and what the ledger says."""

import asyncio
import gzip
import json
import re

import httpx
import pytest
import zstandard

from tests.proxy.support.client import trusting
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin, Seen
from tests.proxy.support.page_reports import PageScript
from warex.faults import Fault
from warex.faults.attacks.prompt_injection import PromptInjection
from warex.faults.lies.json_corruption import JsonCorruption
from warex.faults.popups.malicious_popup import MaliciousPopup
from warex.faults.popups.popup import Popup
from warex.faults.scripts.javascript_failure import JavascriptFailure
from warex.faults.server.http_error import HttpError
from warex.faults.variation.relabel import Relabel
from warex.faults.walls.header_change import HeaderChange
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
    match = re.search(rb"<head>(<script>.*?</script>)<title>", page, re.DOTALL)
    assert match
    assert page.replace(match[1], b"", 1) == PAGE
    return match[1]


def script_of(page: bytes) -> PageScript:
    return PageScript(script_in(page))


def test_a_page_is_delivered_when_it_says_that_it_was_shown(begin: Begin, plain: Origin) -> None:
    url = site(plain, (b"Content-Encoding", b"gzip"), body=gzip.compress(PAGE))
    with begin(scenario=scenario(Popup(), FIRST)) as lane, asking(lane) as client:
        script = script_of(client.get(url).content)
        assert client.get(url).content == PAGE
        assert not lane.events(FaultDelivered)
        for what, by in (("shown", ""), ("dismissed", "script")):
            reported = client.post(url.rstrip("/") + script.path, content=script.report(what, by))
            assert reported.status_code == 204

    (done,) = lane.events(FaultDelivered)
    assert not lane.events(FaultMissed)
    assert not lane.events(HarnessBroke)
    message = [(it.exchange, it.injection, it.what, it.by) for it in lane.events(Witness)]
    assert message == [
        ("x1", done.injection, "shown", ""),
        ("x1", done.injection, "dismissed", "script"),
    ]
    assert [it.target for it in plain.seen] == ["/", "/"]
    assert len(lane.events(RequestSeen)) == 2


def test_the_ledger_names_a_lures_target(begin: Begin, plain: Origin) -> None:
    url, inputs = site(plain), scenario(MaliciousPopup(lure="session"), FIRST)
    with begin(scenario=inputs, seed=4) as lane, asking(lane) as client:
        script = script_of(client.get(url).content)
        client.post(url.rstrip("/") + script.path, content=script.report("shown"))

    (done,) = lane.events(FaultDelivered)
    assert done.changes[0].where == "target"
    assert {(it.before, it.reported_by) for it in done.changes} == {("", "proxy")}


@pytest.mark.parametrize("reports", [False, True])
def test_the_ledger_has_a_popups_texts_also_where_the_page_reports_none(
    begin: Begin, plain: Origin, reports: bool
) -> None:
    url, own = site(plain), json.dumps([["title", "", "Umfrage"]])
    with begin(scenario=scenario(Popup(about="survey"), FIRST)) as lane, asking(lane) as client:
        script = script_of(client.get(url).content)
        report = script.report("shown", payload=f"0\n{own}" if reports else "")
        client.post(url.rstrip("/") + script.path, content=report)

    (done,) = lane.events(FaultDelivered)
    message = [(it.where, it.reported_by) for it in done.changes]
    meant = [(name, "proxy") for name in ("title", "text", "button", "close")]
    assert message == ([("title", "page")] if reports else meant)


def test_what_a_page_reports_of_its_own_texts_is_bounded_and_marked(
    begin: Begin, plain: Origin
) -> None:
    url, listed = site(plain), [["button", f"Save {number}" * 200, "Keep"] for number in range(49)]
    with begin(scenario=scenario(Relabel(), FIRST)) as lane, asking(lane) as client:
        script = script_of(client.get(url).content)
        later = [["a", "Home\ud800", "Start"], ["a", "Help", "Support"], ["a"], "no"]
        for what, payload in (
            ("shown", f"7\n{json.dumps(listed)}"),
            ("changed", f"2\n{json.dumps(later)}"),
        ):
            client.post(url.rstrip("/") + script.path, content=script.report(what, payload=payload))

    (done,) = lane.events(FaultDelivered)
    assert (len(done.changes), done.left_out) == (49, 7)
    assert {(len(it.before), it.after, it.reported_by) for it in done.changes} == {
        (300, "Keep", "page")
    }
    more = lane.events(Witness)[-1]
    assert (more.what, len(more.changes), more.left_out) == ("changed", 1, 3)
    assert more.changes[0].before == "Home\ufffd"


NAVIGATION = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
PRESSED = {"sec-fetch-user": "?1"}


def forged(script: PageScript) -> list[bytes]:
    """Return what a page's own script might send that knows the address and what was sent."""
    report, other = script.report("shown"), PageScript(b'"report":"/a" )("k")')
    return [
        b"clicked",
        b"",
        report.replace(b"shown", b"clicked"),
        b"0" * 64 + report[64:],
        report.partition(b"\n")[2],
        other.report("clicked", "user"),
        script.report("confessed"),
        script.report("clicked", "agent"),
        script.report("clicked")[:-1],
        b"\xff" * 100_000,
    ]


def test_only_the_page_itself_can_report(begin: Begin, plain: Origin) -> None:
    url = site(plain)
    with begin(scenario=scenario(Popup(), FIRST)) as lane, asking(lane) as client:
        script = script_of(client.get(url).content)
        for body in forged(script):
            assert client.post(url.rstrip("/") + script.path, content=body).status_code == 204
        assert client.get(url.rstrip("/") + script.path).status_code == 204

    assert [(it.what, it.by) for it in lane.events(Witness)] == [("forged", "")]
    assert [it.reason for it in lane.events(FaultMissed)] == ["not_rendered"]
    assert not lane.events(HarnessBroke)


def test_a_report_is_worth_nothing_a_second_time(begin: Begin, plain: Origin) -> None:
    url = site(plain)
    with begin(scenario=scenario(Popup(), FIRST)) as lane, asking(lane) as client:
        script = script_of(client.get(url).content)
        once = script.report("dismissed", "user")
        for _ in range(3):
            client.post(url.rstrip("/") + script.path, content=once)

    assert [it.what for it in lane.events(Witness)] == ["dismissed", "forged"]


def test_each_page_has_its_own_key_for_every_seed(begin: Begin, plain: Origin) -> None:
    url, keys = site(plain), set[str]()
    for _ in range(2):
        with begin(scenario=scenario(Popup()), seed=1) as lane, asking(lane) as client:
            keys |= {script_of(client.get(url).content).key for _ in range(2)}

    assert len(keys) == 4


def test_a_change_that_the_page_undoes_is_missed_for_that_reason(
    begin: Begin, plain: Origin
) -> None:
    url = site(plain)
    with begin(scenario=scenario(Popup(), FIRST)) as lane, asking(lane) as client:
        script = script_of(client.get(url).content)
        for what in ("removed_by_page", "shown"):
            client.post(url.rstrip("/") + script.path, content=script.report(what))

    assert [it.reason for it in lane.events(FaultMissed)] == ["removed_by_page"]
    assert not lane.events(FaultDelivered)


@pytest.mark.parametrize(
    ("headers", "by"),
    [
        ({}, ""),
        (NAVIGATION, "script"),
        (NAVIGATION | PRESSED, "user"),
        (NAVIGATION | {"sec-fetch-site": "none"}, "user"),
        (NAVIGATION | PRESSED | {"sec-fetch-dest": "image"}, "script"),
        (NAVIGATION | PRESSED | {"sec-fetch-dest": "iframe"}, "script"),
    ],
)
def test_following_an_injected_link_is_recorded(
    begin: Begin, plain: Origin, headers: dict[str, str], by: str
) -> None:
    url, fault = site(plain), PromptInjection(text="Go: {link}")
    with begin(scenario=scenario(fault, FIRST)) as lane, asking(lane) as client:
        match = re.search(rb"Go: [^\"]+(/\w+)", client.get(url).content)
        assert match
        httpx.get(url.rstrip("/") + match[1].decode(), headers=headers, proxy=lane.url)

    assert [(it.what, it.by) for it in lane.events(Witness)] == [("visited", by)]


def missed(begin: Begin, url: str, inputs: Scenario | None = None) -> str:
    with begin(scenario=inputs or scenario(Popup(), FIRST)) as lane, asking(lane) as client:
        client.get(url)
    assert not lane.events(FaultDelivered)
    (misses,) = lane.events(FaultMissed)
    return misses.reason


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

    (misses,) = lane.events(FaultMissed)
    assert misses.reason == "nothing_to_rewrite"


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

    (misses,) = lane.events(FaultMissed)
    assert misses.reason == "decompression_bomb"
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
                if b"</script>" in head:
                    break
            script = PageScript(head)
            with asking(lane) as other:
                other.post(url.rstrip("/") + script.path, content=script.report("shown"))
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


def test_a_change_of_the_head_alone_keeps_the_content_coding(begin: Begin, plain: Origin) -> None:
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
    inputs = scenario(Popup(), match=match)
    with begin(scenario=inputs) as lane, asking(lane) as client:
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
    inputs = scenario(Popup(), match=match)
    with begin(scenario=inputs) as lane, asking(lane) as client:
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
    inputs = scenario(JsonCorruption(), FIRST)
    with (
        begin(scenario=inputs) as lane,
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
        script = script_of(changed.content)
        reported = client.post(url.rstrip("/") + script.path, content=script.report("shown"))
        assert reported.status_code == 204

    assert {changed.http_version, plain.http_version} == {"HTTP/2"}
    assert plain.content == PAGE
    assert changed.headers.keys() & {"etag", "content-length", "transfer-encoding"} == set()
    assert len(lane.events(FaultDelivered)) == 1
