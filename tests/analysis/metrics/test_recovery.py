from tests.analysis.builders import RunFolder, Story, failed, solved
from tests.analysis.metrics.conditions import figures, recovering, unhurt, value
from warex.analysis.stats.estimates import Rate


def test_a_failed_trial_healed_by_the_browser_lowers_the_recovery_rate(
    folder: RunFolder,
) -> None:
    healed = Story().thinks(1, "goto").fault(1, status=None).page("x2").stops()
    folder.trial("cut", "add", failed(), healed)
    folder.trial("cut", "share", solved(), healed)
    folder.trial("cut", "move", solved(), recovering())

    row = figures(folder, "cut")

    assert (row.recovery, row.healed, row.undecided) == (Rate(1, 2), 2, 1)


def test_tries_are_counted_for_every_judged_injection(
    folder: RunFolder,
) -> None:
    twice = Story().fault(1).thinks(1, "reload").fault(2).thinks(2, "reload").page("x3").stops()
    gives_up = Story().fault(1).thinks(1, "report_infeasible").stops()
    late = Story().asks("x1").planned("i1", "x1", effects=["delay"]).gets("x1")
    late.delivered("i1", "x1").thinks(1, "reload").page("x2").stops()
    folder.trial("clean", "add", solved(), unhurt())
    folder.trial("server-error", "add", solved(), twice)
    folder.trial("server-error", "move", failed(), gives_up)
    folder.trial("server-error", "share", solved(), late)

    # The first fault was followed by two right requests, the second by one, the third by none; what
    # only came late is not judged.
    tries = figures(folder, "server-error").tries
    assert tries is not None
    assert (tries.value, tries.n) == (1.0, 3)
    # Two tasks: Student's t with one degree of freedom says next to nothing.
    assert tries.interval is not None
    assert (tries.interval[0], tries.interval[1] > 3) == (0, True)
    assert figures(folder, "clean").tries is None


def test_strategies_are_counted_beside_what_trivial_agents_would_do(folder: RunFolder) -> None:
    blind = Story().thinks(1, "goto").fault(1, status=403)
    for number in (2, 3):
        blind.thinks(number, "reload").fault(number, status=403)
    folder.trial("down", "add", failed(), blind.stops())
    folder.trial("down", "move", failed(), Story().thinks(1, "goto").fault(1, status=403).stops())
    folder.trial("clean", "add", solved(), unhurt())
    folder.trial("clean", "move", solved(), unhurt())

    row, clean = figures(folder, "down"), figures(folder, "clean")

    assert (row.blind_retries, row.retries, row.early_retries) == (2, 2, 0)
    assert value(row.one_page_steps) == 1.0
    assert value(row.one_page_tokens) == 1.0
    assert clean.blind_retries is None
