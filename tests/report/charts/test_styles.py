from tests.report.builders import row, run, table
from warex.analysis.stats.estimates import Rate
from warex.report.charts.bars import ChartRow
from warex.report.charts.styles import condition_styles, groups

FAULTY = Rate(1, 2)


def test_one_scenario_has_one_hue_and_a_defence_is_hatched() -> None:
    look = condition_styles(
        table(
            row("no-proxy"),
            row("clean"),
            row("again", control=True),
            row("hint", defence="refresh"),
            row("down", scenario="paper/server-error", exposure=FAULTY),
            row("down+hint", scenario="paper/server-error", defence="refresh", exposure=FAULTY),
            row("slow", scenario="paper/slow", exposure=FAULTY),
        )
    )

    assert [look[c].hue for c in ("no-proxy", "clean", "again", "hint")] == [0, 0, 0, 0]
    assert look["down"].hue == look["down+hint"].hue
    assert look["down"].hue not in (0, look["slow"].hue)
    assert [c for c in look if look[c].hatched] == ["no-proxy", "hint", "down+hint"]


def test_a_scenario_without_a_name_is_one_of_its_own() -> None:
    look = condition_styles(table(row("a", exposure=FAULTY), row("b", exposure=FAULTY)))

    assert len({look["a"].hue, look["b"].hue, 0}) == 3


def test_an_agent_without_an_entry_has_no_group() -> None:
    rows = (row("clean"), row("clean", agent="hasty"))
    result = groups(
        run(*rows),
        table(*rows),
        lambda each, _: ChartRow("clean", 1, "1") if each.agent == "hasty" else None,
    )

    assert [group.name for group in result] == ["hasty"]
    assert result[0].shape == 1
