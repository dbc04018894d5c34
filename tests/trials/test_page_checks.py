"""Whether a trace shows that the agent's browser came through the proxy, and had a model."""

from typing import Any

import msgspec
import pytest

from warex.errors import TrialVoid
from warex.traces import Entry, Event, FaultPlanned, LlmCall, RequestSeen, Trace, Tunnel
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
    with pytest.raises(TrialVoid, match=r"no page of any site .* cannot be told"):
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
        ([], {}, r"^bypassed or never asked for: .* cannot be told from here: look into"),
        ([], {"isolation": "namespace"}, "most likely the agent never opened the site: look into"),
        (
            [page("https://other.test/")],
            {"reached": None},
            r"requests to other\.test did, so most likely the agent never opened the site",
        ),
        # No browser's: it says nothing of the browser's way.
        ([page("https://other.test/", "curl/8")], {}, "cannot be told from here"),
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


def test_a_model_that_never_answered_voids_whatever_the_harness_made_of_it() -> None:
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
