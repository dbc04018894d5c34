from pathlib import Path

import pytest

from tests.cli.conftest import Warex
from warex.campaigns.config.options import RunOptions
from warex.campaigns.plan.campaign_plan import CampaignPlan
from warex.cli.campaigns import live_display


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[CampaignPlan, Path, RunOptions]]:
    """Run nothing; note what would have been."""
    noted: list[tuple[CampaignPlan, Path, RunOptions]] = []
    monkeypatch.setattr(live_display, "run_and_report", lambda *values: noted.append(values[:3]))
    return noted


def test_intensity_applies_where_possible_and_other_rules_are_reported(
    warex: Warex, ran: list[tuple[CampaignPlan, Path, RunOptions]]
) -> None:
    result = warex("run", "demo", "--intensity", "0.1")

    assert result.code == 0
    assert "the condition 'server-error' has a fault without a size and stays" in result.err
    ((planned, out, _),) = ran
    assert out == Path("runs/demo")
    assert {each.name: each.intensity for each in planned.config.conditions} == {
        "no-proxy": None,
        "clean": None,
        "network-error": 0.1,
        "server-error": None,
        "javascript-failure": 0.1,
    }


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--intensity", "0"), "0.0 is not in the range 0<x<=100"),
        (("--intensity", "nan"), "nan is not an intensity; give a number above 0 to 100"),
        (("--intensity", "2"), "which longest_hold_s = 1 would cut: leave out one of the two"),
        (("--intensity", "2", "--replay", "."), "--intensity changes what --replay repeats"),
    ],
)
def test_an_intensity_that_cannot_be_is_a_sentence(
    warex: Warex,
    ran: list[tuple[CampaignPlan, Path, RunOptions]],
    arguments: tuple[str, ...],
    says: str,
) -> None:
    result = warex("run", "demo", *arguments)

    assert result.code == 2
    assert says in result.err
    assert not ran


def test_a_built_in_campaign_runs_on_your_own_benchmark(
    warex: Warex, ran: list[tuple[CampaignPlan, Path, RunOptions]]
) -> None:
    options = ("--option", 'tasks=["a", "b"]', "--site", "https://a.example=http://127.0.0.1:8001")
    result = warex(
        *("run", "paper", "--benchmark", "command", "--agent", "mine=gpt-4o"),
        *("--option", "command=true {task}", *options),
    )

    assert result.code == 0
    assert "there is no condition 'no-proxy': https://a.example is served" in result.err
    ((planned, out, _),) = ran
    assert out == Path("runs/paper-command")
    assert len(planned.trials) == 2 * 6
    assert [agent.name for agent in planned.config.agents] == ["mine"]


def test_a_file_is_changed_only_by_its_owner(warex: Warex, tmp_path: Path) -> None:
    result = warex("run", tmp_path / "mine.toml", "--agent", "gpt-4o")

    assert result.code == 2
    assert (
        "mine.toml is a file, and --benchmark, --agent and what goes with them change" in result.err
    )


def test_a_campaign_that_ray_took_for_its_address_has_its_place_named(warex: Warex) -> None:
    result = warex("run", "--ray", "mine.toml")

    assert result.code == 2
    assert "put the campaign before it: warex run mine.toml --ray" in result.err
    assert "Missing argument 'CAMPAIGN'" in warex("run").err


def test_a_threshold_for_an_unknown_condition_is_refused_before_a_run(
    warex: Warex, ran: list[tuple[CampaignPlan, Path, RunOptions]]
) -> None:
    result = warex("run", "demo", "--fail-under", "patient/server-eror.success>=0.9")

    assert (result.code, ran) == (2, [])
    assert "did you mean 'patient/server-error'" in result.err
