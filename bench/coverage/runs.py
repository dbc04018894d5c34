"""Simulated whole runs: what a report, a gate and a comparison say of agents that do not differ."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.coverage.differences import Rates, Rng
from warex.analysis.output.comparison import ComparedAgent, compare
from warex.analysis.output.comparison_gate import judge_comparisons
from warex.analysis.output.thresholds import judge_run
from warex.analysis.run.load import Run
from warex.analysis.stats.proportions import ALPHA
from warex.analysis.table.tabulate import tabulate
from warex.analysis.trial.behaviour import Behaviour
from warex.analysis.trial.record import TrialRecord
from warex.llm.prices.table import built_in_prices
from warex.traces import CLEAN
from warex.traces.outcome import Counted, Void
from warex.traces.paths import TrialKey

FAULTS = ("one", "two", "three")


def simulated_run(rng: Rng, shares: Mapping[str, Rates], repeats: int, void: float = 0.0) -> Run:
    """Return a run under clean and three faults that change nothing.

    ``shares`` are the probabilities of each agent to solve each task; ``void`` is that of a trial
    to stay void.
    """
    return Run(
        path=Path(),
        manifest=None,
        attempts=tuple(_trials(rng, shares, repeats, void)),
        agents=tuple(shares),
        conditions=(CLEAN, *FAULTS),
        prices=built_in_prices(),
    )


def _trials(
    rng: Rng, shares: Mapping[str, Rates], repeats: int, void: float
) -> Iterator[TrialRecord]:
    for agent, of_tasks in shares.items():
        for condition in (CLEAN, *FAULTS):
            for task, share in enumerate(of_tasks.tolist()):
                for repeat in range(1, repeats + 1):
                    solved, lost = rng.random(2) < (share, void)
                    yield TrialRecord(
                        key=TrialKey("b", agent, condition, f"{task:03}", repeat),
                        attempt=1,
                        path=Path(),
                        outcome=Void(reason="lost")
                        if lost
                        else Counted(ending="answered", score=float(solved), latency_s=1.0),
                        seed=1,
                        has_faults=condition != CLEAN,
                        llm=None,
                        injections=(),
                        skipped=(),
                        recoveries=(),
                        behaviour=Behaviour(),
                        false_success=None,
                        canary=None,
                        harness_broke=(),
                        truncated=None,
                        site=None,
                        has_trace=False,
                    )


def harmless_breaks(
    rng: Rng, draws: int, tasks: int, repeats: int, void: float
) -> tuple[float, float, float]:
    """Return how often gates break though nothing changes.

    Of ``delta>=-0.1`` on a run with three faults, of the same on a comparison with an equal run,
    and of the verdict *worse* of that comparison.
    """
    broken = [0, 0, 0]
    for _ in range(draws):
        shares = {"agent": rng.beta(2, 0.6, tasks)}
        before, after = (simulated_run(rng, shares, repeats, void) for _ in range(2))
        comparison = compare(ComparedAgent(before, "agent"), ComparedAgent(after, "agent"))
        broken[0] += judge_run(tabulate(after), "delta>=-0.1").end == "broken"
        broken[1] += judge_comparisons([comparison], "delta>=-0.1").end == "broken"
        broken[2] += comparison.verdict == "worse"
    return broken[0] / draws, broken[1] / draws, broken[2] / draws


def false_tables(
    rng: Rng, draws: int, tasks: int, repeats: int
) -> tuple[float, float, float, float]:
    """Return how often a table of three equal agents under three faults shows some p below 5 %.

    Of contrasts between agents, raw and adjusted, and of differences from clean on tasks like these
    and on the very tasks, both adjusted.
    """
    shown = [0, 0, 0, 0]
    for _ in range(draws):
        share = rng.beta(2, 1, tasks)
        table = tabulate(simulated_run(rng, dict.fromkeys("abc", share), repeats))
        deltas = [row.delta for row in table.rows if row.delta]
        shown[0] += _some([contrast.p for contrast in table.contrasts])
        shown[1] += _some([contrast.p_holm for contrast in table.contrasts])
        shown[2] += _some([delta.p_holm for delta in deltas])
        shown[3] += _some([delta.p_these_holm for delta in deltas])
    return shown[0] / draws, shown[1] / draws, shown[2] / draws, shown[3] / draws


def _some(ps: Sequence[float | None]) -> bool:
    return any(p is not None and p < ALPHA for p in ps)
