from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.injections import Ledger
from warex.analysis.intervals import Rate
from warex.analysis.run import load_run
from warex.analysis.table import Delta, Table, tabulate
from warex.traces.outcome import Counted, Unscored, Void


def _table(folder: RunFolder) -> Table:
    return tabulate(load_run(folder.path))


def _recovering() -> Story:
    return Story().thinks(1, "goto").fault(1).thinks(2, "reload", (2000, 30)).page("x2").stops()


def _unhurt() -> Story:
    return Story().thinks(1, "goto").page("x1").stops()


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path).manifest()


def test_a_row_is_the_mean_of_its_trials(folder: RunFolder) -> None:
    folder.trial("clean", "add", solved(2), _unhurt())
    folder.trial("clean", "move", solved(4), _unhurt())
    folder.trial("server-error", "add", solved(6), _recovering())
    folder.trial("server-error", "move", failed(2), _unhurt())

    row = _table(folder).row("patient", "server-error")

    assert (row.n, row.success, row.latency_s) == (2, Rate(1, 2), 4)
    assert row.delta == Delta(-0.5, 2)
    assert (row.llm_calls, row.steps, row.input_tokens, row.output_tokens) == (1.5, 1.5, 2000, 25)
    assert row.usd == pytest.approx((4000 * 2.5 + 50 * 10) / 1e6 / 2)
    assert row.total_usd == pytest.approx((4000 * 2.5 + 50 * 10) / 1e6)
    assert (row.exposure, row.recovery) == (Rate(1, 2), Rate(1, 1))


def test_a_void_trial_never_counts_as_a_zero(folder: RunFolder) -> None:
    folder.trial("clean", "add", solved(), _unhurt())
    folder.trial("clean", "move", Void(reason="lane died"), _unhurt())

    row = _table(folder).row("patient", "clean")

    assert (row.n, row.success, row.voids) == (1, Rate(1, 1), 1)


def test_a_pair_that_stayed_void_is_left_out_of_every_condition(folder: RunFolder) -> None:
    for task in ("add", "move"):
        folder.trial("clean", task, solved(), _unhurt())
        folder.trial("clean", task, solved(), _unhurt(), agent="giveup")
        folder.trial("server-error", task, failed(), _recovering(), agent="giveup")
    folder.trial("server-error", "add", solved(), _recovering())
    folder.trial("server-error", "move", Void(reason="lane died"))

    table = _table(folder)

    assert [row.n for row in table.of("patient")] == [1, 1]
    assert [row.n for row in table.of("giveup")] == [2, 2]
    assert table.left_out == (("patient", ("testbed", "move", 1)),)


def test_a_void_attempt_followed_by_a_counted_one_leaves_nothing_out(folder: RunFolder) -> None:
    folder.trial("clean", "add", Void(reason="lane died"))
    folder.trial("clean", "add", solved(), _unhurt(), attempt=2)

    table = _table(folder)

    assert table.left_out == ()
    assert (table.row("patient", "clean").n, table.row("patient", "clean").voids) == (1, 1)


def test_the_difference_is_taken_over_pairs_only(folder: RunFolder) -> None:
    folder.trial("clean", "add", solved(), _unhurt())
    folder.trial("clean", "never run otherwise", failed(), _unhurt())
    folder.trial("server-error", "add", failed(), _recovering())
    folder.trial("server-error", "move", solved(), _recovering())

    assert _table(folder).row("patient", "server-error").delta == Delta(-1, 1)


def test_what_nobody_watched_is_unknown_and_not_zero(folder: RunFolder) -> None:
    folder.trial("no-proxy", "add", solved(2))

    row = _table(folder).row("patient", "no-proxy")

    assert (row.llm_calls, row.steps, row.input_tokens, row.usd) == (None, None, None, None)
    assert (row.recovery, row.exposure) == (None, None)
    assert (row.reloads, row.duplicated_writes, row.replayed_calls) == (None, None, None)
    assert (row.healed, row.undecided, row.ledger) == (None, None, None)
    assert row.latency_s == 2


def test_replayed_answers_count_in_means_but_not_in_what_was_paid(folder: RunFolder) -> None:
    replayed = Story().thinks(1, "goto", original=2.5).thinks(2, "click").page("x1").stops()
    folder.trial("clean", "add", solved(2), replayed)
    folder.trial("clean", "move", solved(4), _unhurt())

    row = _table(folder).row("patient", "clean")

    call = (1000 * 2.5 + 10 * 10) / 1e6
    assert row.usd == pytest.approx(3 * call / 2)
    assert row.total_usd == pytest.approx(2 * call)
    assert row.replayed_calls == 1
    assert row.latency_s == (2 + (2.5 - 0.5) + 4) / 2


