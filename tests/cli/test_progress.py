from collections.abc import Callable
from pathlib import Path

import pytest

from warex.campaigns.config import load_campaign
from warex.campaigns.run import Options, Planned, plan
from warex.campaigns.runner import Done
from warex.cli import progress
from warex.errors import WarexError
from warex.traces import Counted, Outcome, Void, attempt_dir, write_outcome

OUTCOMES: tuple[Outcome, ...] = (
    Counted(ending="answered", score=1.0, latency_s=1.25),
    Counted(ending="reported_infeasible", score=0.0, latency_s=2.5),
    Void(reason="the canary page did not come back"),
)


def test_every_attempt_has_its_line_and_the_run_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WAREX_CA_DIR", str(tmp_path / "ca"))
    planned = plan(load_campaign("demo"))

    def run_campaign(
        planned: Planned,
        run: Path,
        options: Options,
        *,
        began: Callable[[int], None],
        report: Callable[[Done], None],
    ) -> None:
        began(len(OUTCOMES))
        for spec, outcome in zip(planned.trials, OUTCOMES, strict=False):
            folder = attempt_dir(run, spec.key, 1)
            folder.mkdir(parents=True)
            write_outcome(folder, outcome)
            report(Done(spec.key, 1, outcome))

    monkeypatch.setattr(progress, "run_campaign", run_campaign)
    progress.run_and_report(planned, tmp_path / "run", Options())
    said = capsys.readouterr().out

    first, second, third = said.splitlines()[:3]
    assert first.startswith("solved ")
    assert first.endswith("answered, 1.2 s")
    assert second.startswith("failed ")
    assert third.startswith("void ")
    assert third.endswith("attempt 1: the canary page did not come back")
    assert (tmp_path / "run" / "report.html").is_file()
    assert f"report   {tmp_path / 'run' / 'report.html'}" in said


def test_a_campaign_in_which_nothing_counts_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAREX_CA_DIR", str(tmp_path / "ca"))
    planned = plan(load_campaign("demo"))

    def run_campaign(
        planned: Planned,
        run: Path,
        options: Options,
        *,
        began: Callable[[int], None],
        report: Callable[[Done], None],
    ) -> None:
        folder = attempt_dir(run, planned.trials[0].key, 1)
        folder.mkdir(parents=True)
        write_outcome(folder, Void(reason="the canary page did not come back"))

    monkeypatch.setattr(progress, "run_campaign", run_campaign)
    with pytest.raises(WarexError, match="counts: each of them is void") as error:
        progress.run_and_report(planned, tmp_path / "run", Options())

    assert error.value.exit_code == 1
    assert (tmp_path / "run" / "report.html").is_file()
