import re
from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.output.thresholds import Scope, check_scopes, judge_run, parse_thresholds
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
def test_a_reached_threshold_holds(table: Table, expression: str) -> None:
    assert judge_run(table, expression).end == "holds"


def test_a_shortfall_names_row_value_and_bound(table: Table) -> None:
    judgement = judge_run(table, "success>=0.98")

    assert (judgement.end, judgement.unclear) == ("broken", ())
    assert judgement.broken == (
        "patient, server-error: success is 0.5 (1/2, 95 % interval 0.013 to 0.99, p = 0.040), not"
        " >= 0.98.",
    )


def test_a_shortfall_that_may_be_chance_is_undecided(table: Table) -> None:
    judgement = judge_run(table, "recovery>=0.8")

    assert (judgement.end, judgement.broken) == ("cannot tell", ())
    assert judgement.unclear == (
        "patient, server-error: recovery is 0.5 (1/2, 95 % interval 0.013 to 0.99, p ="
        " 0.360); that it is not >= 0.8 may be chance.",
    )


def test_a_gate_that_too_few_tasks_cannot_break_names_the_number_that_can(tmp_path: Path) -> None:
    demand = "success>=0.8"
    ends = {}
    for tasks in (2, 3):
        verdict = judge_run(_row_of_twelve(tmp_path / str(tasks), 0, n=tasks), demand)
        ends[tasks] = verdict.end
        if tasks == 2:
            assert all(
                sentence.endswith(
                    "that it is not >= 0.8 may be chance. No result of 2 tasks can break this"
                    " gate: it takes 3."
                )
                for sentence in verdict.unclear
            )
    assert ends == {2: "cannot tell", 3: "broken"}


def test_a_count_has_no_chance_in_it(table: Table) -> None:
    assert judge_run(table, "missed<=0 and delivered>=3").end == "broken"


def _row_of_twelve(tmp_path: Path, well: int, void: int = 0, n: int = 12) -> Table:
    folder = RunFolder(tmp_path).manifest(conditions=["clean", "one", "two", "three"])
    for task in map(str, range(n)):
        for condition in ("clean", "one", "two", "three"):
            outcome = solved() if int(task) < well or condition == "clean" else failed()
            lost = condition != "clean" and int(task) >= n - void
            folder.trial(condition, task, Void(reason="lane died") if lost else outcome)
    return tabulate(load_run(tmp_path))


def test_a_gate_on_more_rows_needs_a_greater_shortfall(tmp_path: Path) -> None:
    table = _row_of_twelve(tmp_path, 6)
    alone = judge_run(table, "one.success>=0.8")
    three = judge_run(
        table, " and ".join(f"{name}.success>=0.8" for name in ("one", "two", "three"))
    )
    assert (alone.end, three.end) == ("broken", "cannot tell")


def test_a_row_of_which_too_few_trials_count_neither_holds_nor_breaks(tmp_path: Path) -> None:
    judgement = judge_run(_row_of_twelve(tmp_path, 12, void=3), "one.success>=0.9")
    assert (judgement.end, judgement.unclear) == (
        "cannot tell",
        ("patient, one: success is 1, but only 9 of 12 trials count.",),
    )
    judgement = judge_run(_row_of_twelve(tmp_path / "b", 12, void=12), "one.success>=0.9")
    assert (judgement.end, judgement.unclear) == (
        "cannot tell",
        ("patient, one: success is not known: only 0 of 12 trials count.",),
    )