def test_what_was_watched_and_did_not_happen_is_zero(folder: RunFolder) -> None:
    folder.trial("clean", "add", solved(), _unhurt())

    row = _table(folder).row("patient", "clean")

    assert (row.reloads, row.duplicated_writes, row.replayed_calls) == (0, 0, 0)
    assert (row.healed, row.undecided, row.ledger) == (0, 0, Ledger(0, 0, (), ()))


def test_the_proxy_effect_is_clean_minus_no_proxy(folder: RunFolder) -> None:
    folder.trial("no-proxy", "add", solved())
    folder.trial("clean", "add", failed(), _unhurt())

    assert _table(folder).proxy_effect == (("patient", Delta(-1, 1)),)


def test_a_fault_that_reaches_under_half_of_the_trials_is_called_out(folder: RunFolder) -> None:
    folder.trial("server-error", "add", solved(), _recovering())
    folder.trial("server-error", "move", solved(), _unhurt())
    assert _table(folder).underexposed == ()

    folder.trial("server-error", "share", solved(), _unhurt())
    assert [row.condition for row in _table(folder).underexposed] == ["server-error"]


def test_a_fault_healed_by_the_browser_lowers_the_recovery_rate_of_failed_trials(
    folder: RunFolder,
) -> None:
    healed = Story().thinks(1, "goto").fault(1, status=None).page("x2").stops()
    folder.trial("cut", "add", failed(), healed)
    folder.trial("cut", "share", solved(), healed)
    folder.trial("cut", "move", solved(), _recovering())

    row = _table(folder).row("patient", "cut")

    assert (row.recovery, row.healed, row.undecided) == (Rate(1, 2), 2, 1)


def test_tries_are_counted_for_each_judged_injection_whatever_came_of_it(
    folder: RunFolder,
) -> None:
    twice = Story().fault(1).thinks(1, "reload").fault(2).thinks(2, "reload").page("x3").stops()
    gives_up = Story().fault(1).thinks(1, "report_infeasible").stops()
    late = Story().asks("x1").planned("i1", "x1", effects=["delay"]).gets("x1")
    late.delivered("i1", "x1").thinks(1, "reload").page("x2").stops()
    folder.trial("clean", "add", solved(), _unhurt())
    folder.trial("server-error", "add", solved(), twice)
    folder.trial("server-error", "move", failed(), gives_up)
    folder.trial("server-error", "share", solved(), late)

    table = _table(folder)

    # The first fault was followed by two right requests, the second by one, the third by none; what
    # only came late is not judged.
    tries = table.row("patient", "server-error").tries
    assert tries is not None
    assert (tries.value, tries.n) == (1.0, 3)
    # Two tasks: Student's t with one degree of freedom says next to nothing.
    assert tries.interval is not None
    assert (tries.interval[0], tries.interval[1] > 3) == (0, True)
    assert table.row("patient", "clean").tries is None


def test_trials_without_a_score_have_figures_but_no_success(folder: RunFolder) -> None:
    folder.trial("clean", "add", Unscored(ending="answered", latency_s=5), _unhurt())

    row = _table(folder).row("patient", "clean")

    assert (row.success.value, row.latency_s, row.llm_calls) == (None, 5, 1)


def test_a_trial_without_an_outcome_is_counted_as_unfinished_only(folder: RunFolder) -> None:
    folder.trial("clean", "add", None, _unhurt())

    table = _table(folder)

    assert table.unfinished == 1
    assert table.row("patient", "clean").n == 0


def test_a_part_is_never_given_for_the_whole(folder: RunFolder) -> None:
    folder.trial("clean", "add", solved(), _unhurt())
    folder.trial("clean", "move", solved(), Story().thinks(1, "goto", model="house-model"))

    row = _table(folder).row("patient", "clean")

    assert (row.usd, row.total_usd) == (None, None)
    assert row.input_tokens == 1000

    folder.trial("clean", "share", solved())
    row = _table(folder).row("patient", "clean")
    assert (row.input_tokens, row.reloads, row.ledger) == (None, None, None)


def test_partial_scores_are_averaged_and_are_no_success(folder: RunFolder) -> None:
    half = Counted(ending="answered", score=0.5, latency_s=1)
    folder.trial("clean", "add", solved(), _unhurt())
    folder.trial("clean", "move", half, _unhurt())
    folder.trial("server-error", "add", solved(), _unhurt())

    table = _table(folder)

    row = table.row("patient", "clean")
    assert (row.success, row.score and row.score.value) == (Rate(1, 2), 0.75)
    # Where nothing was done in part, the score says no more than success does.
    assert table.row("patient", "server-error").score is None
