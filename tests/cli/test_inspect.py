import json
from pathlib import Path

from tests.analysis.builders import RunFolder, Story, solved
from tests.cli.conftest import Warex


def test_a_trial_can_be_read_by_people_and_by_programs(warex: Warex, tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2").stops()
    folder = RunFolder(tmp_path).manifest().trial("server-error", "add", solved(), story)

    said, read = warex("inspect", folder), warex("inspect", folder.parent, "--json")

    assert said.code == read.code == 0
    assert "success: score 1" in said.out
    data = json.loads(read.out)
    assert data["path"] == str(folder)
    assert data["injections"][0]["recovery"]["verdict"] == "recovered"
