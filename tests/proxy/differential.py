"""The same traffic through both engines: are the ledgers equal in every field but times?

python -m tests.proxy.differential [--over https|http|h2] [KIND…]: without a kind, every fault of
the catalogue that needs no namespace, no fault, and clients that leave. It prints what differs and
exits with 1 if anything does.
"""

import argparse
import gzip
import hashlib
import json
import os
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
from pydantic import ValidationError

from tests.proxy.support.client import trusting
from tests.proxy.support.lanes import Begin, Lane, beginner, scenario
from tests.proxy.support.mcp import HEAD, called, event, said, streamed, whole
from tests.proxy.support.mcp import PATH as TOOLS
from tests.proxy.support.model import PATH as CHAT
from tests.proxy.support.model import Model
from tests.proxy.support.origin import Answer, Origin, served, server_context
from warex.errors import WarexError
from warex.faults import CATALOGUE, Fault, LlmSlow, McpSlow, NetworkError, SlowPage
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.proxy.own_engine import CHOICE
from warex.proxy.process.forkserver import Forkserver
from warex.scenarios import Random, Scenario, Trigger

ENGINES: Final = {"mitmproxy's": "mitmproxy", "own": None}
_PATIENCE: Final = 2.0
"""Seconds after which the client leaves."""
_SHORTER: Final = {"delay": 0.1, "pause": 0.02, "hold": 0.1}
_HASH: Final = re.compile(r"\[redacted:(\d+):[0-9a-f]+\]")
_SCRIPT: Final = re.compile(r"sha256-[\w+/=]+")
_PAIRS: Final = (
    ("header_change", "text_corruption"),
    ("network_error", "json_corruption"),
    ("popup", "http_error"),
    ("stale_response", "slow_page"),
    ("llm_slow", "llm_cut"),
    ("mcp_slow", "mcp_result_corrupt"),
    ("duplicate_write", "slow_page"),
)
_TIMELY: Final = ("date", "retry-after", "ratelimit")
"""Headers whose values depend on the time."""
_TIMES: Final = frozenset(
    ("t", "at", "seq", "timings", "began", "latency_s", "first_token_s", "waited_s", "versions")
)

BROWSER: Final = {
    "user-agent": "Mozilla/5.0",
    "sec-fetch-dest": "document",
    "sec-fetch-mode": "navigate",
    "accept": "text/html",
}
XHR: Final = {**BROWSER, "sec-fetch-dest": "empty", "sec-fetch-mode": "cors", "accept": "*/*"}
ITEMS: Final = [{"id": number, "name": f"item {number}", "price": 9.5} for number in range(9)]
ROWS: Final = "".join(f"<li>Item {number}: <b>$9.50</b></li>" for number in range(30))
PAGE: Final = (
    "<!doctype html><html lang=en><head><title>Shop</title></head><body><h1>Shop</h1>"
    f"<form action=/buy method=post><input name=q><button>Buy</button></form><ul>{ROWS}</ul>"
).encode()
_HTML: Final = (b"content-type", b"text/html; charset=utf-8")
_JSON: Final = (b"content-type", b"application/json")


def routes(site: Origin) -> None:
    """Give a site its pages, a model and a server of tools."""
    site.reset()
    coded = [_HTML, (b"content-encoding", b"gzip"), (b"etag", b'"1"')]
    site.routes["/"] = Answer(headers=[_HTML, (b"Set-Cookie", b"s=1"), (b"X-Odd", b"a")], body=PAGE)
    site.routes["/list"] = Answer(headers=coded, body=gzip.compress(PAGE, mtime=0))
    site.routes["/api/items"] = Answer(headers=[_JSON], body=json.dumps(ITEMS).encode())
    script = [(b"content-type", b"text/javascript")]
    site.routes["/app.js"] = Answer(headers=script, body=b"document.title;" * 900)
    site.routes["/buy"] = Answer(status=303, headers=[(b"location", b"/")], body=b"")
    site.routes["/gone"] = Answer(status=404, headers=[_HTML], body=b"<h1>Not found</h1>")
    site.routes["/large"] = Answer(headers=[(b"content-type", b"image/png")], body=bytes(300_000))
    Model(site)
    tools = [{"name": "look", "inputSchema": {}}, {"name": "buy", "inputSchema": {}}]
    listed = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}).encode()
    site.routes[TOOLS] = Answer(raw=whole(listed))
    looked = event({"jsonrpc": "2.0", "id": 2, "result": said("a shop")})
    site.routes["/stream"] = Answer(raw=streamed(looked))


