import json
from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, solved
from warex.analysis.output.frames import load_run as load_frames
from warex.analysis.output.json_values import key_fields, to_json, trial_fields
from warex.analysis.output.summary import summarise
from warex.analysis.run.load import load_run
from warex.analysis.stats.estimates import Rate
from warex.analysis.stats.paired import Delta
from warex.analysis.table.tabulate import tabulate


def test_a_figure_is_json_down_to_its_parts() -> None:
    made = to_json({"rate": Rate(1, 2), "deltas": (Delta(0.5, 2, p=0.1), None)})

    assert json.loads(json.dumps(made)) == made
    assert isinstance(made, dict)
    assert made["rate"] == {
        "hits": 1,
        "n": 2,
        "value": 0.5,
        "interval": list(Rate(1, 2).interval),
    }


def test_what_is_not_a_figure_is_refused() -> None:
    with pytest.raises(TypeError, match="is not a figure"):
        to_json(object())


def test_summary_and_frames_agree_on_a_trial(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").manifest()
    story = Story().fault(1).thinks(1, "reload").page("x2").thinks(2, "send_msg_to_user").stops()
    folder.trial("server-error", "buy-tea", solved(), story)
    run = load_run(folder.path)
    [trial] = run.trials
    fields = key_fields(trial) | trial_fields(trial, run)

    trials = summarise(run, tabulate(run))["trials"]
    assert isinstance(trials, list)
    [summed] = trials
    assert isinstance(summed, dict)
    [framed] = load_frames(folder.path).trials.to_dicts()
    assert {name: summed[name] for name in fields} == fields
    assert {name: framed[name] for name in fields} == fields
    assert fields["recovered"] is True
