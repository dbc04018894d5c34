import subprocess
from pathlib import Path

import pytest

from warex.campaigns.run.provenance import tasks_digest, versions
from warex.errors import MachineError

TASKS = [("testbed", "add"), ("testbed", "buy")]


@pytest.fixture
def chromium(tmp_path: Path) -> Path:
    path = tmp_path / "chromium"
    path.write_text("#!/bin/sh\necho Chromium 1.2.3\n")
    path.chmod(0o755)
    return path


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def test_what_may_make_trials_differ_is_named(
    chromium: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent").mkdir()
    monkeypatch.chdir(tmp_path / "agent")
    results = versions(chromium, TASKS)
    assert results["browser"] == "Chromium 1.2.3"
    assert all(results[name] for name in ("warex", "python", "os", "cpu", "tasks"))
    assert "commit" not in results

    git(tmp_path / "agent", "init", "-q")
    (tmp_path / "agent/agent.py").write_text("1")
    git(tmp_path / "agent", "add", ".")
    git(tmp_path / "agent", "commit", "-qm", "first")
    clean = versions(chromium, TASKS)["commit"]
    assert len(clean) == 12
    (tmp_path / "agent/agent.py").write_text("2")
    assert versions(chromium, TASKS)["commit"] == f"{clean}-dirty"


def test_a_digest_is_of_the_tasks_in_any_order() -> None:
    assert tasks_digest(TASKS) == tasks_digest([*TASKS[::-1], TASKS[0]])
    assert tasks_digest(TASKS) != tasks_digest(TASKS[:1])


def test_a_browser_that_does_not_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="does not say its version"):
        versions(tmp_path / "nothing", TASKS)
