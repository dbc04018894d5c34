"""Answers of every kind come through unchanged where a scenario has rules and none of them hits."""

import gzip
import zlib

import brotli
import httpx
import pytest
import zstandard

from tests.proxy.support.lanes import Begin
from tests.proxy.support.origin import Answer, Origin
from warex.faults.popups.popup import Popup
from warex.faults.scripts.javascript_failure import JavascriptFailure
from warex.faults.server.http_error import HttpError
from warex.scenarios import Match, Rule, Scenario, Trigger
from warex.seeds import KeyedRng
from warex.traces import FaultPlanned, HarnessBroke, ResponseSeen

pytestmark = pytest.mark.wire

TYPES = (
    "text/html",
    "text/html; charset=Shift_JIS",
    "TEXT/HTML;charset=utf-16",
    "application/xhtml+xml",
    "application/json",
    "application/problem+json; charset=utf-8",
    "text/javascript",
    "text/css",
    "image/png",
    "font/woff2",
    "text/event-stream",
    "",
)
CODINGS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
    "x-own": bytes,
    "": bytes,
}
PIECES = (
    b"<!doctype html><html><head><title>a</title></head><body><p>",
    b'{"items": [{"price": 1.50, "name": "\\u00e4"}], "total": 1e3}',
    b"<script>if (a < b) { c('</p>') }</script>",
    "\ufeff<h1>日本語</h1>".encode("shift_jis", "replace"),
    "<p>äö</p>".encode("utf-16"),
    b"\xff\xfe\x00<!--",
    b"\r\n\r\n",
    b"data: {}\n\n",
)
FIELDS = (
    (b"ETag", b'W/"a"'),
    (b"Cache-Control", b"max-age=60"),
    (b"Set-Cookie", b"a=1; Path=/"),
    (b"Set-Cookie", b"b=2; Secure; HttpOnly"),
    (b"x-ODD-case", b"  two  words"),
    (b"X-Latin", "ä".encode("latin-1")),
    (b"Content-Security-Policy", b"default-src 'none'; script-src 'nonce-a'"),
    (b"Vary", b"Accept-Encoding, Cookie"),
)
STATUSES = (200, 200, 200, 201, 203, 204, 206, 301, 304, 404, 410, 429, 500, 503)
RULES = (Popup(), HttpError(stage="response"), HttpError(), JavascriptFailure())


def never_hits() -> Scenario:
    """Return rules about everything, by the request and by the answer, that wait in vain."""
    late = Trigger(always=True, after_step=1000)
    return Scenario(
        name="late",
        rules=tuple(
            Rule(name=f"{number}-{status}", match=match, trigger=late, fault=fault)
            for number, fault in enumerate(RULES)
            for status in (None, 200)
            if status is None or fault.stage == "response"
            for match in [Match() if status is None else Match(status=(status,))]
        ),
    )


def generated(rng: KeyedRng, number: int) -> Answer:
    """Make an answer; ``number``: which one."""
    coding = rng.choice([*CODINGS], "coding", number)
    size = rng.choice([0, 1, 3, 40, 4000], "size", number)
    kind = rng.choice(TYPES, "type", number)
    headers = [field for field in FIELDS if rng.choice([True, False], str(field), number)]
    headers += [(b"Content-Type", kind.encode())] * bool(kind)
    headers += [(b"Content-Encoding", coding.encode())] * bool(coding)
    status = rng.choice(STATUSES, "status", number)
    body = b"".join(rng.choice(PIECES, "piece", number, place % 50) for place in range(size))
    return Answer(status, headers, b"" if status in (204, 304) else CODINGS[coding](body))


def answered(client: httpx.Client, url: str) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    with client.stream("GET", url, headers={"sec-fetch-dest": "document"}) as answer:
        return answer.status_code, answer.headers.raw, b"".join(answer.iter_raw())


@pytest.mark.parametrize("count", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_answers_that_nothing_hits_pass_unchanged(begin: Begin, plain: Origin, count: int) -> None:
    rng = KeyedRng(1, "answers")
    plain.routes |= {f"/{number}": generated(rng, number) for number in range(count)}
    urls = [f"http://127.0.0.1:{plain.port}/{number}" for number in range(count)]
    with httpx.Client(timeout=10) as direct:
        sent = [answered(direct, url) for url in urls]
    with begin(scenario=never_hits()) as lane, httpx.Client(proxy=lane.url, timeout=10) as client:
        came = [answered(client, url) for url in urls]

    assert [one for one in zip(sent, came, strict=True) if one[0] != one[1]] == []
    assert len(lane.events(ResponseSeen)) == count
    assert not lane.events(FaultPlanned)
    assert not lane.events(HarnessBroke)
