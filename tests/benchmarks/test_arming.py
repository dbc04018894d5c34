from typing import Any

import pytest

from warex.benchmarks.arming import (
    PATIENCE,
    arm_on_first_page,
    arm_unknown_harness,
    spared_first_page,
)
from warex.scenarios import Scenario


def scenario(*faults: dict[str, Any], **match: Any) -> Scenario:
    rules = [
        {"name": f"r{number}", "match": match, "trigger": {"always": True}, "fault": fault}
        for number, fault in enumerate(faults, 1)
    ]
    return Scenario.model_validate({"name": "s", "rules": rules})


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "http_error"},
        {"kind": "network_error", "delay": PATIENCE},
        {"kind": "javascript_failure"},
    ],
    ids=lambda fault: fault["kind"],
)
def test_faults_with_a_page_start_with_the_first_page(fault: dict[str, Any]) -> None:
    assert arm_on_first_page(scenario(fault)) == "first_page"


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "connection_cut"},
        {"kind": "connection_refused"},
        {"kind": "dns_failure"},
        {"kind": "tls_error"},
        {"kind": "http_error", "delay": PATIENCE + 1},
    ],
    ids=lambda fault: fault["kind"],
)
def test_no_answer_in_time_waits_for_the_agent(fault: dict[str, Any]) -> None:
    assert arm_on_first_page(scenario(fault)) == "first_llm_call"
    assert arm_on_first_page(scenario({"kind": "http_error"}, fault)) == "first_llm_call"


@pytest.mark.parametrize("kind", ["llm_error", "mcp_error"])
def test_what_hits_a_call_waits_for_the_agent_who_makes_it(kind: str) -> None:
    assert arm_on_first_page(scenario({"kind": kind})) == "first_llm_call"


def test_an_unknown_harness_arms_by_first_page_or_first_call() -> None:
    page, call = {"kind": "http_error"}, {"kind": "llm_error"}
    for faults in ((page,), (call,), (page, call)):
        assert arm_unknown_harness(scenario(*faults)) == "first_page_or_llm_call"
    for fault in ({"kind": "connection_refused"}, {"kind": "mcp_error"}):
        assert arm_unknown_harness(scenario(page, fault)) == "first_llm_call"


def test_a_spared_first_page_is_reported_but_not_a_call() -> None:
    (warning,) = spared_first_page(scenario({"kind": "connection_refused"}))
    assert "options.arm" in warning
    assert list(spared_first_page(scenario({"kind": "llm_error"}, {"kind": "mcp_error"}))) == []
