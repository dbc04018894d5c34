from pathlib import Path

import pytest

from tests.proxy.support.lanes import scenario
from warex.errors import ScenarioError
from warex.faults import Fault
from warex.faults.connection.connection_cut import ConnectionCut
from warex.faults.llm.llm_cut import LlmCut
from warex.faults.llm.llm_slow import LlmSlow
from warex.faults.mcp.mcp_error import McpError
from warex.faults.server.http_error import HttpError
from warex.faults.transport.bandwidth import Bandwidth
from warex.faults.transport.latency import Latency
from warex.faults.transport.malformed_response import MalformedResponse
from warex.faults.transport.offline import Offline
from warex.faults.transport.slow_body import SlowBody
from warex.faults.transport.stalled_body import StalledBody
from warex.faults.transport.truncated_body import TruncatedBody
from warex.faults.walls.slow_page import SlowPage
from warex.mitmproxy_addon.refusals import require_possible
from warex.scenarios.load import load_scenario

PRESETS = Path(__file__).parents[2] / "src/warex/scenarios/presets"


@pytest.mark.parametrize(
    ("fault", "what"),
    [
        (SlowPage(), "(slow_page) sends an answer piece by piece"),
        (LlmSlow(pause=0.1), "(llm_slow) sends an answer piece by piece"),
        (LlmCut(how="close"), "(llm_cut) cuts an answer in its middle"),
        (LlmCut(how="reset"), "(llm_cut) cuts an answer in its middle"),
        (TruncatedBody(), "(truncated_body) cuts an answer in its middle"),
        (ConnectionCut(after_bytes=9), "(connection_cut) cuts an answer in its middle"),
        (SlowBody(), "(slow_body) sends an answer piece by piece"),
        (StalledBody(), "(stalled_body) stops an answer in its middle"),
        (
            MalformedResponse(),
            "(malformed_response) sends an answer that breaks the rules of HTTP",
        ),
        (Offline(), "(offline) resets what is open"),
        (Bandwidth(), "(bandwidth) sends an answer at a limited rate"),
        (McpError(), "(mcp_error) may insert messages into a server's event stream"),
    ],
)
def test_a_fault_that_mitmproxy_cannot_show_is_refused_by_name(fault: Fault, what: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        require_possible(scenario(fault).rules)
    assert f"mitmproxy cannot do what the scenario asks for: rule 'rule' {what}" in str(refused)
    assert "warex proxy" in str(refused)


@pytest.mark.parametrize(
    "fault",
    [
        HttpError(status=500),
        LlmSlow(),
        LlmCut(how="clean"),
        TruncatedBody(how="clean"),
        ConnectionCut(),
        Latency(distribution="normal"),
        MalformedResponse(defect="coding"),
    ],
)
def test_other_faults_are_taken(fault: Fault) -> None:
    require_possible(scenario(fault).rules)


def test_every_refused_rule_is_named() -> None:
    one, two = scenario(SlowPage()).rules[0], scenario(McpError()).rules[0]
    with pytest.raises(ScenarioError, match=r"'rule' \(slow_page\).*; rule 'rule' \(mcp_error\)"):
        require_possible([one, two])


def test_the_papers_presets_are_taken() -> None:
    for preset in sorted(PRESETS.glob("paper/*.yaml")):
        if preset.stem == "partial-load":  # Of which the paper runs no experiment.
            continue
        require_possible(load_scenario(f"paper/{preset.stem}").rules)
