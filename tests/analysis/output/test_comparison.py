from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.output.comparison import (
    ComparedAgent,
    Comparison,
    agents_to_compare,
    compare,
    comparison_data,
)
from warex.analysis.run.load import load_run
from warex.analysis.table.tabulate import tabulate
from warex.errors import InputError
from warex.llm.prices.table import Price, built_in_prices
from warex.traces.outcome import Void

FAULTS: dict[str, JsonValue] = {
    "conditions": [{"name": "clean"}, {"name": "server-error", "scenario": "x.yaml"}],
    "scenarios": {"server-error": {"rules": ["500"]}},
}


def reloads() -> Story:
    return Story().fault(1).thinks(1, "reload").page("x2").thinks(2, "send_msg_to_user").stops()


def gives_up() -> Story:
    return Story().fault(1).thinks(1, "report_infeasible").stops()


def run(
    folder: Path, under_fault: int, n: int = 12, clean: int = 12, agent: str = "a", seed: int = 7
) -> RunFolder:
    """Write a run in which so many of n tasks are solved under each condition."""
    made = RunFolder(folder, agent=agent).manifest(**FAULTS)
    for task in range(n):
        name = f"task-{task:02}"
        page = Story().page("x1").thinks(1, "send_msg_to_user").stops()
        made.trial("clean", name, solved() if task < clean else failed(), page, seed=seed)
        well = task < under_fault
        outcome, story = (solved(5.0), reloads()) if well else (failed(), gives_up())
        made.trial("server-error", name, outcome, story, seed=seed)
    return made


def compared(one: Path, other: Path, agents: tuple[str, str] = ("a", "a")) -> Comparison:
    return compare(
        ComparedAgent(load_run(one), agents[0]), ComparedAgent(load_run(other), agents[1])
    )


def test_a_clear_gain_is_better_and_the_same_the_other_way_is_worse(tmp_path: Path) -> None:
    run(tmp_path / "old", 2)
    run(tmp_path / "new", 12)

    gain = compared(tmp_path / "old", tmp_path / "new")
    loss = compared(tmp_path / "new", tmp_path / "old")

    assert gain.verdict == "better"
    assert loss.verdict == "worse"
    change = next(c for c in gain.changes if c.condition == "server-error")
    assert str(change.before) == "2/12"
    assert str(change.after) == "12/12"
    assert change.success
    assert (change.success.won, change.success.lost) == (10, 0)
    assert change.recovery
    assert change.recovery.value == pytest.approx(10 / 12)
    assert change.latency_s
    assert change.latency_s.value == pytest.approx(3 * 10 / 12)


def test_a_run_against_its_equal_cannot_be_distinguished(tmp_path: Path) -> None:
    run(tmp_path / "old", 6)
    run(tmp_path / "new", 6)

    same = compared(tmp_path / "old", tmp_path / "new")

    assert same.verdict == "cannot tell"
    assert same.why == "no difference in success was seen on these 12 tasks"


def test_a_small_gain_may_be_chance(tmp_path: Path) -> None:
    run(tmp_path / "old", 6)
    run(tmp_path / "new", 8)

    comparison = compared(tmp_path / "old", tmp_path / "new")

    assert comparison.verdict == "cannot tell"
    assert comparison.why == "+17 points over 12 pairs on these 12 tasks may be chance"
    assert (
        comparison.why_like_these == "+17 points over 12 pairs over 12 tasks (adjusted p = 0.500)"
    )


def test_better_here_and_worse_there_is_neither(tmp_path: Path) -> None:
    run(tmp_path / "old", 0, clean=12)
    run(tmp_path / "new", 12, clean=0)

    comparison = compared(tmp_path / "old", tmp_path / "new")

    assert comparison.verdict == "cannot tell"
    assert "better under server-error" in comparison.why
    assert "worse under clean" in comparison.why


