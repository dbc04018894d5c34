"""Processor time of a lane for a unit of traffic, beside stock mitmdump's and mockttp's.

All run throughout and take turns with the same client and site, so that other load on the machine
affects them alike. The lane writes its trace and has a scenario.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from bench.processes import processor_seconds
from bench.row import Row
from bench.traffic import load
from bench.traffic.counted_lanes import Lane, counting_lane
from bench.traffic.load import Kind, Turn
from bench.traffic.measured_lanes import LOADED, warex_config
from bench.traffic.messages import ANSWER, MEGABYTE_PATH, PATH
from bench.traffic.mitmdump import mitmdump
from bench.traffic.mockttp import MISSING, mockttp
from bench.traffic.programs import program, site
from bench.traffic.streams import SIXTY_EVENTS, SIXTY_TEXT
from bench.turn_order import alternate
from bench.workspace import HOST, Workspace


@dataclass(frozen=True, slots=True)
class Load:
    """Units of one kind of traffic, and how much cheaper they are to be than through mitmdump."""

    name: str
    what: str
    kind: Kind
    target: float
    number: int = 1
    """Of connections, or of streams."""
    site: tuple[str, ...] = ("quick_site",)
    """The module of its site, and its arguments."""
    path: str = PATH
    passed_through: bool = False


LOADS = (
    Load("requests", "request of 2 kB on kept HTTPS connections", "requests", 5, 16),
    Load("streams", "request of 2 kB on HTTP/2", "streams", 4, 16, ("quick_site", "h2")),
    Load("connections", "new TLS connection with one request", "connections", 3.5),
    Load("megabytes", "body of 1 MB", "megabytes", 2, 2, ("site",), MEGABYTE_PATH),
    Load("events", "model's answer in 60 events", "events", 1.4, 4, ("site",), SIXTY_EVENTS),
    Load(
        "passed", "request on connections that are passed through", "requests", 25, 16,
        passed_through=True,
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Candidate:
    """A running proxy."""

    port: int
    pid: int
    count: Callable[[int], None] = lambda answers: None


def measure(workspace: Workspace, of: Load) -> list[Row]:
    """Measure a lane, mitmdump, and mockttp where it is installed."""
    rounds, seconds = (2, 0.3) if workspace.quick else (20, 1.0)
    with ExitStack() as stack:
        module, *protocols = of.site
        port = stack.enter_context(site(f"bench.traffic.{module}", *workspace.tls, *protocols))
        client = stack.enter_context(program("bench.traffic.load"))
        config = warex_config(workspace, LOADED)
        if of.passed_through:
            passed = replace(config.traffic, pass_through=(HOST,))
            config = config.model_copy(update={"traffic": passed})
        lane = stack.enter_context(counting_lane(workspace, config))
        peer = stack.enter_context(mitmdump(workspace))
        candidates = {
            "mitmdump": Candidate(peer.port, peer.pid),
            "warex": Candidate(lane.port, lane.pid, partial(_count, lane, of, port)),
        }
        if (other := stack.enter_context(mockttp(workspace))) is not None:
            candidates["mockttp"] = Candidate(other.port, other.pid)

        def turn(name: str) -> Turn:
            done = load.turn(client, name, seconds)
            candidates[name].count(done.answers)
            return done

        for name, candidate in candidates.items():
            client.ask(f"connect {name} {candidate.port} {port} {of.number} {of.kind}")
            turn(name)
        used, answers = dict.fromkeys(candidates, 0.0), dict.fromkeys(candidates, 0)
        for order in alternate(list(candidates), rounds):
            for name in order:
                before = processor_seconds(candidates[name].pid)
                answers[name] += turn(name).answers
                used[name] += processor_seconds(candidates[name].pid) - before
    cost = {name: used[name] / answers[name] * 1e6 for name in candidates}
    return _rows(of, cost)


def names(of: Load) -> tuple[str, ...]:
    """Return the names of a load's rows."""
    return (of.name,) if of.passed_through else (of.name, f"{of.name}-mockttp")


def _rows(of: Load, cost: dict[str, float]) -> list[Row]:
    """Return the rows of one load; ``cost``: µs of a unit by candidate."""
    every = ", ".join(f"{name} {each:,.0f} µs" for name, each in cost.items())
    read = "passed through" if of.passed_through else "traced"
    rows = [
        Row(
            of.name,
            f"processor time of a {of.what}, {read}: mitmdump's to a lane's",
            cost["mitmdump"] / cost["warex"],
            "times",
            of.target,
            at_least=True,
            detail=every,
        )
    ]
    if not of.passed_through:
        peer = cost.get("mockttp")
        rows.append(
            Row(
                f"{of.name}-mockttp",
                "the same: mockttp's to a lane's",
                None if peer is None else peer / cost["warex"],
                "times",
                1,
                at_least=True,
                detail=MISSING if peer is None else "",
            )
        )
    return rows


def _count(lane: Lane, of: Load, port: int, answers: int) -> None:
    """Have the lane's trace show the answers."""
    if of.passed_through:
        lane.count_passed(answers * len(ANSWER))
        return
    lane.count_requests(f"https://{HOST}:{port}{of.path}", times=answers)
    if of.kind == "events":
        lane.count_calls(SIXTY_TEXT, times=answers)
