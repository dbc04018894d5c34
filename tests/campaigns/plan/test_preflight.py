"""What `warex doctor` says of a campaign is what `warex run` does."""

import json
from pathlib import Path

import pytest

from warex.benchmarks import BenchmarkConfig, benchmark_of
from warex.campaigns.config.campaign import CampaignConfig
from warex.campaigns.plan.preflight import check_benchmark, check_campaign


def config(table: object, model: str) -> CampaignConfig:
    return CampaignConfig.model_validate(
        {
            "name": "c",
            "benchmark": table,
            "agents": [{"name": "a", "model": model}],
            "conditions": [{"name": "clean"}],
        }
    )


def command(program: str) -> dict[str, object]:
    return {"name": "command", "options": {"command": program, "tasks": ["t"]}}


@pytest.mark.parametrize(
    ("table", "model", "says"),
    [
        (command("no-such-program-of-warex {task}"), "m", "is not a program that runs"),
        ({"name": "real", "dir": "none"}, "m", "run `warex benchmarks setup real --dir "),
        ("testbed", "scripted:nobody", "there is no scripted model 'nobody'"),
        ("testbed", "gpt-4o", "whose key is not set: set OPENAI_API_KEY, or give a base_url"),
    ],
)
def test_preflight_reports_what_stops_a_run(
    monkeypatch: pytest.MonkeyPatch, table: object, model: str, says: str
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    findings = list(check_campaign(config(table, model)))

    (lacking,) = (finding for finding in findings if finding.state != "ok")
    assert says in lacking.sentence


def test_a_campaign_that_can_run_lacks_nothing() -> None:
    findings = list(check_campaign(config("testbed", "scripted:patient")))

    assert {finding.state for finding in findings} == {"ok"}


def test_a_rule_about_none_of_the_sites_is_reported_and_stops_nothing(tmp_path: Path) -> None:
    rule = {
        "name": "down",
        "match": {"url": "https://shop.example/*"},
        "trigger": {"always": True},
        "fault": {"kind": "http_error"},
    }
    scenario = tmp_path / "s.json"
    scenario.write_text(json.dumps({"name": "s", "rules": [rule]}))
    made = config("testbed", "scripted:patient")
    condition = made.conditions[0].model_copy(update={"name": "c", "scenario": str(scenario)})

    findings = check_campaign(made.model_copy(update={"conditions": (condition,)}))

    (reported,) = (finding for finding in findings if finding.state != "ok")
    assert not reported.needed
    assert "`https://shop.example/*` is elsewhere" in reported.sentence


def test_a_benchmark_whose_command_cannot_run_is_not_well() -> None:
    made = benchmark_of(BenchmarkConfig.model_validate(command("no-such-program-of-warex {task}")))

    assert [f.state for f in check_benchmark(made) if f.name == "tasks"] == ["broken"]
