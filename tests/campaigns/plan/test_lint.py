"""What a campaign's conditions may not show is told before anything runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from warex.campaigns.config.campaign import CampaignConfig, ConditionConfig, load_campaign
from warex.campaigns.plan.campaign_plan import plan
from warex.campaigns.plan.lint import inert_conditions, lint_warnings


@pytest.fixture
def demo() -> CampaignConfig:
    return load_campaign("demo")


def test_what_a_condition_may_not_show_is_reported_with_its_name(
    demo: CampaignConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = plan(demo)
    assert lint_warnings(planned) == ()
    monkeypatch.setattr(
        type(planned.benchmark), "lint", lambda self, scenario, task: iter([scenario.name])
    )
    assert lint_warnings(planned) == (
        "condition 'network-error': paper/network-error",
        "condition 'server-error': paper/server-error",
        "condition 'javascript-failure': paper/javascript",
    )


def test_what_holds_of_several_conditions_is_reported_once(
    demo: CampaignConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = plan(demo)
    monkeypatch.setattr(
        type(planned.benchmark), "lint", lambda self, scenario, task: iter(["nothing"])
    )
    assert lint_warnings(planned) == (
        "conditions 'network-error', 'server-error', 'javascript-failure': nothing",
    )


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (
            {"trigger": {"first": 1, "after_step": 26}},
            "after step 26, and no agent takes",
        ),
        ({"trigger": {"first": 1, "between": [120, 200]}}, "at second 120, and agents are stopped"),
        (
            {"trigger": {"first": 1}, "match": {"url": "{sites}/a.css", "resource": "script"}},
            "Rule 'r' can never apply: its pattern is about .css files",
        ),
        (
            {"trigger": {"first": 1}, "match": {"url": "https://shop.example/*"}},
            "Rule 'r' hits nothing on the task sites (https://",
        ),
        (
            {
                "trigger": {"first": 1},
                "match": {"url_regex": r"^https://shop\.example/"},
            },
            r"`^https://shop\.example/` is elsewhere",
        ),
        (
            {
                "trigger": {"first": 1},
                "match": {"url": "http://calendar.warex.test/*"},
                "fault": {"kind": "tls_error"},
            },
            "is plain HTTP, which has no TLS to fail",
        ),
    ],
)
def test_a_rule_that_no_trial_can_meet_is_reported_before_the_first_one(
    demo: CampaignConfig, tmp_path: Path, rule: dict[str, Any], says: str
) -> None:
    full = {"name": "s", "rules": [{"name": "r", "fault": {"kind": "http_error"}, **rule}]}
    (tmp_path / "s.json").write_text(json.dumps(full))
    condition = ConditionConfig(name="late", scenario=str(tmp_path / "s.json"))

    (message,) = lint_warnings(plan(demo.model_copy(update={"conditions": (condition,)})))

    assert message.startswith("condition 'late': Rule 'r' ")
    assert says in message


@pytest.mark.parametrize(
    ("rules", "inert"),
    [
        ([{"trigger": {"probability": 0}}], "rule 'r0' can never apply: its probability is 0"),
        (
            [{"trigger": {"first": 1, "after_step": 26}}, {"trigger": {"probability": 0}}],
            "rule 'r1' can never apply: its probability is 0",
        ),
        ([{"trigger": {"probability": 0}}, {"trigger": {"first": 1}}], None),
        ([{"trigger": {"first": 1}}], None),
    ],
)
def test_a_condition_is_inert_if_none_of_its_rules_can_ever_hit(
    demo: CampaignConfig, tmp_path: Path, rules: list[dict[str, Any]], inert: str | None
) -> None:
    named = [
        {"name": f"r{n}", "fault": {"kind": "http_error"}, **rule} for n, rule in enumerate(rules)
    ]
    (tmp_path / "s.json").write_text(json.dumps({"name": "s", "rules": named}))
    conditions = (
        ConditionConfig(name="clean"),
        ConditionConfig(name="late", scenario=str(tmp_path / "s.json")),
    )
    results = inert_conditions(plan(demo.model_copy(update={"conditions": conditions})))
    assert results == ({} if inert is None else {"late": inert})
