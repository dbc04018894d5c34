from pathlib import Path

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.run import load_run
from warex.analysis.table import tabulate
from warex.report.notes import footnotes, opening, warnings
from warex.traces.outcome import Void
from warex.traces.paths import EVENTS


def _unhurt(model: str = "scripted:patient") -> Story:
    return Story().thinks(1, "goto", model=model).page("x1").stops()


def test_a_scripted_model_is_called_an_instrument(tmp_path: Path) -> None:
    RunFolder(tmp_path).trial("clean", "add", solved(), _unhurt())
    run = load_run(tmp_path)

    assert footnotes(run, tabulate(run)) == (
        "scripted:patient shows the instrument, not a model; cost as if gpt-4o.",
    )


def test_everything_left_out_or_assumed_is_said(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest(longest_hold_s=2.0)
    folder.trial("clean", "add", solved(), _unhurt("house-model"))
    folder.trial("clean", "move", Void(reason="lane died"))
    cut = folder.trial("clean", "share", None, _unhurt("house-model"))
    (cut / EVENTS).write_bytes((cut / EVENTS).read_bytes()[:-5])
    run = load_run(tmp_path)

    assert footnotes(run, tabulate(run)) == (
        "Holds shortened to 2 s: no fault keeps an exchange longer than that here.",
        "patient: move (repeat 1) stayed void, so it is left out of every condition.",
        "No price is known for house-model: its cost is left open.",
        "1 trace without an end: figures cover what was written.",
        "1 trial not finished, so not in the table.",
    )


def test_low_exposure_heads_the_report(tmp_path: Path) -> None:
    RunFolder(tmp_path).trial("server-error", "add", failed(), _unhurt())

    [line] = warnings(tabulate(load_run(tmp_path)))

    assert "server-error" in line
    assert "0/1" in line


def test_the_report_opens_with_what_the_proxy_alone_does(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.trial("no-proxy", "add", solved())
    folder.trial("clean", "add", failed(), _unhurt())

    [line] = opening(tabulate(load_run(tmp_path)))

    assert "-100 points over 1 pair." in line
