from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.run.load import load_run
from warex.analysis.stats.estimates import Rate
from warex.report.tables import tasks
from warex.report.tables.columns import Cell
from warex.report.tables.sites import site_rates
from warex.report.tables.tasks import task_sheet
from warex.traces.outcome import Void


def _cells(path: Path) -> dict[tuple[str, str], Cell]:
    run = load_run(path)
    sheet = task_sheet(run)
    return {
        (line[1].text, condition): cell
        for block in sheet.blocks
        for line in block.lines
        for condition, cell in zip(run.conditions, line[2:], strict=True)
    }


def _recovering() -> Story:
    return Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2").stops()


def _giving_up() -> Story:
    return Story().thinks(1, "goto").fault(1).thinks(2, "report_infeasible").stops()


def test_one_trial_is_reported_in_words_and_leads_to_its_folder(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    path = folder.trial("down", "add %", failed(), _recovering())
    folder.trial("clean", "move", Void(reason="lane died"))
    cells = _cells(tmp_path)

    here = cells["add %", "down"]
    assert "(rec.)" not in task_sheet(load_run(tmp_path)).note
    assert (here.text, here.subtext) == ("failure", "reported infeasible, recovered")
    assert here.tags == ("failed",)
    assert cells["move", "clean"].tags == ("broken",)
    assert tmp_path / unquote(here.href) == path
    assert (cells["move", "clean"].text, cells["move", "clean"].subtext) == ("void", "lane died")
    assert cells["move", "down"].text == "not run"
    assert cells["move", "down"].href == ""


def test_a_solved_trial_says_whether_it_needed_to_recover(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    goes_on = Story().thinks(1, "goto").fault(1).thinks(2, "click").stops()
    healed = Story().thinks(1, "goto").fault(1, status=None).page("x2").thinks(2, "click").stops()
    unwatched = Story().fault(1).stops()
    asked_again = Story().fault(1).page("x2").stops()
    folder.trial("down", "ignored", solved(), goes_on)
    folder.trial("down", "healed", solved(), healed)
    folder.trial("down", "unwatched", solved(), unwatched)
    folder.trial("down", "asked again", solved(), asked_again)
    folder.trial("down", "lost", failed(), goes_on)
    folder.trial("down", "no calls", solved(), unwatched, agent="deaf")
    cells = _cells(tmp_path)

    for task in ("ignored", "healed", "unwatched", "no calls"):
        assert cells[task, "down"].subtext == "no recovery needed", task
    assert cells["asked again", "down"].subtext == "recovery not judged"
    assert cells["lost", "down"].subtext.endswith("not recovered")


def test_repeats_are_summed_and_lead_to_the_folder_they_have_in_common(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    first = folder.trial("down", "add", solved(), _recovering(), repeat=1)
    folder.trial("down", "add", failed(), _giving_up(), repeat=2)
    folder.trial("down", "add", Void(reason="lane died"), repeat=3)
    cell = _cells(tmp_path)["add", "down"]

    assert (cell.text, cell.subtext, cell.values) == ("1/2", "1/2 rec., 1 void", (1, 2, 1, 2))
    assert "(rec.)" in task_sheet(load_run(tmp_path)).note
    assert cell.tags == ("failed", "unrecovered", "broken")
    assert tmp_path / unquote(cell.href) == first.parents[1]


def test_a_void_under_one_condition_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    folder.trial("clean", "add", solved())
    folder.trial("clean", "move", solved())
    folder.trial("down", "add", Void(reason="lane died"))
    [counted] = site_rates(load_run(tmp_path)).values()

    assert _cells(tmp_path)["add", "clean"].text == "success"
    assert counted == {"clean": Rate(2, 2)}


def test_in_large_tables_only_failed_cells_are_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RunFolder(tmp_path)
    folder.trial("clean", "good", solved())
    folder.trial("clean", "bad", failed())
    monkeypatch.setattr(tasks, "MOST_LINKS", 1)
    cells = _cells(tmp_path)

    assert cells["good", "clean"].href == ""
    assert cells["bad", "clean"].href
    assert "only those lead" in task_sheet(load_run(tmp_path)).note
