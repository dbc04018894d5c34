"""Counts what is redacted in recordings: trials of the tests, calls of models, the testbed's pages.

They hold no secret. What was redacted in a recording when it was made stays as it is.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from itertools import chain, zip_longest
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from pydantic import JsonValue
from starlette.testclient import TestClient

from warex.traces.redaction.redactor import Redactor
from warex_testbed.sites import HOSTS, Sites

_ROOT = Path(__file__).parents[2]
_TRIALS = _ROOT / "tests" / "analysis" / "trajectories"
_SITES = _ROOT / "testbed" / "src" / "warex_testbed" / "sites"
_KEYS = (":generateContent?key=k",)
"""Keys that a recording has in place of a secret one."""
_LINK = re.compile(r'(?:href|src|action)="([^"#]{1,300})"')


@dataclass(frozen=True, slots=True)
class Change:
    """A text that redaction changes."""

    source: str
    before: str
    after: str


def changes() -> tuple[list[Change], int]:
    """Return the changed texts of all recordings, each once, and the number of all."""
    by_text: dict[str, Change] = {}
    size = 0
    for path in sorted(_TRIALS.rglob("*.jsonl")):
        redactor = Redactor()
        for line in path.read_text("utf-8", "replace").splitlines():
            for text, after in _of_event(json.loads(line), redactor):
                size += 1
                _note(by_text, str(path.relative_to(_ROOT)), text, after)
    for source, text in chain(_files(), crawled()):
        # A text is redacted whole, and compared line by line.
        after = Redactor().text(text)
        lines = list(zip(text.splitlines(), after.splitlines(), strict=False))
        size += len(lines)
        for before, cleaned in lines:
            _note(by_text, source, before, cleaned)
    return list(by_text.values()), size


def _files() -> Iterator[tuple[str, str]]:
    sources: list[tuple[Path, tuple[str, ...]]] = [
        (_ROOT / "tests" / "llm" / "families" / "vectors", ("yaml",))
    ]
    sources.append((_SITES, ("html", "js", "css", "toml", "svg")))
    for folder, endings in sources:
        for ending in endings:
            for path in sorted(folder.rglob(f"*.{ending}")):
                yield str(path.relative_to(_ROOT)), path.read_text("utf-8", "replace")


def crawled(most: int = 40) -> Iterator[tuple[str, str]]:
    """Yield the addresses and the answers of the testbed's sites, with their headers."""
    for host in HOSTS:
        client = TestClient(Sites().visit(), base_url=f"https://{host}")
        seen, left = {"/"}, ["/"]
        while left and len(seen) <= most:
            path = left.pop(0)
            answer = client.get(path)
            head = "".join(f"{name}: {value}\n" for name, value in answer.headers.items())
            yield f"{host}{path}", f"{answer.url}\n{head}\n{answer.text}"
            for link in _LINK.findall(answer.text):
                address = urljoin(str(answer.url), unescape(link))
                if urlsplit(address).hostname == host and link not in seen:
                    seen.add(link)
                    left.append(address)


def _note(by_text: dict[str, Change], source: str, before: str, after: str) -> None:
    if before == after or before.endswith(_KEYS):
        return
    pairs = enumerate(zip_longest(before, after))
    at = max(0, next(place for place, (one, other) in pairs if one != other) - 60)
    near = slice(at, at + 120)
    by_text.setdefault(before[near], Change(source, before[near], after[near]))


def _of_event(event: dict[str, JsonValue], redactor: Redactor) -> Iterator[tuple[str, str]]:
    """Yield each open text of an event, and what is written of it."""
    match event.get("event"):
        case "request" | "response":
            if isinstance(url := event.get("url"), str):
                yield url, redactor.url(url)
            for pair in _list(event.get("headers")):
                name, header = (str(item) for item in _list(pair)[:2])
                yield header, redactor.header(name, header)[1]
        case "llm_call":
            yield from _texts(event.get("messages"), redactor.messages(event.get("messages")))
            yield from _texts(event.get("answer"), redactor.answer(event.get("answer")))
            yield from _texts(event.get("tool_calls"), redactor.answer(event.get("tool_calls")))
        case "mcp_call":
            for part in ("arguments", "result"):
                value = event.get(part)
                yield from _texts(value, redactor.tool(str(event.get("tool")), part, value))
        case "agent_action":
            value = event.get("arguments")
            yield from _texts(value, redactor.json(redactor.arguments(value)))


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _texts(before: JsonValue, after: JsonValue) -> Iterator[tuple[str, str]]:
    if isinstance(before, str):
        yield before, after if isinstance(after, str) else json.dumps(after)
    elif isinstance(before, list) and isinstance(after, list):
        for one, other in zip(before, after, strict=True):
            yield from _texts(one, other)
    elif isinstance(before, dict) and isinstance(after, dict):
        for name, one in before.items():
            yield from _texts(one, after[name])
    elif before is not None:
        yield json.dumps(before), json.dumps(after)