def requests() -> Iterator[tuple[str, str, dict[str, str], bytes]]:
    """Yield what a client asks for, in order: method, path, headers, body."""
    form = {"content-type": "application/x-www-form-urlencoded", "origin": "https://localhost"}
    json_body = {"content-type": "application/json"}
    question = {"model": "m", "messages": [{"role": "user", "content": "Book a table."}]}
    for number in range(3):
        yield "GET", "/", BROWSER, b""
        yield "GET", "/app.js", {**XHR, "sec-fetch-dest": "script"}, b""
        yield "GET", "/api/items", XHR, b""
        yield "POST", "/buy", {**BROWSER, **form}, b"q=milk&password=hush"
        yield "GET", "/list", {**BROWSER, "if-none-match": '"1"'}, b""
        yield "HEAD", "/list", BROWSER, b""
        yield "GET", "/gone", BROWSER, b""
        yield "GET", "/large", {**XHR, "sec-fetch-dest": "image"}, b""
        yield "PUT", "/api/items", {**XHR, "content-type": "text/plain"}, b"x" * 400_000
        asked = {**question, "stream": number == 1, "seed": number}
        yield "POST", CHAT, json_body, json.dumps(asked).encode()
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        yield "POST", TOOLS, HEAD, json.dumps(listing).encode()
        yield "POST", "/stream", HEAD, json.dumps(called(2, "look", at=number)).encode()
    yield "GET", "/", BROWSER, b""


def session(lane: Lane, site: str, ca: CertificateAuthority, *, http2: bool) -> list[str]:
    """Send the requests one by one; return what the client sees of each answer."""
    seen = []
    with httpx.Client(proxy=lane.url, verify=trusting(ca.certificate), timeout=_PATIENCE) as client:
        for method, path, headers, body in requests():
            try:
                answer = client.request(method, site + path, headers=headers, content=body)
            except httpx.HTTPError as error:
                seen.append(f"{method} {path}: {type(error).__name__}")
                continue
            fields = sorted((k, v) for k, v in answer.headers.items() if k not in _TIMELY)
            head = _SCRIPT.sub("sha256", str(fields))
            digest = hashlib.sha256(answer.content).hexdigest()[:8]
            if b"<script>" in answer.content:  # It has a key that is drawn anew each time.
                digest = "changed by a script"
            version = answer.http_version
            seen.append(f"{method} {path}: {version} {answer.status_code} {head} {digest}")
    return seen


def ledger(lane: Lane) -> dict[str, list[dict[str, Any]]]:
    """Return the events of each exchange without times."""
    events: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (lane.out / "events.jsonl").read_text().splitlines():
        # A key of the trial, and of each changed page.
        entry = json.loads(_SCRIPT.sub("sha256", _HASH.sub(r"[redacted:\1]", line)))
        kept = {name: value for name, value in entry.items() if name not in _TIMES}
        if "headers" in kept:
            kept["headers"] = [it for it in kept["headers"] if it[0].lower() not in _TIMELY]
        events[kept.get("exchange") or "the trial"].append(kept)
    return events


@contextmanager
def lanes(ca: CertificateAuthority, folder: Path) -> Iterator[dict[str, Begin]]:
    """Start what forks the lanes of each engine."""
    with ExitStack() as stack:
        begins = {}
        for name, choice in ENGINES.items():
            os.environ.pop(CHOICE, None)
            if choice is not None:
                os.environ[CHOICE] = choice
            forkserver = Forkserver()
            stack.callback(forkserver.close)
            (own := folder / name.strip("'s")).mkdir()
            begins[name] = beginner(forkserver, ca, own)
            with begins[name]():  # It is started now, with this environment.
                pass
        yield begins


