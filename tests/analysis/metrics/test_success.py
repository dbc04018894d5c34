from tests.analysis.builders import RunFolder, failed, solved
from tests.analysis.metrics.conditions import figures, recovering, unhurt, value
from warex.analysis.stats.estimates import Rate
from warex.analysis.stats.paired import Delta
from warex.traces.outcome import Counted, Unscored


def test_the_difference_is_taken_over_pairs_only(folder: RunFolder) -> None:
    folder.trial("clean", "add", solved(), unhurt())
    folder.trial("clean", "never run otherwise", failed(), unhurt())
    folder.trial("server-error", "add", failed(), recovering())
    folder.trial("server-error", "move", solved(), recovering())

    assert figures(folder, "server-error").delta == Delta(-1, 1)


def test_trials_without_a_score_have_figures_but_no_success(folder: RunFolder) -> None:
    folder.trial("clean", "add", Unscored(ending="answered", latency_s=5), unhurt())

    row = figures(folder, "clean")

    assert (row.success.value, value(row.latency_s), value(row.llm_calls)) == (None, 5, 1)


def test_partial_scores_are_averaged_and_are_not_a_success(folder: RunFolder) -> None:
    half = Counted(ending="answered", score=0.5, latency_s=1)
    folder.trial("clean", "add", solved(), unhurt())
    folder.trial("clean", "move", half, unhurt())
    folder.trial("server-error", "add", solved(), unhurt())

    row = figures(folder, "clean")
    assert (row.success, row.score and row.score.value) == (Rate(1, 2), 0.75)
    # Where nothing was done in part, the score says no more than success does.
    assert figures(folder, "server-error").score is None
