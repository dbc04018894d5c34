from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.inspect import inspect_trial
from warex.analysis.run import load_run
from warex.analysis.table import tabulate
from warex.report.columns import columns
from warex.report.terminal import render_inspect, render_table
from warex.traces.outcome import Void


def _printed(what: RenderableType, width: int) -> str:
    console = Console(file=StringIO(), width=width)
    console.print(what)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def _recovering() -> Story:
    return Story().thinks(1, "goto").fault(1).thinks(2, "reload", (2000, 30)).page("x2").stops()


@pytest.mark.parametrize("width", [80, 120])
def test_no_figure_is_cut_short_in_any_terminal(tmp_path: Path, width: int) -> None:
    folder = RunFolder(tmp_path).manifest()
    folder.trial("no-proxy", "add", solved())
    folder.trial("javascript-failure", "add", solved(), _recovering())
    run = load_run(tmp_path)

    lines = _printed(render_table(run), width).splitlines()

    for row in tabulate(run).rows:
        here = " ".join(line for line in lines if line.startswith(row.condition))
        for column in columns("n", "success", "Δ clean", "RR", "latency", "cost", "exposure"):
            assert column.fill(row).text in here, (row.condition, column.title)


def test_names_that_begin_alike_are_told_apart_in_a_narrow_terminal(tmp_path: Path) -> None:
    names = ["a-very-long-name-of-a-condition", "a-very-long-name-of-a-condition+hint"]
    folder = RunFolder(tmp_path).manifest(conditions=[*names])
    for name in names:
        folder.trial(name, "add", solved(), _recovering())

    text = _printed(render_table(load_run(tmp_path)), 80)

    assert "…" not in text
    assert "".join(line[:8].strip() for line in text.splitlines()).count("hint") >= 1


def test_where_words_and_network_disagree_an_inspection_and_the_table_say_so(
    tmp_path: Path,
) -> None:
    story = Story().fault(1).thinks(1, "noop").page("x2").thinks(2, "send_msg_to_user").stops()
    folder = RunFolder(tmp_path).manifest().trial("server-error", "add", solved(), story)

    text = _printed(render_inspect(inspect_trial(folder)), 200)

    assert "The right request was made, though the model chose noop at step 1 [" in text
    assert "In 1 injection the model's words and the network" in _printed(
        render_table(load_run(tmp_path)), 200
    )


def test_conditions_stand_in_the_campaign_s_order_in_a_block_for_each_agent(
    tmp_path: Path,
) -> None:
    folder = RunFolder(tmp_path).manifest(conditions=["server-error", "network-error"])
    for condition in ("network-error", "server-error", "clean", "no-proxy"):
        folder.trial(condition, "add", solved(), None)
        folder.trial(condition, "add", failed(), None, agent="giveup")

    lines = _printed(render_table(load_run(tmp_path)), 120).splitlines()
    lines = lines[next(n for n, line in enumerate(lines) if line.strip() == "giveup") :]
    names = [line.split()[0] for line in lines if line.strip()]
    first = names[: names.index("network-error") + 1]
    first += names[names.index("patient") :][:9]

    order = ["no-proxy", "clean", "server-error", "network-error"]
    assert [word for word in first if word in ("giveup", "patient", *order)] == [
        "giveup",
        *order,
        "patient",
        *order,
    ]


def test_markup_in_names_is_text(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).trial("[red]odd[/red]", "[bold]add", solved(), _recovering())

    assert "[red]odd[/red]" in _printed(render_table(load_run(tmp_path)), 120)
    assert "[bold]add" in _printed(render_inspect(inspect_trial(folder)), 120)


def test_an_inspection_leads_from_each_number_to_its_line(tmp_path: Path) -> None:
    outcome = solved(3, "The event stands in the calendar.")
    folder = RunFolder(tmp_path).manifest().trial("server-error", "add", outcome, _recovering())

    text = _printed(render_inspect(inspect_trial(folder)), 200)

    assert "[5] → delivered [7] held 0.50 s" in text
    assert "(LLM call [8], request [10]) It took 3.0 s, 1 step, 2,030 tokens." in text
    assert "(2000 in at $2.5 + 30 out at $10) / 1,000,000 = $0.005300" in text
    assert "The event stands in the calendar." in text


def test_an_inspection_of_a_void_says_why_and_invents_no_figures(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).trial("no-proxy", "add", Void(reason="lane died"))

    text = _printed(render_inspect(inspect_trial(folder)), 120)

    assert "void: lane died" in text
    assert "—" in text
    assert "$0" not in text
