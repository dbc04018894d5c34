import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.inspection.timeline import inspect_trial
from warex.analysis.metrics.row import METRICS
from warex.analysis.run.load import Run, load_run
from warex.analysis.table.tabulate import tabulate
from warex.report.tables.columns import text
from warex.report.terminal.inspection import render_inspect
from warex.report.terminal.run_report import render_overview, render_table


def _printed(what: RenderableType, width: int) -> str:
    console = Console(file=StringIO(), width=width)
    console.print(what)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def _plain() -> Story:
    return Story().thinks(1, "goto").page("x1").stops()


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
        for metric in METRICS:
            if metric.screen not in (None, "streaming", "lies"):
                words = text(metric, row)
                # The interval of what stands beside success elsewhere is told there.
                assert words in here, (row.condition, metric.key)


def test_names_that_begin_alike_are_distinguished_in_a_narrow_terminal(tmp_path: Path) -> None:
    names = ["a-very-long-name-of-a-condition", "a-very-long-name-of-a-condition+hint"]
    folder = RunFolder(tmp_path).manifest(conditions=[*names])
    for name in names:
        folder.trial(name, "add", solved(), _recovering())

    text = _printed(render_table(load_run(tmp_path)), 80)

    assert "…" not in text
    assert "condition+hint" in text


LONG = {
    "agent": "browser-use_with-a-very-long-name/gpt-4o-mini-2024-07-18",
    "condition": "javascript-failure-on-every-checkout-page+refresh-hint",
    "task": "webarena.reddit.1234-post-an-answer-to-the-oldest-question",
}


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("render", [render_overview, render_table])
def test_long_names_wrap_at_the_ends_of_words(
    tmp_path: Path, width: int, render: Callable[[Run], RenderableType]
) -> None:
    folder = RunFolder(tmp_path).manifest(conditions=["clean", LONG["condition"]])
    for condition in ("clean", LONG["condition"]):
        for number in range(3):
            folder.trial(
                condition, f"{LONG['task']}-{number}", solved(), _recovering(), agent=LONG["agent"]
            )

    lines = _printed(render(load_run(tmp_path)), width).splitlines()

    assert max(map(len, lines)) <= width
    words = set(re.findall(r"[A-Za-z]+", " ".join(lines)))
    parts = {
        word for name in ("agent", "condition") for word in re.findall("[A-Za-z]+", LONG[name])
    }
    assert parts <= words


def test_the_overview_fits_one_screen_without_statistics(
    tmp_path: Path,
) -> None:
    conditions = ["no-proxy", "clean", "network-error", "server-error", "javascript-failure"]
    folder = RunFolder(tmp_path).manifest(conditions=[*conditions])
    for agent in ("giveup", "patient"):
        for condition in conditions:
            for number in range(8):
                outcome = failed() if (agent, condition) == ("giveup", "server-error") else solved()
                story = _recovering() if condition in conditions[2:] else _plain()
                folder.trial(condition, f"t{number}", outcome, story, agent=agent)

    screen = _printed(render_overview(load_run(tmp_path)), 80)
    message = " ".join(screen.split())

    assert len(screen.splitlines()) <= 26
    assert (
        "giveup (scripted) success 8/8 under clean; on tasks like these: falls under server-error;"
        " inconclusive: n" in message
    )
    assert "tasks lost 8 of 24 trials under faults failed a task solved under clean." in message
    assert "recovered 24 of 24 trials that had to recover from a fault did so." in message
    assert "cost nothing was paid: the model is scripted." in message
    assert re.search(r"giveup +server-error +0/8 +8 +8/8 +2\.0 +as if \$", screen)
    assert "adjusted p" not in message
    assert "[" not in message


def test_words_that_disagree_with_the_network_are_reported(
    tmp_path: Path,
) -> None:
    story = Story().fault(1).thinks(1, "noop").page("x2").thinks(2, "send_msg_to_user").stops()
    folder = RunFolder(tmp_path).manifest().trial("server-error", "add", solved(), story)

    text = _printed(render_inspect(inspect_trial(folder)), 200)

    assert "The right request was made, though the model chose noop at step 1 [" in text
    assert "In 1 injection the model's words and the network" in _printed(
        render_overview(load_run(tmp_path)), 200
    )


def test_conditions_keep_the_campaigns_order_for_each_agent(
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


def test_statistics_give_the_speed_of_streaming_models_only(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    streamed = Story().thinks(1, "goto", stream=True).page("x1").stops()
    folder.trial("clean", "add", solved(), streamed)
    folder.trial("clean", "add", solved(), _plain(), agent="hasty")
    run = load_run(tmp_path)

    patient, hasty = (
        " ".join(_printed(render_table(run), 80).partition(name)[2].split())
        for name in ("\npatient", "\nhasty")
    )

    # Of its ten tokens the first comes after 0.4 s, and the last at half a second.
    assert "condition success first token tokens/s" in patient.partition("hasty")[0]
    assert "clean 1/1 100 % 0.4 s 100.0" in patient.partition("hasty")[0]
    assert "first token" not in hasty.partition("patient")[0]


def test_a_lies_outcome_is_in_statistics_and_inspection(tmp_path: Path) -> None:
    lied = Story().thinks(1, "goto").page("x0").lied(1, "12.50", "13.50")
    lied.thinks(2, "send_msg_to_user", arguments=["13.50"]).stops()
    folder = RunFolder(tmp_path).manifest()
    attempt = folder.trial("lies", "add", failed(), lied)
    plain = RunFolder(tmp_path / "plain").manifest()
    plain.trial("clean", "add", solved(), _plain())

    assert "lie passed on" in _printed(render_inspect(inspect_trial(attempt)), 120)
    reported = _printed(render_table(load_run(tmp_path)), 120)
    # Whoever passes on what is not true claims a success.
    assert re.search(r"condition +success +false success +lies", reported)
    assert "passed on 1" in reported
    assert "lies" not in _printed(render_table(load_run(plain.path)), 120)


def test_statistics_have_detection_and_endings(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    folder.trial("clean", "add", solved(), _plain())
    folder.trial("server-error", "add", solved(), _recovering())
    folder.trial("server-error", "move", failed(), _recovering())

    lines = _printed(render_table(load_run(tmp_path)), 120).splitlines()

    rows = [" ".join(line.split()) for line in lines]
    # Success; detected; false success; reloads; duplicated writes.
    assert "server-error 1/2 50 % 2/2 100 % 0/2 0 % 2 0" in rows
    # Success; retries; blind and early ones; the share of the steps on one page.
    assert "server-error 1/2 50 % 2 0 0 1.00" in rows
    # Success; answered; reported infeasible.
    assert "server-error 1/2 50 % 1 1" in rows
