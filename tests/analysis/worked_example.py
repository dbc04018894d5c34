"""A run small enough to compute by hand: two agents, five tasks, two repeats.

Every number in its tables follows from ``TRIALS``, the docstrings of the stories, and ``PRICES``.
Nothing is random.
"""

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import msgspec
from pydantic import JsonValue

from tests.analysis.builders import SHOP, RunFolder, Story, failed, solved
from warex.llm.prices.table import Price, PriceTable
from warex.traces.outcome import Void
from warex.traces.outcome_file import write_outcome
from warex.traces.paths import EVENTS, TrialKey, attempt_dir

PRICES = PriceTable(
    date=date(2025, 8, 31),
    models={"scripted:patient": Price(input=2, output=10, cache_read=1)},
)
"""USD per million tokens."""

_CELL = re.compile(r"(?P<way>[a-z-]+)(?P<solved>[+-])(?P<seconds>\d+)")

TASKS = ("add", "buy", "find", "mail", "move")

CONDITIONS: list[JsonValue] = [
    {"name": "no-proxy"},
    {"name": "clean"},
    {"name": "again", "control": True},
    {"name": "again-late", "control": True},
    {"name": "shop-down", "scenario": "shop-down"},
    {"name": "shop-down-2", "scenario": "shop-down", "intensity": 2},
    {"name": "shop-down-4", "scenario": "shop-down", "intensity": 4},
    {"name": "shop-down-hint", "scenario": "shop-down", "defence": "hint"},
]

TRIALS = """
agent    condition     repeat  add           buy          find          mail         move

patient  no-proxy           1  unseen+2      unseen+3     unseen+4      unseen+2     unseen+1
patient  no-proxy           2  unseen+2      unseen+3     unseen+4      unseen+2     .
patient  clean              1  void/calm+3   cached+5     sent-twice+6  replayed+2   calm+2
patient  clean              2  calm+3        calm+4       reloads+6     calm-3       calm-4
patient  again              1  calm+3        calm+3       calm-3        calm+3       calm+3
patient  again              2  calm-3        calm+3       calm+3        calm+3       calm-3
patient  again-late         1  calm+2        calm+2       calm+2        calm+2       calm+2
patient  shop-down          1  recovers+9    two-tries+12 in-vain-20    gives-up-3   late+10
patient  shop-down          2  waits-11      orders+8     healed+7      gives-up-4   missed+6
patient  shop-down-2        1  recovers+8    gives-up-3   calm+4        calm+4       calm+6
patient  shop-down-4        1  gives-up-2    gives-up-3   gives-up-4    gives-up-3   gives-up-3
patient  shop-down-hint     1  recovers+6    two-tries+10 recovers+7    recovers+7   calm+5

giveup   clean              1  calm+2        calm+3       calm+4        calm-3       void
giveup   again-late         1  calm+4        calm-4       calm-4        calm-4       calm+50
giveup   shop-down          1  unfinished    .            .             .            .
giveup   shop-down-2        1  gives-up-1    calm+2       gives-up-1    calm+4       calm+50
giveup   shop-down-4        1  gives-up-1    gives-up-1   gives-up-1    late+1       calm+50
"""
"""Each cell has the name of a story, whether the task was solved (+ or -), and the seconds from the
agent's start to its exit; attempts at one trial are separated by slashes, a dot means none."""


def _calm() -> Story:
    """One call: 1000 tokens in, 10 out."""
    return Story().thinks(1, "goto").page("x1").stops()


def _cached() -> Story:
    """One call: 1500 in, of which 500 cached; 20 out, of which 5 reasoning."""
    story = Story().thinks(1, "goto", (1500, 20), cached=500)
    return _changed(story, -2, reasoning_tokens=5).page("x1").stops()


def _replayed() -> Story:
    """One call, 1000 in, 10 out: replayed in half a second; the original took 2.5."""
    story = Story().thinks(1, "goto")
    return _changed(story, -2, replayed=True, original_latency_s=2.5).page("x1").stops()


def _sent_twice() -> Story:
    """Two calls in one step: 2000 in, 20 out."""
    return Story().thinks(1, None).thinks(1, "goto").page("x1").stops()


def _reloads() -> Story:
    """Two calls, 2200 in, 30 out: a reload without any fault."""
    story = Story().thinks(1, "goto").page("x1").thinks(2, "reload", (1200, 20))
    return story.page("x2").stops()


def _recovers() -> Story:
    """Two calls, 3000 in, 40 out. Delivered at second 6, the right request at second 9."""
    return Story().thinks(1, "goto").fault(1).thinks(2, "reload", (2000, 30)).page("x2").stops()


