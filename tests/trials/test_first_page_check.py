"""No trial counts without a proof of its agent's way, be it the agent's own first page."""

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.trials.attempts import attempt, spec
from tests.trials.shop import SITE, Shop
from tests.trials.test_runner import void_reason
from warex.traces import EVENTS, Canary, Counted, LlmCall, read_trace
from warex.traffic import TrafficOptions
from warex.trials import TrialContext

pytestmark = pytest.mark.wire


class OpensAPage(Shop):
    """An agent that opens a page of the site before all else."""

    opens_page_first: ClassVar = True


@pytest.mark.parametrize(
    ("does", "void"),
    [
        ("browse,model", None),
        # Seen by the proxy, but no browser.
        ("page,model", "bypassed or never asked for: the agent called its model, but no page"),
        ("model,browse", "bypassed or never asked for: the agent called its model, but no page"),
        ("0", "bypassed or never asked for: the agent ran, but no page"),
    ],
)
def test_no_trial_counts_whose_agent_did_not_prove_its_way_itself(
    context: TrialContext, tmp_path: Path, does: str, void: str | None
) -> None:
    blind = replace(context, benchmark=OpensAPage(), chromium=Path("/no/such/browser"))

    outcome = attempt(spec(does), blind, tmp_path)

    trace = read_trace(tmp_path / "attempt-1" / EVENTS)
    proofs = [(canary.passed, canary.detail) for canary in trace.events(Canary)]
    if void is None:
        assert isinstance(outcome, Counted)
        assert proofs == [(True, f"the agent's own first page: {SITE}/")]
    else:
        assert void_reason(outcome).startswith(void)
        assert [passed for passed, _ in proofs] in ([], [False])
        # Nobody pays for a trial that says nothing.
        assert not [call for call in trace.events(LlmCall) if call.status == 200]


@pytest.mark.parametrize("reading", [{"record": "concerned"}, {"pass_through": ("other.test",)}])
def test_where_not_all_is_read_a_canary_is_sent_after_all(
    context: TrialContext, tmp_path: Path, reading: dict[str, Any]
) -> None:
    traffic = TrafficOptions(**reading)
    outcome = attempt(
        spec("page"), replace(context, benchmark=OpensAPage(), traffic=traffic), tmp_path
    )

    assert isinstance(outcome, Counted)
    (canary,) = read_trace(tmp_path / "attempt-1" / EVENTS).events(Canary)
    assert "canary.warex.test" in canary.detail
