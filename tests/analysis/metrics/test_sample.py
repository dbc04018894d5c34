from tests.analysis.builders import RunFolder, Story, solved
from tests.analysis.metrics.conditions import figures, unhurt, value
from warex.analysis.metrics.metric import Counts


def test_unrecorded_figures_are_unknown_and_not_zero(folder: RunFolder) -> None:
    folder.trial("no-proxy", "add", solved(2))

    row = figures(folder, "no-proxy")

    assert (row.llm_calls, row.steps, row.input_tokens, row.cost_usd) == (None, None, None, None)
    assert (row.recovery, row.exposure) == (None, None)
    assert (row.reloads, row.duplicated_writes, row.replayed_calls) == (None, None, None)
    assert (row.healed, row.undecided) == (None, None)
    assert (row.planned, row.delivered, row.missed, row.skipped) == (None, None, None, None)
    assert value(row.latency_s) == 2


def test_recorded_figures_without_events_are_zero(folder: RunFolder) -> None:
    folder.trial("clean", "add", solved(), unhurt())

    row = figures(folder, "clean")

    assert (row.reloads, row.duplicated_writes, row.replayed_calls) == (0, 0, 0)
    assert (row.healed, row.undecided) == (0, 0)
    assert (row.planned, row.delivered, row.missed, row.skipped) == (0, 0, 0, Counts(()))


def test_a_part_is_never_given_for_the_whole(folder: RunFolder) -> None:
    folder.trial("clean", "add", solved(), unhurt())
    folder.trial("clean", "move", solved(), Story().thinks(1, "goto", model="house-model"))

    row = figures(folder, "clean")

    assert (row.cost_usd, row.paid_usd) == (None, None)
    assert value(row.input_tokens) == 1000

    folder.trial("clean", "share", solved())
    row = figures(folder, "clean")
    assert (row.input_tokens, row.reloads, row.planned) == (None, None, None)