def differences(
    begins: dict[str, Begin],
    given: Scenario | None,
    site: Origin,
    over: str,
    ca: CertificateAuthority,
) -> Iterator[str]:
    """Yield what differs under a scenario."""
    answers, ledgers = [], []
    url = f"{'http' if over == 'http' else 'https'}://localhost:{site.port}"
    for begin in begins.values():
        routes(site)
        with begin(scenario=given, seed=7) as lane:
            answers.append(session(lane, url, ca, http2=over == "h2"))
        ledgers.append(ledger(lane))
    for one, other in zip(*answers, strict=True):
        if one != other:
            yield f"  the client sees  {one}\n              and  {other}"
    today, own = ledgers
    for exchange in sorted(today.keys() | own.keys()):
        one, other = today.get(exchange, []), own.get(exchange, [])
        names = [it["event"] for it in one], [it["event"] for it in other]
        if names[0] != names[1]:
            yield f"  {exchange}: {names[0]}\n   and {names[1]}"
            continue
        for before, after in zip(one, other, strict=True):
            for name in sorted(before.keys() | after.keys()):
                if before.get(name) != after.get(name):
                    shown = str(before.get(name))[:300], str(after.get(name))[:300]
                    yield f"  {exchange} {before['event']}.{name}: {shown[0]}\n   and {shown[1]}"


def faults(kinds: list[str]) -> Iterator[tuple[str, Fault]]:
    """Yield the faults of these kinds, or all, with short waits."""
    for kind in CATALOGUE:
        name = kind.model_fields["kind"].default
        if (kinds and name not in kinds) or kind.model_fields.get("hold") is not None:
            continue
        fields = kind.model_fields
        short: dict[str, Any] = {it: value for it, value in _SHORTER.items() if it in fields}
        try:
            yield name, kind(**short)
        except ValidationError:
            yield name, kind()


def leaving() -> Iterator[tuple[str, Fault]]:
    """Yield faults for which no client waits."""
    yield "left: network_error", NetworkError(delay=10)
    yield "left: slow_page", SlowPage(delay=0.1, pause=1.0)
    yield "left: llm_slow", LlmSlow(delay=0.0, pause=3.0)
    yield "left: mcp_slow", McpSlow(delay=10)


def pairs() -> Iterator[tuple[str, Scenario]]:
    """Yield scenarios of two rules, one of which draws its hits."""
    short = dict(faults([]))
    drawn = Trigger(random=Random(probability=0.5, times=4))
    for one, other in _PAIRS:
        first, second = scenario(short[one], Trigger(always=True)), scenario(short[other], drawn)
        rules = (
            *first.rules,
            *(rule.model_copy(update={"name": "other"}) for rule in second.rules),
        )
        yield f"{one} and {other}", Scenario(name="both", rules=rules)


def main(arguments: list[str]) -> int:
    """Compare; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--over", choices=("https", "http", "h2"), default="https")
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    chosen = parser.parse_args(arguments)
    kinds: list[str] = chosen.kinds
    different = compared = 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ca = ensure_ca(folder / "ca")
        (folder / "leaf").mkdir()
        certificate = ca.leaf("localhost", folder / "leaf")
        alpn = ["h2"] if chosen.over == "h2" else ["http/1.1"]
        tls = None if chosen.over == "http" else server_context(*certificate, alpn)
        site = stack.enter_context(served(tls))
        begins = stack.enter_context(lanes(ca, folder))
        given: list[tuple[str, Scenario | None]] = [] if kinds else [("no fault", None)]
        hits = Trigger(nth=(1, 3, 4))
        hit = [*faults(kinds), *(() if kinds else leaving())]
        given += [(name, scenario(fault, hits)) for name, fault in hit]
        given += [] if kinds else pairs()
        for name, rules in given:
            try:
                found = list(differences(begins, rules, site, chosen.over, ca))
            except WarexError as error:
                print(f"{name}: left out: {error}")
                continue
            compared += 1
            different += bool(found)
            print(f"{name}: {len(found) or 'nothing'} different", *found, sep="\n", flush=True)
    print(f"{compared - different} of {compared} scenarios have equal ledgers and answers")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
