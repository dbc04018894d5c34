"""Whether a trace shows that the agent's browser came through the proxy, and had a model."""

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from tests.trials.attempts import attempt, spec
from tests.trials.shop import SITE, Shop
from tests.trials.test_runner import void_reason
from warex.errors import TrialVoid
from warex.traces import (
    EVENTS,
    Canary,
    Counted,
    Entry,
    Event,
    FaultPlanned,
    LlmCall,
    RequestSeen,
    Trace,
    Tunnel,
    read_trace,
)
from warex.traffic import TrafficOptions
from warex.trials import TrialContext
from warex.trials.page_checks import require_model_answer, require_pages


def page(url: str, agent: str = "Mozilla/5.0") -> RequestSeen:
    return RequestSeen(
        exchange=url,
        method="GET",
        url=url,
        resource="document",
        http_version="HTTP/1.1",
        connection="c1",
        headers=[("User-Agent", agent)],
        size=0,
    )


def tunnel(host: str, why: str) -> Tunnel:
    return msgspec.convert(
        {"host": host, "port": 443, "why": why, "sent": 1, "received": 1, "seconds": 1.0}, Tunnel
    )


def trace(*events: Event) -> Trace:
    return Trace(tuple(Entry(n, 0.0, "", event) for n, event in enumerate(events, 1)))


@pytest.mark.parametrize(
    "event", [page("https://shop.test/"), tunnel("shop.test", "not_concerned")]
)
def test_a_page_or_a_tunnel_of_the_site_shows_it(event: Event) -> None:
    require_pages(trace(event), ["https://shop.test"])


@pytest.mark.parametrize(
    "event", [page("https://updates.test/"), tunnel("shop.test", "background")]
)
def test_other_traffic_does_not_show_it(event: Event) -> None:
    with pytest.raises(TrialVoid, match=r"no page of https://shop\.test came through"):
        require_pages(trace(event), ["https://shop.test"])


def test_where_no_site_is_known_any_page_shows_it() -> None:
    require_pages(trace(page("https://anywhere.test/")), [])
    accounts = page("https://accounts.google.com/ListAccounts?gpsia=1")
    with pytest.raises(TrialVoid, match=r"no page of any site .* cannot see which"):
        require_pages(trace(accounts), [])
    with pytest.raises(TrialVoid, match="no page of any site"):
        require_pages(trace(tunnel("updates.test", "background")), [])


def test_what_a_judge_asks_for_shows_nothing_of_the_browser() -> None:
    asked = page("https://shop.test/api/state", "python-requests/2.32")
    with pytest.raises(TrialVoid, match="bypassed"):
        require_pages(trace(asked), ["https://shop.test"], ["python-requests"])
    require_pages(trace(asked, page("https://shop.test/")), ["https://shop.test"], ["python-"])


@pytest.mark.parametrize(
    ("events", "known", "says"),
    [
        ([], {"reached": True}, r"^bypassed: .* its browser goes past it; tell its harness"),
        ([], {}, r"^bypassed or never asked for: .* cannot see which: look into"),
        ([], {"isolation": "namespace"}, "most likely the agent never opened the site: look into"),
        (
            [page("https://other.test/")],
            {"reached": None},
            r"requests to other\.test did, so most likely the agent never opened the site",
        ),
        # No browser's: it says nothing of the browser's way.
        ([page("https://other.test/", "curl/8")], {}, "cannot see which"),
    ],
)
def test_a_void_says_what_was_seen_how_sure_it_is_and_what_to_do(
    events: list[Event], known: dict[str, Any], says: str
) -> None:
    with pytest.raises(TrialVoid, match=says) as void:
        require_pages(trace(*events), ["https://shop.test"], **known)

    sure = known.get("reached") is True
    assert ("goes past it" in str(void.value)) is sure
    require_pages(trace(*events), ["https://shop.test"], reached=False)


def call(status: int) -> LlmCall:
    answered = status == 200
    return msgspec.convert(
        {
            **{"exchange": f"x{status}", "family": "openai_chat", "url": "https://llm.test/v1"},
            **{"model": "m", "step": 1, "began": 0.0, "messages": [], "stream": False},
            **{"status": status, "answer": "", "input_tokens": None, "output_tokens": None},
            **{"usage": "none", "latency_s": 0.1, "first_token_s": 0.1, "complete": answered},
            "error": None if answered else f"HTTP {status}: no key",
        },
        LlmCall,
    )


def test_a_model_that_never_answered_voids_the_trial_for_any_harness() -> None:
    with pytest.raises(TrialVoid, match="its model never answered: HTTP 401: no key"):
        require_model_answer(trace(call(401), call(401)))
    require_model_answer(trace(call(401), call(200)))
    require_model_answer(trace())


def test_a_model_that_a_fault_silenced_is_what_was_measured() -> None:
    planned = FaultPlanned(
        injection="i1",
        exchange="x500",
        rule="r",
        fault={"kind": "http_error"},
        stage="request",
        scope="",
        ordinal=1,
        effects=("reply",),
        url="https://llm.test/v1",
    )
    require_model_answer(trace(planned, call(500)))


class OpensAPage(Shop):
    """An agent that opens a page of the site before all else."""

    opens_page_first: ClassVar = True


@pytest.mark.wire
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


@pytest.mark.wire
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