def _waits() -> Story:
    """Four calls, 4000 in, 40 out. Delivered at 6, the right request at 13, three steps later."""
    story = Story().thinks(1, "goto").fault(1).thinks(2, "noop").thinks(3, "noop")
    return story.thinks(4, "reload").page("x2").stops()


def _two_tries() -> Story:
    """Two calls, 2000 in, 20 out. The browser's own reload is cut as well.

    Delivered at 6 and at 10; the agent's reload, the right request for both, comes at 13.
    """
    story = Story().thinks(1, "goto").fault(1, status=None).fault(2, status=None)
    return story.thinks(2, "reload").page("x3").stops()


def _orders() -> Story:
    """Two calls, 2000 in, 20 out. The shop's answer to an order is replaced; it is sent again.

    Delivered at 6, the right request at 9.
    """
    story = Story().thinks(1, "click").writes("w1", body=1).planned("i1", "w1", f"{SHOP}order")
    _changed(story, -1, stage="response").gets("w1", 500, "xhr", "warex").delivered("i1", "w1")
    return story.thinks(2, "click").writes("w2", body=1).gets("w2", 200, "xhr").stops()


def _in_vain() -> Story:
    """Six calls, 6000 in, 60 out: five steps after the fault, none of which requests the page."""
    story = Story().thinks(1, "goto").fault(1)
    for step in range(2, 7):
        story.thinks(step, "goto").page(f"x{step}", "https://search.example/")
    return story.stops()


def _gives_up() -> Story:
    """Two calls, 2000 in, 20 out: the second ends the task."""
    return Story().thinks(1, "goto").fault(1).thinks(2, "report_infeasible").stops()


def _healed() -> Story:
    """One call, 1000 in, 10 out: the browser reloads the page by itself."""
    return Story().thinks(1, "goto").fault(1, status=None).page("x2").stops()


def _late() -> Story:
    """One call, 1000 in, 10 out: the page comes late but whole, so no recovery is needed."""
    story = Story().thinks(1, "goto").asks("x1").planned("i1", "x1", effects=("delay",))
    return story.delivered("i1", "x1").gets("x1").stops()


def _missed() -> Story:
    """One call, 1000 in, 10 out: one injection missed, three exchanges excluded by ``never``."""
    story = Story().thinks(1, "goto").asks("x1").planned("i1", "x1")
    return story.missed("client_gone", "i1").missed("never", count=3).gets("x1").stops()


STORIES: dict[str, Callable[[], Story]] = {
    "calm": _calm,
    "cached": _cached,
    "replayed": _replayed,
    "sent-twice": _sent_twice,
    "reloads": _reloads,
    "recovers": _recovers,
    "waits": _waits,
    "two-tries": _two_tries,
    "orders": _orders,
    "in-vain": _in_vain,
    "gives-up": _gives_up,
    "healed": _healed,
    "late": _late,
    "missed": _missed,
}


def make_run(path: Path) -> Path:
    """Write the run; the manifest sets the order of the conditions."""
    agents: list[JsonValue] = [{"name": "patient"}, {"name": "giveup"}]
    RunFolder(path).manifest(agents=agents, conditions=CONDITIONS)
    for line in filter(None, TRIALS.splitlines()[2:]):
        agent, condition, repeat, *cells = line.split()
        for task, cell in zip(TASKS, cells, strict=True):
            key = TrialKey("testbed", agent, condition, task, int(repeat))
            for attempt, text in enumerate(() if cell == "." else cell.split("/"), 1):
                _write(attempt_dir(path, key, attempt), key, text)
    return path


def _write(folder: Path, key: TrialKey, text: str) -> None:
    folder.mkdir(parents=True)
    match = _CELL.fullmatch(text)
    assert match or text in ("void", "unfinished"), text
    name = match["way"] if match else "calm"
    if name != "unseen":
        full = Story(t=-1.0).began(key)
        if not key.condition.startswith("shop-down"):
            _changed(full, 0, scenario=None)
        full.events += STORIES[name]().events
        full.write(folder / EVENTS)
    if match:
        seconds = float(match["seconds"])
        write_outcome(folder, solved(seconds) if match["solved"] == "+" else failed(seconds))
    elif text == "void":
        write_outcome(folder, Void(reason="the lane died"))


def _changed(story: Story, place: int, **changes: JsonValue) -> Story:
    t, event = story.events[place]
    story.events[place] = t, msgspec.structs.replace(event, **changes)
    return story
