import pytest

from tests.report.builders import mean, row, run, shapes, table
from warex.report.charts.conditions import effort, effort_panels

ROWS = (
    row("no-proxy", 4, 4, latency_s=mean(10.0)),
    row(
        "clean",
        2,
        4,
        latency_s=mean(20.0, 15.0, 25.0),
        llm_calls=mean(3.0),
        cost_usd=mean(0.02),
    ),
)


def test_there_are_the_four_panels_of_the_paper() -> None:
    four = effort_panels(run(*ROWS), table(*ROWS))

    assert [c.title for c in four] == ["(a) Success", "(b) Latency", "(c) LLM calls", "(d) Cost"]
    assert [len(shapes(chart, "bar")) for chart in four] == [2, 2, 1, 1]


def test_bars_are_as_long_as_their_means() -> None:
    _, latency, _, _ = effort_panels(run(*ROWS), table(*ROWS))
    short, long = shapes(latency, "bar")

    if "tint-0" not in short.look:
        short, long = long, short
    assert long["width"] == pytest.approx(2 * short["width"])
    assert shapes(latency, "rod")


def test_the_one_figure_holds_all_four() -> None:
    full = effort(run(*ROWS), table(*ROWS))

    assert len(shapes(full, "bar")) == 6
    assert "(d) Cost: patient: no-proxy —; clean $0.0200." in full.description
