"""A trial of `warex mcp`'s own."""

import json
from pathlib import Path

import pytest

from tests.proxy.support.lanes import configured
from warex.errors import WarexError
from warex.proxy.certificates.ca import CertificateAuthority
from warex.sandbox.stdio.own_trial import free_folder, own_trial
from warex.sandbox.stdio.trial import Trial, TrialGone
from warex.traces import Unscored, Void, read_outcome


def test_each_start_has_a_folder_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "tools"
    assert [free_folder(folder).name for _ in range(3)] == ["tools", "tools-2", "tools-3"]


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WarexError, match="file/tools"):
        free_folder(tmp_path / "file" / "tools")
    with pytest.raises(WarexError, match="is not a folder"):
        free_folder(tmp_path / "file")


def begun(out: Path, ca: CertificateAuthority) -> Trial:
    with own_trial(configured(ca=ca.folder, out=out), lambda _: None) as caller:
        trial = Trial(caller)
        trial.begin("tools")
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert trial.request(1, json.dumps(message).encode()).then == "pass"
    return trial


def test_the_trace_is_complete_after_it(tmp_path: Path, ca: CertificateAuthority) -> None:
    begun(tmp_path / "out", ca)

    events = [json.loads(line) for line in (tmp_path / "out/events.jsonl").read_text().splitlines()]
    assert [it["complete"] for it in events if it["event"] == "mcp_call"] == [False]
    assert events[-1]["event"] == "trial_ended"
    assert isinstance(read_outcome(tmp_path / "out"), Unscored)


def test_a_void_trial_stays_gone(tmp_path: Path, ca: CertificateAuthority) -> None:
    with own_trial(configured(ca=ca.folder, out=tmp_path / "out"), lambda _: None) as caller:
        trial = Trial(caller)
        trial.begin("tools")
        caller.lane.broke(ValueError("ours"))
        for _ in range(2):
            with pytest.raises(TrialGone, match="ours"):
                trial.request(1, b"{}")
    assert isinstance(read_outcome(tmp_path / "out"), Void)