def test_six_tasks_can_decide_and_clean_is_not_a_question(tmp_path: Path) -> None:
    run(tmp_path / "old", 0, n=6, clean=6)
    run(tmp_path / "new", 6, n=6, clean=6)

    comparison = compared(tmp_path / "old", tmp_path / "new")

    change = next(c for c in comparison.changes if c.condition == "server-error")
    assert change.success
    assert change.success.p == change.success.p_holm == (1 / 2) ** 6
    # Success and recovery are two chances to be lucky.
    assert comparison.recovered
    assert comparison.recovered.p_holm == pytest.approx(2 * (1 / 2) ** 6)
    assert comparison.verdict == "better"
    assert [c.success.p_holm for c in comparison.changes if c.success and c is not change] == [None]


def test_runs_without_faults_are_compared_under_clean(tmp_path: Path) -> None:
    for name, well in (("old", 0), ("new", 6)):
        made = RunFolder(tmp_path / name, agent="a").manifest(conditions=["no-proxy", "clean"])
        for task in map(str, range(6)):
            made.trial("no-proxy", task, solved())
            made.trial("clean", task, solved() if int(task) < well else failed())

    comparison = compared(tmp_path / "old", tmp_path / "new")

    assert (comparison.verdict, comparison.why) == (
        "better",
        "it solves more of these 6 tasks under clean",
    )


def test_other_faults_do_not_pair(tmp_path: Path) -> None:
    run(tmp_path / "old", 2)
    run(tmp_path / "new", 12, seed=8)

    with pytest.raises(InputError, match="share no trial"):
        compared(tmp_path / "old", tmp_path / "new")


def test_one_name_for_two_scenarios_is_not_one_condition(tmp_path: Path) -> None:
    run(tmp_path / "old", 2)
    other: dict[str, JsonValue] = {"server-error": {"rules": ["503"]}}
    run(tmp_path / "new", 12).manifest(conditions=FAULTS["conditions"], scenarios=other)

    comparison = compared(tmp_path / "old", tmp_path / "new")

    assert [change.condition for change in comparison.changes] == ["clean"]
    assert comparison.left_out[0].startswith("server-error is left out: its scenario")


def test_money_counted_at_other_prices_is_left_out_and_said(tmp_path: Path) -> None:
    run(tmp_path / "old", 2)
    run(tmp_path / "new", 12)
    same = compared(tmp_path / "old", tmp_path / "new")
    prices: JsonValue = {"scripted:*": {"input": 1, "output": 1}}
    RunFolder(tmp_path / "new").manifest(**FAULTS, prices=prices)
    apart = compared(tmp_path / "old", tmp_path / "new")

    assert all(change.cost_usd for change in same.changes)
    assert not any(change.cost_usd for change in apart.changes)
    assert all(change.llm_calls for change in apart.changes)
    text = "US dollars are left out: the campaigns name other prices."
    assert (text in same.left_out, text in apart.left_out) == (False, True)


def test_money_is_not_compared_where_price_tables_differ_on_a_used_model(
    tmp_path: Path,
) -> None:
    run(tmp_path / "old", 2)
    run(tmp_path / "new", 12)
    table = built_in_prices()
    other = table.with_own({"unasked": Price(input=1, output=1)})
    (tmp_path / "new" / "prices.json").write_bytes(other.json_bytes())
    same = compared(tmp_path / "old", tmp_path / "new")
    dearer = table.with_own({"gpt-4o": Price(input=3, output=10)})
    (tmp_path / "new" / "prices.json").write_bytes(dearer.json_bytes())
    apart = compared(tmp_path / "old", tmp_path / "new")

    assert (same.left_out, all(change.cost_usd for change in same.changes)) == ((), True)
    assert not any(change.cost_usd for change in apart.changes)
    (left_out,) = apart.left_out
    assert f"price tables, of {table.date} and {table.date}, differ on scripted:" in left_out


def test_a_scenarios_file_path_does_not_matter(tmp_path: Path) -> None:
    run(tmp_path / "old", 2)
    moved: list[JsonValue] = [{"name": "server-error", "scenario": "elsewhere/x.yaml"}]
    run(tmp_path / "new", 12).manifest(conditions=moved, scenarios=FAULTS["scenarios"])

    assert compared(tmp_path / "old", tmp_path / "new").left_out == ()


