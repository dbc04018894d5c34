import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Warex
from warex.sandbox.doctor import machine
from warex.sandbox.doctor.finding import Finding

GOOD = Finding("proxy", "ok", "it is ready")
OPTIONAL = Finding("environment: node", "missing", "there is no node on the PATH", needed=False)
LACKING = Finding("chromium", "missing", "there is no Chromium: install one")


def finds(monkeypatch: pytest.MonkeyPatch, *findings: Finding) -> None:
    def examine() -> Iterator[Finding]:
        yield from findings

    monkeypatch.setattr(machine, "check_machine", examine)


def test_a_machine_that_lacks_only_what_nothing_needs_is_well(
    warex: Warex, monkeypatch: pytest.MonkeyPatch
) -> None:
    finds(monkeypatch, GOOD, OPTIONAL)
    result = warex("doctor")

    assert result.code == 0
    assert [line.split()[0] for line in result.out.splitlines()[:2]] == ["ok", "missing"]
    assert result.out.endswith("All that `warex demo` needs works.\n")


def test_what_is_lacking_is_named_with_its_remedy(
    warex: Warex, monkeypatch: pytest.MonkeyPatch
) -> None:
    finds(monkeypatch, GOOD, LACKING)
    result = warex("doctor")

    assert result.code == 3
    assert "chromium: there is no Chromium: install one" in result.err


def test_a_program_can_read_the_findings(warex: Warex, monkeypatch: pytest.MonkeyPatch) -> None:
    finds(monkeypatch, GOOD, LACKING)
    result = warex("doctor", "--json")
    read = json.loads(result.out)

    assert result.code == 3
    assert read["ok"] is False
    assert [each["state"] for each in read["findings"]] == ["ok", "missing"]


def test_what_doctor_refuses_run_refuses_with_the_same_sentence(
    warex: Warex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("warex.sandbox.doctor.machine.MIN_FREE_DISK", 10**18)

    ran = warex("run", "demo", "--limit", "1")

    assert ran.code == 3
    assert "GB free for runs in" in ran.err
    assert "GB free for runs in" in warex("doctor", "demo").err
    assert "free some space, or choose another disk by --out" in ran.err
    assert not (tmp_path / "runs").exists()


def test_a_campaign_is_looked_at_as_run_does(
    warex: Warex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    warex("init", "--benchmark", "real")

    result, ran = warex("doctor", "my-agent.toml"), warex("run", "my-agent.toml", "--dry-run")

    assert (result.code, ran.code) == (3, 3)
    assert ran.err.removeprefix("warex: ").strip() in result.err
    assert warex("doctor", "paper").code == 0
    assert warex("doctor", "paper", "--benchmark", "real").code == 2
