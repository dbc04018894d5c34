import json
from pathlib import Path

from tests.analysis.builders import RunFolder, Story, solved
from tests.cli.conftest import Warex


def test_a_trial_can_be_read_by_people_and_by_programs(warex: Warex, tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2").stops()
    folder = RunFolder(tmp_path).manifest().trial("server-error", "add", solved(), story)

    result, read = warex("inspect", folder), warex("inspect", folder.parent, "--json")

    assert result.code == read.code == 0
    assert "success: score 1" in result.out
    data = json.loads(read.out)
    assert data["path"] == str(folder)
    assert data["injections"][0]["recovery"]["verdict"] == "recovered"


def test_the_papers_log_is_printed_of_a_trial_and_of_a_run(warex: Warex, tmp_path: Path) -> None:
    story = Story().page("x1").thinks(1, "goto").page("x2").stops()
    folder = RunFolder(tmp_path).manifest().trial("clean", "add", solved(), story)

    result, both = warex("inspect", folder, "--log"), warex("inspect", folder, "--log", "--json")

    assert result.out.startswith("Task_Name_Number: add\nLLM Request Content: []\n")
    assert warex("inspect", tmp_path, "--log").out == result.out
    assert (both.code, both.err) == (
        2,
        "warex: --log and --json are two formats; give one of them\n",
    )
