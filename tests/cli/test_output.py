"""Nothing of strangers is obeyed by the terminal or read as markup, whatever command shows it."""

import ast
import re
from pathlib import Path

import click
import pytest

import warex
from tests.analysis.builders import SHOP, RunFolder, Story, solved
from tests.cli.conftest import Warex
from warex.campaigns.run.schedule import AttemptDone
from warex.cli.campaigns.live_display import _line
from warex.cli.output import console, echo_columns
from warex.traces import Counted, TrialKey, Void

NASTY = "a[/b]\x1b[31m\x9b2J\u202e[bold red]x[/]\x01=:smile:"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
SHOWN = "a[/b]␛[31m\ufffd2J\ufffd[bold red]x[/]␁=:smile:"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run in which every name, reason and URL of a stranger is nasty."""
    agents = (f"={NASTY}", f"+{NASTY}")
    folder = RunFolder(tmp_path / "run", benchmark=NASTY).manifest(
        name=NASTY,
        agents=[{"name": name, "model": NASTY} for name in agents],
        conditions=[{"name": "clean"}, {"name": NASTY, "scenario": NASTY}],
    )
    for agent in agents:
        for condition in ("clean", NASTY):
            for task in (NASTY, "t"):
                story = Story().page("p1", f"{SHOP}{NASTY}")
                if condition == NASTY:
                    story.fault(2, url=f"{SHOP}{NASTY}")
                story.thinks(1, "goto", arguments=(NASTY,), model=NASTY).stops()
                outcome = solved(2.0, NASTY) if task == "t" else Void(reason=NASTY)
                folder.trial(condition, task, outcome, story, agent=agent)
    return folder.path


def test_no_command_that_reads_a_run_obeys_it(warex: Warex, run: Path) -> None:
    attempts = sorted(run.glob("trials/*/*/*/*/*/attempt-1"))
    commands = [
        ("report", run, "--export", run / "exports"),
        ("report", run, "--json"),
        ("compare", run, run),
        *(("inspect", attempt) for attempt in attempts),
        ("inspect", attempts[0], "--json"),
        ("compare", f"{run}:{NASTY}", run),
        ("report", run / NASTY),
        ("inspect", run / NASTY),
        ("run", NASTY),
        ("run", run / NASTY, "--jobs", NASTY),
        ("scenarios", "check", run / NASTY),
        ("scenarios", "show", NASTY),
        (NASTY,),
        ("report", f"--{NASTY}"),
    ]
    for command in commands:
        result = warex(*command)
        assert not OBEYED.search(result.out + result.err), command
        assert "Traceback" not in result.err

    files = [run / "report.html", run / "summary.json", *sorted((run / "exports").iterdir())]
    assert len(files) > 10
    for file in files:
        assert not OBEYED.search(file.read_bytes().decode().replace("\r\n", "\n")), file
        assert "<b>" not in file.read_text()
    cells = (run / "exports/success.csv").read_text().splitlines()[1:]
    assert all(cell.startswith(("'=", "\"'=", "'+", "\"'+")) for cell in cells)


def test_a_name_is_shown_as_it_is(warex: Warex, run: Path) -> None:
    result = warex("report", run, "--export", run / "exports")

    assert result.code == 0
    assert f"={SHOWN}" in result.out
    assert f"={SHOWN}" in (run / "report.html").read_text().replace("&#39;", "'")


def test_a_line_of_progress_shows_names_and_reasons_as_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    key = TrialKey("command", NASTY, NASTY, NASTY, 1)
    for outcome in (Void(reason=NASTY), Counted(ending="answered", score=1.0, latency_s=2.0)):
        screen = console()
        screen.print(_line(AttemptDone(key, 1, outcome)), soft_wrap=True, highlight=False)
        screen.print(f"warex: {NASTY}", soft_wrap=True, highlight=False)

    out = capsys.readouterr().out
    assert not OBEYED.search(out)
    assert out.count(SHOWN) == 9


def test_a_dry_run_shows_names_as_they_are(warex: Warex, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(
        '{"name": "n\\u009b", "benchmark": {"name": "command", "sites": [], "options": {"command":'
        ' ["true", "{task}"], "tasks": ["t[/b]\\u001b[31m"]}}, "agents": [{"name":'
        ' "a[/b]\\u001b[31m", "model": "m"}], "conditions": [{"name": "clean"}]}'
    )
    result = warex("run", file, "--dry-run")

    assert not OBEYED.search(result.out + result.err)
    assert "a[/b]␛[31m" in result.out + result.err


def test_a_list_is_folded_on_a_terminal_and_one_line_each_in_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    echo_columns("name", "word " * 40, 10)
    piped = capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    echo_columns("name", "word " * 40, 10, lead="ok   ")
    shown = click.unstyle(capsys.readouterr().out).splitlines()

    assert piped == f"{'name':10} {'word ' * 40}\n"
    assert len(shown) > 2
    assert max(map(len, shown)) <= 80
    assert shown[1].startswith(" " * 16 + "word word")


def test_every_command_says_what_it_says_in_one_way() -> None:
    """A new print beside the one way out would be found here."""
    room = Path(warex.__file__).parent
    files = [*(room / "cli").rglob("*.py"), *(room / "report").rglob("*.py")]
    ways = {
        f"{file.name}:{node.lineno}"
        for file in files
        if file != room / "cli" / "output.py"
        for node in ast.walk(ast.parse(file.read_text()))
        if (isinstance(node, ast.Call) and _goes_out(node))
        # By another name they would not be seen above.
        or (isinstance(node, ast.ImportFrom) and node.module == "click")
    }
    assert not ways


def _goes_out(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(id="Console"):
            return True
        case (
            ast.Name(id="print")
            | ast.Attribute(value=ast.Name(id="click"), attr="echo" | "secho" | "echo_via_pager")
            | ast.Attribute(value=ast.Attribute(attr="stdout" | "stderr"), attr="write")
        ):
            # Words of ours alone may go out before there is a command.
            return not all(isinstance(argument, ast.Constant) for argument in call.args)
        case _:
            return False