def test_a_void_costs_its_own_pair_only(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest(conditions=["clean", "one", "two", "three"])
    for task in range(12):
        for place, condition in enumerate(("clean", "one", "two", "three")):
            # Another task is lost under each condition: two of twelve pairs each.
            outcome = Void(reason="lane died") if task == place else solved()
            folder.trial(condition, str(task), outcome)
    table = tabulate(load_run(tmp_path))
    assert [row.delta.pairs for row in table.rows if row.delta] == [10, 10, 10]
    expression = " and ".join(f"{name}.delta>=-0.1" for name in ("one", "two", "three"))
    assert judge_run(table, expression).end == "holds"


def test_repeats_of_a_task_are_not_further_tasks(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest(conditions=["clean"])
    for task in range(6):
        for repeat in range(1, 6):
            outcome = solved() if task < 4 else failed()
            folder.trial("clean", str(task), outcome, repeat=repeat)
    table = tabulate(load_run(tmp_path))
    # Four of six tasks may be chance at 0.9; 20 of 30 trials apart were not.
    assert judge_run(table, "clean.success>=0.9").end == "cannot tell"
    assert judge_run(table, "clean.pass_k>=0.9").end == "cannot tell"


def test_a_threshold_without_condition_applies_to_rows_with_faults(table: Table) -> None:
    (broken,) = judge_run(table, "success>=0.98").broken
    assert broken.startswith("patient, server-error: ")


def test_what_is_not_known_is_not_reached(table: Table) -> None:
    (broken,) = judge_run(table, "server-error.recovery_s<=5 and server-error.score>=0.5").broken
    assert "score is not known (it was not recorded), so " in broken


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("clean.recovery>=0.5", "clean: no fault is injected here, so there is no recovery. Cond"),
        ("clean.r_fault>=0.5", "no fault is injected here"),
        ("clean.delta>=-0.5", "delta is a difference from clean, and this is clean itself"),
        ("no-proxy.steps<=100", "nothing is recorded without the proxy, so there is no steps"),
        ("no-proxy.exposure>=0.5", "no fault is injected here"),
    ],
)
def test_a_gate_without_data_is_refused(table: Table, expression: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        judge_run(table, expression)


def test_without_clean_there_is_no_difference_from_it() -> None:
    scopes = [Scope("a", "down", injects=True)]
    with pytest.raises(InputError, match="no such condition in this run"):
        check_scopes("delta>=-0.1", scopes)
    check_scopes("recovery>=0.8", scopes)


@pytest.mark.parametrize("expression", ["recovery>=0.5", "dead.success>=0.5", "success>=0.5"])
def test_a_gate_on_faults_that_can_never_hit_is_refused(expression: str) -> None:
    scopes = [
        Scope("a", "clean", injects=False),
        Scope("a", "dead", injects=True, inert="rule 'x' can never apply: its probability is 0"),
        Scope("a", "alive", injects=True),
    ]
    with pytest.raises(InputError, match=r"dead: none of its faults can ever hit \(rule 'x' can"):
        check_scopes(expression, scopes)
    check_scopes("alive.recovery>=0.5 and clean.success>=0.5", scopes)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("recovry>=0.8", "there is no metric 'recovry'; did you mean 'recovery'?"),
        ("zzz>=0.8", "There are: n, success, score, delta"),
        ("server-eror.recovery>=0.8", "did you mean 'server-error'?"),
        ("hasty/server-error.recovery>=0.8", "there is no condition 'hasty/server-error'"),
        ("recovery>=80%", "'80%' is not a number"),
        ("recovery>=nan", "'nan' is not a number"),
        ("recovery>=inf", "'inf' is not a number"),
        ("success>=80", r"success is from 0 to 1, so it cannot be >= 80; did you mean 0.8?"),
        ("clean.success>=100", "did you mean 1?"),
        ("recovery>=1.5", "recovery is from 0 to 1, so it cannot be >= 1.5."),
        ("success>1", "success is from 0 to 1, so it cannot be > 1."),
        ("success<0", "so it cannot be < 0."),
        ("success>=-0.1", "so it cannot be >= -0.1."),
        ("delta>=-10", "delta is from -1 to 1, so it cannot be >= -10; did you mean -0.1?"),
        ("cost_usd<=-1", "cost_usd is at least 0, so it cannot be <= -1."),
        ("delta_p_holm>=5", "did you mean 0.05?"),
        ("recovery=0.8", "is not a threshold"),
        ("", "is not a threshold"),
        ("recovery>=0.8 and", "is not a threshold"),
    ],
)
def test_what_is_not_a_demand_is_reported_with_what_is_allowed(
    table: Table, expression: str, message: str
) -> None:
    end = "$" if message.endswith("'?") else ""
    with pytest.raises(InputError, match=re.escape(message) + end):
        judge_run(table, expression)


def test_names_with_dots_and_plus_signs_are_separated_from_the_metric() -> None:
    (threshold,) = parse_thresholds("gpt-4.1/server-error+refresh.recovery>=0.8")
    assert (threshold.scope, threshold.metric) == ("gpt-4.1/server-error+refresh", "recovery")
    first, second = parse_thresholds("search and pay.success>=0.5 and delta>=-.1")
    assert (first.scope, second.bound) == ("search and pay", -0.1)
