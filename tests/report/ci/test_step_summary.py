from pathlib import Path

from tests.analysis.builders import RunFolder, failed, solved
from tests.analysis.output.test_comparison import compared, run
from warex.analysis.run.load import load_run
from warex.analysis.table.tabulate import tabulate
from warex.report.ci.cases import Case
from warex.report.ci.step_summary import LARGEST, comparison_summary, run_summary


def test_a_run_is_its_gates_sentences_and_rows(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", 12).path
    loaded = load_run(folder)
    gate = Case("warex.gates", "recovery>=0.8", "failed", "a, x: recovery is 0.")

    text = run_summary(loaded, tabulate(loaded), [gate])

    assert "| ❌ broken | recovery>=0.8 | a, x: recovery is 0. |" in text
    assert "- success: " in text
    assert "| a | server-error | 12/12 |" in text


def test_a_hostile_name_makes_no_cell_link_or_element(tmp_path: Path) -> None:
    name = "x|y\n# <img src=x> ![a](http://e) `z`"
    made = RunFolder(tmp_path, agent=name).manifest()
    made.trial("clean", "t", solved())
    made.trial("server|error", "t", failed())
    loaded = load_run(tmp_path)

    text = run_summary(loaded, tabulate(loaded), [Case("g", name, "failed", name)])

    assert r"x\|y # \<img src=x> !\[a](http://e) \`z\`" in text
    assert not any(line.startswith("# ") for line in text.splitlines())
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert rows
    assert {line.replace(r"\|", "").count("|") for line in rows} == {4, 8}


def test_a_comparison_is_its_verdict_and_changes(tmp_path: Path) -> None:
    run(tmp_path / "old", 12)
    run(tmp_path / "new", 2)

    text = comparison_summary([compared(tmp_path / "old", tmp_path / "new")], [])

    assert "worse: it solves fewer of these 12 tasks" in text
    assert "| a | server-error | 12/12 | 2/12 | worse |" in text


def test_a_summary_has_room_on_github(tmp_path: Path) -> None:
    made = [compared(run(tmp_path / "old", 1, 2, 2).path, run(tmp_path / "new", 1, 2, 2).path)]

    assert len(comparison_summary(made * 10_000, []).encode()) < LARGEST + 1_000
