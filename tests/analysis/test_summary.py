import json
from pathlib import Path
from typing import Any

from tests.analysis.builders import RunFolder, Story, solved
from warex.analysis.run import load_run
from warex.analysis.summary import summarise
from warex.analysis.table import tabulate
from warex.traces.outcome import Void


def test_the_summary_is_plain_json_that_keeps_what_is_unknown_null(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    story = Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2")
    folder.trial("no-proxy", "add", solved())
    folder.trial("server-error", "add", solved(), story)
    folder.trial("clean", "move", Void(reason="lane died"))
    run = load_run(tmp_path)

    whole: Any = json.loads(json.dumps(summarise(run, tabulate(run)), allow_nan=False))

    rows = {row["condition"]: row for row in whole["conditions"]}
    assert rows["no-proxy"]["llm_calls"] is None
    assert rows["server-error"]["recovery"]["hits"] == 1
    assert rows["server-error"]["ledger"] == {
        "planned": 1,
        "delivered": 1,
        "missed": {},
        "left_alone": {},
    }
    void = next(trial for trial in whole["trials"] if trial["outcome"] == "void")
    assert (void["score"], void["void_reason"]) == (None, "lane died")
    assert (tmp_path / void["path"]).is_dir()
    assert whole["as_if"] == {"scripted:patient": "gpt-4o"}