def test_a_trial_that_one_side_lacks_is_left_out_and_said(tmp_path: Path) -> None:
    run(tmp_path / "old", 2, n=12)
    run(tmp_path / "new", 10, n=10, clean=10)

    comparison = compared(tmp_path / "old", tmp_path / "new")

    assert comparison.left_out == ("4 trials are left out that one side lacks.",)


@pytest.mark.parametrize("side", ["old", "new"])
def test_a_trial_that_stayed_void_on_either_side_costs_its_own_pair_only(
    tmp_path: Path, side: str
) -> None:
    runs = {name: run(tmp_path / name, 6) for name in ("old", "new")}
    again = Story().page("x1").thinks(1, "send_msg_to_user").stops()
    runs[side].trial("server-error", "task-00", Void(reason="lane died"), attempt=2)
    runs[side].trial("no-proxy", "task-01", Void(reason="lane died"))
    runs[side].trial("clean", "task-02", Void(reason="lane died"), attempt=2)
    runs[side].trial("clean", "task-02", solved(), again, attempt=3)

    comparison = compared(tmp_path / "old", tmp_path / "new")

    assert [(c.condition, str(c.before), str(c.after)) for c in comparison.changes] == [
        ("clean", "12/12", "12/12"),
        ("server-error", "5/11", "5/11"),
    ]
    assert comparison.left_out == ("2 trials are left out that stayed void on either side.",)
    # As each side's own table has it.
    table = tabulate(load_run(runs[side].path))
    assert [str(row.success) for row in table.rows if row.n] == ["12/12", "5/11"]


def test_repeats_add_certainty_about_these_tasks_only(tmp_path: Path) -> None:
    for name in ("old", "new"):
        made = RunFolder(tmp_path / name, agent="a").manifest(**FAULTS)
        for task in range(4):
            for repeat in range(1, 6):
                outcome = solved() if name == "old" else failed()
                made.trial("server-error", f"t{task}", outcome, reloads(), repeat=repeat)

    comparison = compared(tmp_path / "old", tmp_path / "new")

    assert (comparison.verdict, comparison.why) == (
        "worse",
        "it solves fewer of these 4 tasks under server-error",
    )
    assert comparison.verdict_like_these == "cannot tell"
    data = comparison_data(comparison)
    assert (data["verdict"], data["verdict_like_these"]) == ("worse", "cannot tell")


def test_agents_are_those_named_or_shared_or_the_only_ones(tmp_path: Path) -> None:
    one = load_run(run(tmp_path / "one", 2, n=1, agent="a").path)
    other = load_run(run(tmp_path / "other", 2, n=1, agent="b").path)

    assert agents_to_compare(one, one, ("a", "a")) == [("a", "a")]
    assert agents_to_compare(one, other, (None, None)) == [("a", "b")]
    with pytest.raises(InputError, match="has no agent 'c'; there are: b"):
        agents_to_compare(one, other, (None, "c"))


def test_two_agents_of_one_run_must_be_named(tmp_path: Path) -> None:
    folder = run(tmp_path / "one", 2, n=1, agent="a")
    folder.trial("clean", "task-00", solved(), agent="b")
    both = load_run(folder.path)

    assert agents_to_compare(both, both, ("a", "b")) == [("a", "b")]
    with pytest.raises(InputError, match="say which agents are compared"):
        agents_to_compare(both, both, (None, None))


def test_the_json_has_every_figure(tmp_path: Path) -> None:
    run(tmp_path / "old", 2)
    run(tmp_path / "new", 12)

    data = comparison_data(compared(tmp_path / "old", tmp_path / "new"))

    assert data["verdict"] == "better"
    conditions = data["conditions"]
    assert isinstance(conditions, list)
    assert [c["condition"] for c in conditions if isinstance(c, dict)] == ["clean", "server-error"]
