from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.output.thresholds import (
    failed_thresholds,
    inconclusive_thresholds,
    parse_thresholds,
)
from warex.analysis.run.load import load_run
from warex.analysis.table.tabulate import Table, tabulate
from warex.errors import InputError
from warex.traces.outcome import Void


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Clean 2 of 2, server-error 1 of 2, of which one recovered; under no-proxy nobody watched."""
    folder = RunFolder(tmp_path).manifest()
    plain = Story().thinks(1, "goto").page("x1").stops()
    good = Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2").stops()
    bad = Story().thinks(1, "goto").fault(1).thinks(2, "report_infeasible").stops()
    for task in ("add", "move"):
        folder.trial("no-proxy", task, solved())
        folder.trial("clean", task, solved(), plain)
    folder.trial("server-error", "add", solved(), good)
    folder.trial("server-error", "move", failed(), bad)
    return tabulate(load_run(tmp_path))


@pytest.mark.parametrize(
    "expression",
    [
        "recovery>=0.5",
        "success >= 0.5",
        "delta>=-0.5",
        "clean.success>=1 and server-error.recovery>0.4",
        "patient/server-error.success<=0.5, patient/clean.success>=0.9",
        "premature_stop<=0.5,duplicated_writes<=0",
        "clean.duplicated_writes<=0 and no-proxy.voids<=0",
    ],
)
def test_what_is_reached_falls_short_nowhere(table: Table, expression: str) -> None:
    assert failed_thresholds(table, expression) == ()


def test_a_shortfall_names_row_figure_and_bound(table: Table) -> None:
    (found,) = failed_thresholds(table, "clean.success>=0.9 and recovery>=0.95")

    assert found == (
        "patient, server-error: recovery is 0.5 (1/2, 95 % interval 0.095 to 0.91), not >= 0.95."
    )


def test_what_may_be_chance_is_said_and_passes(table: Table) -> None:
    demand = "clean.success>=0.9 and recovery>=0.8"
    assert failed_thresholds(table, demand) == ()
    assert inconclusive_thresholds(table, demand) == (
        "patient, server-error: recovery is 0.5 (1/2, 95 % interval 0.095 to 0.91); that it is not"
        " >= 0.8 may be chance.",
    )
    assert inconclusive_thresholds(table, "recovery>=0.5 and recovery>=0.95") == ()


def test_the_more_rows_are_held_against_bounds_the_more_a_shortfall_takes(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest(conditions=["clean", "one", "two", "three"])
    for task in map(str, range(12)):
        for condition in ("clean", "one", "two", "three"):
            folder.trial(condition, task, solved() if int(task) < 6 else failed())
    table = tabulate(load_run(tmp_path))
    assert len(failed_thresholds(table, "one.success>=0.74")) == 1
    assert (
        failed_thresholds(
            table, " and ".join(f"{name}.success>=0.74" for name in ("one", "two", "three"))
        )
        == ()
    )


def test_a_row_of_which_too_few_trials_count_reaches_nothing(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    for task in map(str, range(10)):
        folder.trial("clean", task, solved() if int(task) < 7 else Void(reason="lane died"))
    (found,) = failed_thresholds(tabulate(load_run(tmp_path)), "clean.success>=0.9")
    assert found == "patient, clean: success is 1, but only 7 of 10 trials count."


def test_without_a_condition_only_rows_with_faults_are_held_against_it(table: Table) -> None:
    (found,) = failed_thresholds(table, "success>=1.1")
    assert found.startswith("patient, server-error: ")


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("clean.recovery>=0", "no fault is injected here"),
        ("clean.delta>=-1", "it is clean itself"),
        ("no-proxy.steps<=100", "it was not recorded"),
        ("no-proxy.duplicated_writes<=0", "it was not recorded"),
    ],
)
def test_what_is_not_known_is_not_reached(table: Table, expression: str, why: str) -> None:
    (found,) = failed_thresholds(table, expression)
    assert "is not known" in found
    assert why in found


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("recovry>=0.8", "there is no metric 'recovry'; did you mean 'recovery'"),
        ("zzz>=0.8", "There are: n, success, score, delta"),
        ("server-eror.recovery>=0.8", "did you mean 'server-error'"),
        ("hasty/server-error.recovery>=0.8", "there is no condition 'hasty/server-error'"),
        ("recovery>=80%", "'80%' is no number"),
        ("recovery>=nan", "'nan' is no number"),
        ("recovery=0.8", "is no threshold"),
        ("", "is no threshold"),
        ("recovery>=0.8 and", "is no threshold"),
    ],
)
def test_what_is_no_demand_is_told_with_what_is_allowed(
    table: Table, expression: str, message: str
) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        failed_thresholds(table, expression)


def test_names_with_dots_and_plus_signs_are_told_from_the_metric() -> None:
    (found,) = parse_thresholds("gpt-4.1/server-error+refresh.recovery>=0.8")
    assert (found.scope, found.metric) == ("gpt-4.1/server-error+refresh", "recovery")
    first, second = parse_thresholds("search and pay.success>=0.5 and delta>=-.1")
    assert (first.scope, second.bound) == ("search and pay", -0.1)
