from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, failed, solved
from tests.analysis.metrics.conditions import recovering, unhurt, value
from warex.analysis.run.load import load_run
from warex.analysis.stats.estimates import Rate
from warex.analysis.stats.paired import Delta
from warex.analysis.table.tabulate import Table, tabulate
from warex.traces.outcome import Void


def _table(folder: RunFolder) -> Table:
    return tabulate(load_run(folder.path))


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path).manifest()


def test_a_row_is_the_mean_of_its_trials(folder: RunFolder) -> None:
    folder.trial("clean", "add", solved(2), unhurt())
    folder.trial("clean", "move", solved(4), unhurt())
    folder.trial("server-error", "add", solved(6), recovering())
    folder.trial("server-error", "move", failed(2), unhurt())

    row = _table(folder).row("patient", "server-error")

    assert (row.n, row.success, value(row.latency_s)) == (2, Rate(1, 2), 4)
    assert row.delta == Delta(-0.5, 2)
    means = (row.llm_calls, row.steps, row.input_tokens, row.output_tokens)
    assert tuple(map(value, means)) == (1.5, 1.5, 2000, 25)
    assert value(row.cost_usd) == pytest.approx((4000 * 2.5 + 50 * 10) / 1e6 / 2)
    assert row.paid_usd == pytest.approx((4000 * 2.5 + 50 * 10) / 1e6)
    assert (row.exposure, row.recovery) == (Rate(1, 2), Rate(1, 1))


def test_a_void_trial_never_counts_as_a_zero(folder: RunFolder) -> None:
    folder.trial("clean", "add", solved(), unhurt())
    folder.trial("clean", "move", Void(reason="lane died"), unhurt())

    row = _table(folder).row("patient", "clean")

    assert (row.n, row.success, row.voids) == (1, Rate(1, 1), 1)


def test_a_trial_that_stayed_void_costs_its_own_pair_only(folder: RunFolder) -> None:
    for task in ("add", "move"):
        folder.trial("clean", task, solved(), unhurt())
        folder.trial("clean", task, solved(), unhurt(), agent="giveup")
        folder.trial("server-error", task, failed(), recovering(), agent="giveup")
    folder.trial("server-error", "add", solved(), recovering())
    folder.trial("server-error", "move", Void(reason="lane died"))

    table = _table(folder)

    assert [row.n for row in table.of("patient")] == [2, 1]
    assert [row.delta.pairs for row in table.rows if row.delta] == [2, 1]
    assert [row.n for row in table.of("giveup")] == [2, 2]
    assert table.left_out == (("patient", "server-error", ("testbed", "move", 1)),)


def test_a_void_attempt_followed_by_a_counted_one_leaves_nothing_out(folder: RunFolder) -> None:
    folder.trial("clean", "add", Void(reason="lane died"))
    folder.trial("clean", "add", solved(), unhurt(), attempt=2)

    table = _table(folder)

    assert table.left_out == ()
    assert (table.row("patient", "clean").n, table.row("patient", "clean").voids) == (1, 1)


def test_the_proxy_effect_is_clean_minus_no_proxy(folder: RunFolder) -> None:
    folder.trial("no-proxy", "add", solved())
    folder.trial("clean", "add", failed(), unhurt())

    assert _table(folder).proxy_effect == (("patient", Delta(-1, 1)),)


def test_a_fault_that_reaches_under_half_of_the_trials_is_called_out(folder: RunFolder) -> None:
    folder.trial("server-error", "add", solved(), recovering())
    folder.trial("server-error", "move", solved(), unhurt())
    assert _table(folder).underexposed == ()

    folder.trial("server-error", "share", solved(), unhurt())
    assert [row.condition for row in _table(folder).underexposed] == ["server-error"]


def test_a_trial_without_an_outcome_is_counted_as_unfinished_only(folder: RunFolder) -> None:
    folder.trial("clean", "add", None, unhurt())

    table = _table(folder)

    assert table.unfinished == 1
    assert table.row("patient", "clean").n == 0


def test_p_is_adjusted_over_all_agents_and_contrasts_over_all_conditions(folder: RunFolder) -> None:
    for task in map(str, range(8)):
        for agent in ("patient", "giveup"):
            folder.trial("clean", task, solved(), unhurt(), agent=agent)
            outcome = solved() if agent == "patient" else failed()
            folder.trial("server-error", task, outcome, recovering(), agent=agent)

    table = _table(folder)

    lost = table.row("giveup", "server-error").delta
    assert lost is not None
    assert (lost.p, lost.p_holm, lost.p_these_holm) == (2**-8, 2 * 2**-8, 2 * 2**-8)
    # Success under two conditions, and recovery, which is the same for both.
    family = [(one.condition, one.figure, one.p, one.p_holm) for one in table.contrasts]
    assert family == [
        ("clean", "success", 1, 1),
        ("server-error", "success", 2**-8, 3 * 2**-8),
        ("server-error", "recovery", 1, 1),
    ]
    assert all(one.paired and one.paired.p_holm == one.p_holm for one in table.contrasts)
