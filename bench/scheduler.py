"""What it costs to say which trial is next: a thousand lanes on a clock that nobody waits for.

No process runs: a lane is a number in a queue, and a trial is the time at which it ends.
"""

import gc
import heapq
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from statistics import median

from bench.row import Row
from bench.setting import Setting
from bench.turns import there_and_back
from warex.campaigns.config import CampaignConfig
from warex.campaigns.plan import ATTEMPTS, grid, waits_for
from warex.campaigns.schedule import Schedule, Turn
from warex.campaigns.spent import Spent
from warex.seeds import draw
from warex.traces import Counted, Outcome, TrialKey, Void

_LANES = 1000
_TIMES = 4
"""So many times the trials must not cost each trial more."""
_VOID = 0.01
"""Share of attempts that are void, and so made again."""
_CAMPAIGN = CampaignConfig.model_validate(
    {
        "name": "many",
        # Both make the schedule's work harder: trials that wait for others, and a sum to keep.
        "llm_cache": True,
        "budget": {"tokens": 10**15},
        "agents": [{"name": name, "model": "scripted:patient"} for name in ("one", "two")],
        "conditions": [
            {"name": "clean"},
            {"name": "clean-again", "control": True},
            {"name": "server-error", "scenario": "paper/server-error"},
            {"name": "network-error", "scenario": "paper/network-error"},
            {"name": "javascript-delay", "scenario": "paper/javascript"},
        ],
    }
)
_A_TASK = len(_CAMPAIGN.agents) * len(_CAMPAIGN.conditions)
_SOLVED = Counted(ending="answered", score=1.0, latency_s=30.0)
_SPENT = Spent(0.001, 1000)


@dataclass(slots=True)
class _Costs:
    """Seconds of the schedule's own work."""

    laying_out: float = 0.0
    turns: float = 0.0
    """Giving turns and taking in how they ended."""
    in_vain: float = 0.0
    """Telling lanes that there is nothing for them now: each trial's end wakes all that wait."""
    asked_in_vain: int = 0
    attempts: int = 0

    @property
    def growing(self) -> float:
        """What a larger campaign has more of: lanes ask in vain at its end only."""
        return self.laying_out + self.turns


def measure(setting: Setting) -> list[Row]:
    """Go through a campaign and one of four times the size, by turns; medians."""
    tasks, rounds = (100, 1) if setting.quick else (2500, 5)
    sizes = (tasks, _TIMES * tasks)
    costs: dict[int, list[_Costs]] = {size: [] for size in sizes}
    for order in there_and_back(sizes, rounds):
        for size in order:
            gc.collect()
            costs[size].append(_go(size))

    def each(size: int, seconds: Callable[[_Costs], float]) -> float:
        """Return a trial's microseconds."""
        return median(seconds(cost) for cost in costs[size]) / (size * _A_TASK) * 1e6

    small, large = sizes
    last = costs[large][-1]
    whole = each(large, lambda cost: cost.growing + cost.in_vain)
    growing = [each(size, lambda cost: cost.growing) for size in sizes]
    return [
        Row(
            "scheduler",
            f"{_LANES:,} lanes on a virtual clock: the schedule's own cost of a trial",
            whole / 1000,
            "ms",
            1,
            at_least=False,
            detail=f"{large * _A_TASK:,} trials, {last.attempts:,} attempts; {whole:.1f} µs are"
            f" {each(large, lambda cost: cost.laying_out):.1f} to lay the campaign out,"
            f" {each(large, lambda cost: cost.turns):.1f} for turns,"
            f" {each(large, lambda cost: cost.in_vain):.1f} for lanes that asked in vain"
            f" ({last.asked_in_vain:,} times)",
        ),
        Row(
            "scheduler-linear",
            f"a trial's cost to the schedule in a campaign {_TIMES} times as large",
            growing[1] / growing[0],
            "times",
            1.3,
            at_least=False,
            detail=f"{growing[0]:.1f} µs of {small * _A_TASK:,} trials, {growing[1]:.1f} µs of"
            f" {large * _A_TASK:,}; without lanes that asked in vain, which are as many in both",
        ),
    ]


def _go(tasks: int) -> _Costs:
    """Run a campaign of so many tasks through its schedule.

    Raises RuntimeError where a trial was not made, or made twice.
    """
    began = time.perf_counter()
    keys = grid(_CAMPAIGN, [f"task-{number}" for number in range(tasks)])
    schedule = Schedule(keys, after=waits_for(_CAMPAIGN, keys), budget=_CAMPAIGN.budget)
    lanes = _Lanes(schedule, _Costs(time.perf_counter() - began))
    while lanes.let_them_ask():
        lanes.end_the_next_trial()
    settled = Counter(lanes.settled)
    if not schedule.over or settled.keys() != set(keys) or settled.total() != len(keys):
        raise RuntimeError(
            f"of {len(keys):,} trials {len(settled):,} were made, {settled.total():,} times"
        )
    return lanes.costs


class _Lanes:
    """All lanes, and the time at which each one's trial ends."""

    def __init__(self, schedule: Schedule, costs: _Costs) -> None:
        self.costs = costs
        self.settled: list[TrialKey] = []
        """Trials that need no further attempt, as the schedule should see it."""
        self._schedule = schedule
        self._now = 0.0
        self._waiting = _LANES
        self._number = count()
        self._busy: list[tuple[float, int, Turn]] = []

    def let_them_ask(self) -> bool:
        """Have each lane that waits ask for a turn; return whether any lane has one."""
        for _ in range(self._waiting):
            began = time.perf_counter()
            turn = self._schedule.take(self._now)
            taken = time.perf_counter() - began
            if turn is None:
                self.costs.in_vain += taken
                self.costs.asked_in_vain += 1
                continue
            self.costs.turns += taken
            self.costs.attempts += 1
            self._waiting -= 1
            ends = self._now + 1 + 59 * _drawn("seconds", turn)
            heapq.heappush(self._busy, (ends, next(self._number), turn))
        return bool(self._busy)

    def end_the_next_trial(self) -> None:
        """Go on to the moment at which the next trial ends, and tell the schedule."""
        self._now, _, turn = heapq.heappop(self._busy)
        outcome: Outcome = _SOLVED
        if _drawn("void", turn) < _VOID:
            outcome = Void(reason=f"the site of {turn.key.task} does not come up")
        if outcome is _SOLVED or turn.voids + 1 == ATTEMPTS:
            self.settled.append(turn.key)
        began = time.perf_counter()
        self._schedule.done(turn, outcome, _SPENT)
        self.costs.turns += time.perf_counter() - began
        self._waiting += 1


def _drawn(what: str, turn: Turn) -> float:
    return draw(1, what, turn.key.agent, turn.key.condition, turn.key.task, turn.attempt)
