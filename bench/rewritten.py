"""A page of 1 MB into which a fault puts a script: how much later it arrives for that.

The same lane serves the same page twice: a rule hits one path and not the other.
"""

import ssl
import time
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

from bench.candidates import lane
from bench.load import trusting, tunnel
from bench.programs import site
from bench.row import Row
from bench.setting import HOST, Setting
from bench.turns import there_and_back
from warex.faults import Popup
from warex.scenarios import Match, Rule, Scenario, Trigger

_SIZE = 1024 * 1024
_PATHS = {"changed": f"/document/{_SIZE}?changed", "passed": f"/document/{_SIZE}"}
_SCRIPT = b'"report":"/'
"""What stands in a changed page and in no other."""
_SCENARIO = Scenario(
    name="rewritten",
    rules=(
        Rule(
            name="popup",
            match=Match(url=f"https://{HOST}:*/document/*changed"),
            trigger=Trigger(always=True),
            fault=Popup(),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class _Loaded:
    """Seconds from the question to the first and to the last byte of the page."""

    first: float
    last: float


def measure(setting: Setting) -> list[Row]:
    """Ask for the page changed and unchanged by turns, on one kept connection."""
    rounds = 3 if setting.quick else 60
    took: dict[str, list[_Loaded]] = {way: [] for way in _PATHS}
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.site", *setting.tls))
        authority = f"{HOST}:{port}"
        recorder = stack.enter_context(lane(setting, _SCENARIO))
        through = stack.enter_context(tunnel(recorder.port, port, trusting()))
        for order in there_and_back(list(_PATHS), 1 + rounds):
            for way in order:
                loaded = _load(through, authority, _PATHS[way], changed=way == "changed")
                took[way].append(loaded)
                recorder.answered(f"https://{authority}{_PATHS[way]}")
    pairs = list(zip(took["changed"][1:], took["passed"][1:], strict=True))
    return [
        Row(
            f"rewritten-{end}",
            f"a page of 1 MB with a script put into it: added time to the {end} byte",
            median(late - early for late, early in times) * 1000,
            "ms",
            most,
            at_least=False,
            detail=f"changed {median(late for late, _ in times) * 1000:.2f} ms,"
            f" passed through {median(early for _, early in times) * 1000:.2f} ms",
        )
        for end, most, times in (
            ("first", 2, [(changed.first, passed.first) for changed, passed in pairs]),
            ("last", 5, [(changed.last, passed.last) for changed, passed in pairs]),
        )
    ]


def _load(connection: ssl.SSLSocket, authority: str, path: str, *, changed: bool) -> _Loaded:
    """Load a page; raise ConnectionError where it is not changed as it should be, or not whole."""
    began = time.perf_counter()
    connection.sendall(
        f"GET {path} HTTP/1.1\r\nHost: {authority}\r\nSec-Fetch-Dest: document\r\n\r\n".encode()
    )
    held, first, wanted = bytearray(), 0.0, None
    while wanted is None or len(held) < wanted:
        if not (more := connection.recv(65536)):
            raise ConnectionError(f"the page ended early, after {len(held):,} bytes")
        first = first or time.perf_counter() - began
        held += more
        if changed and held.endswith(b"\r\n0\r\n\r\n"):
            break
        if not changed and wanted is None and b"\r\n\r\n" in held:
            wanted = held.index(b"\r\n\r\n") + 4 + _SIZE
    last = time.perf_counter() - began
    if len(held) < _SIZE or (_SCRIPT in held) != changed:
        raise ConnectionError(f"the page is not as it should be: {bytes(held[:200])!r}")
    return _Loaded(first, last)
