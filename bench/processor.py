"""Processor time of a request and of a connection, and requests per second, beside three peers.

Wall time on few cores is shared with client and site; what a proxy's own processes used is not.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

from bench import load
from bench.candidates import LOADED, lane
from bench.counted import Lane
from bench.load import Turn
from bench.peers import Absent, Running
from bench.peers.mitmdump import mitmdump
from bench.peers.mockttp import mockttp
from bench.peers.sslsplit import sslsplit
from bench.processes import family, processor_seconds
from bench.programs import Program, program, site
from bench.row import Row
from bench.setting import Setting
from bench.talk import PROTOCOLS
from bench.turns import there_and_back

_CONNECTIONS = 16
_WAYS = {"kept": "a request on 16 kept connections", "fresh": "a new connection and its request"}
_PEERS = ("mockttp", "sslsplit")
_SHORT = {"http/1.1": "h1", "h2": "h2"}
_NAMES = {"http/1.1": "HTTP/1.1", "h2": "HTTP/2"}


@dataclass(frozen=True, slots=True)
class Found:
    """What a candidate did and used in all its turns."""

    rate: float
    """Answers per second, the median of its turns."""
    cost: float
    """Milliseconds of processor time for each answer."""


type Table = dict[tuple[str, str, str], Found]
"""By protocol, way and candidate."""


def measure(setting: Setting) -> list[Row]:
    """Measure kept and fresh connections over both protocols, all candidates by turns."""
    absent: dict[str, str] = {}
    found: Table = {}
    for protocol in PROTOCOLS:
        found |= _measured(setting, protocol, absent)
    return [*rates(found, absent), *costs(found, absent)]


def _measured(setting: Setting, protocol: str, absent: dict[str, str]) -> Table:
    rounds, seconds = (1, 0.3) if setting.quick else (10, 1.0)
    turns: dict[tuple[str, str], list[Turn]] = {}
    used: dict[tuple[str, str], float] = {}
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.quick_site", *setting.tls))
        candidates = _candidates(setting, stack, port, absent)
        client = stack.enter_context(program("bench.load", protocol))
        spoken = [name for name in candidates if _speaks(client, candidates[name], name, port)]
        for order in there_and_back([(way, name) for way in _WAYS for name in spoken], rounds):
            for way, name in order:
                candidate = candidates[name]
                warm = _warm(client, name, candidate, port) if way == "kept" else 0
                before = _used(candidate)
                done = load.turn(client, _line(way, name, candidate, port, seconds))
                used[way, name] = used.get((way, name), 0) + _used(candidate) - before
                turns.setdefault((way, name), []).append(done)
                if isinstance(candidate, Lane):
                    candidate.answered(load.url(port), times=warm + done.answers)
    return {
        (protocol, way, name): Found(
            median(each.rate for each in done),
            1000 * used[way, name] / max(1, sum(each.answers for each in done)),
        )
        for (way, name), done in turns.items()
    }


def _candidates(
    setting: Setting, stack: ExitStack, port: int, absent: dict[str, str]
) -> dict[str, Lane | Running]:
    found: dict[str, Lane | Running] = {
        "warex": stack.enter_context(lane(setting, LOADED)),
        "mitmdump": stack.enter_context(mitmdump(setting)),
    }
    for name, peer in (("mockttp", mockttp(setting)), ("sslsplit", sslsplit(setting, port))):
        try:
            found[name] = stack.enter_context(peer)
        except Absent as why:
            absent[name] = str(why)
    return found


def _where(candidate: Lane | Running, port: int) -> str:
    """Return proxy and port as the client takes them."""
    if isinstance(candidate, Running) and not candidate.connects:
        return f"0 {candidate.port}"
    return f"{candidate.port} {port}"


def _speaks(client: Program, candidate: Lane | Running, name: str, port: int) -> bool:
    """Open the kept connections; return whether the candidate speaks the client's protocol."""
    return client.ask(f"connect {name} {_where(candidate, port)} {_CONNECTIONS}") == "ok"


def _warm(client: Program, name: str, candidate: Lane | Running, port: int) -> int:
    """Open the kept connections anew and use each once; return how many there are.

    Some peers close those that were idle during the others' turns.
    """
    _speaks(client, candidate, name, port)
    return load.turn(client, f"turn {name} 0").answers


def _line(way: str, name: str, candidate: Lane | Running, port: int, seconds: float) -> str:
    if way == "kept":
        return f"turn {name} {seconds}"
    return f"fresh {_where(candidate, port)} {seconds}"


def _used(candidate: Lane | Running) -> float:
    return sum(processor_seconds(pid) for pid in family(candidate.pid))


def rates(found: Table, absent: dict[str, str]) -> Iterator[Row]:
    """Return a row for each peer: requests per second to mitmdump's, as WAREX's own row has it."""
    ours, mitmdumps = (found["http/1.1", "kept", name].rate for name in ("warex", "mitmdump"))
    for peer in _PEERS:
        theirs = found.get(("http/1.1", "kept", peer))
        yield Row(
            f"requests-{peer}",
            f"HTTPS requests/s through {peer} (2 kB, 16 connections), to mitmdump's",
            theirs.rate / mitmdumps if theirs else None,
            "times",
            None,
            at_least=True,
            detail=f"{theirs.rate:,.0f} requests/s; mitmdump {mitmdumps:,.0f}, WAREX {ours:,.0f},"
            f" {ours / mitmdumps:.2f} times"
            if theirs
            else f"{peer} is {absent[peer]}",
        )


def costs(found: Table, absent: dict[str, str]) -> Iterator[Row]:
    """Return a row for each protocol and way: WAREX's processor time to mitmdump's."""
    for protocol in PROTOCOLS:
        for way, what in _WAYS.items():
            cost = {
                name: each.cost
                for (spoken, how, name), each in found.items()
                if (spoken, how) == (protocol, way)
            }
            yield Row(
                f"processor-{_SHORT[protocol]}{'-fresh' if way == 'fresh' else ''}",
                f"processor time of {what} over {_NAMES[protocol]} (2 kB), to mitmdump's",
                cost["warex"] / cost["mitmdump"],
                "times",
                1,
                at_least=False,
                detail=f"WAREX {cost['warex']:.2f} ms, mitmdump {cost['mitmdump']:.2f} ms, "
                + ", ".join(_told(peer, cost, absent) for peer in _PEERS),
            )


def _told(peer: str, cost: dict[str, float], absent: dict[str, str]) -> str:
    if peer in cost:
        return f"{peer} {cost[peer]:.2f} ms"
    return f"{peer} is {absent[peer]}" if peer in absent else f"{peer} does not speak it"


def names() -> Sequence[str]:
    """Return the names of the rows, in order."""
    ways = ("", "-fresh")
    return (
        *(f"requests-{peer}" for peer in _PEERS),
        *(f"processor-{_SHORT[protocol]}{way}" for protocol in PROTOCOLS for way in ways),
    )
