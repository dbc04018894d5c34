"""The agent's own first page proves its way, and nothing else does."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from warex.clock import Clock
from warex.errors import TrialVoid
from warex.lane.config import ProxyConfig
from warex.lane.record.page_canary import FirstPageCanary
from warex.lane.record.recorder import Recorder
from warex.traces import (
    EVENTS,
    Canary,
    Event,
    FaultPlanned,
    RequestSeen,
    SiteUnreachable,
    TraceWriter,
    read_trace,
)

SITE = "https://shop.warex.test"
CHROMIUM = ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/131.0.0.0")


def asked(url: str, *headers: tuple[str, str]) -> RequestSeen:
    return RequestSeen(
        exchange="x1",
        method="GET",
        url=url,
        resource="document",
        top_level=True,
        http_version="HTTP/1.1",
        connection="c1",
        headers=list(headers),
        size=0,
    )


REFUSED = FaultPlanned(
    injection="i1",
    exchange="a1",
    rule="r",
    fault={},
    stage="request",
    scope="",
    ordinal=1,
    effects=("refuse",),
    url=f"{SITE}:443/",
    point="connect",
)


DOWN = SiteUnreachable(
    connection="c1",
    host="shop.warex.test",
    port=443,
    failure="connection_refused",
    error="it is down",
)


@pytest.mark.parametrize(
    ("events", "proved"),
    [
        ((), False),
        ((asked(f"{SITE}/cart", CHROMIUM),), True),
        ((asked(f"{SITE}/cart", CHROMIUM), asked(f"{SITE}/", CHROMIUM)), True),
        ((REFUSED,), True),
        ((DOWN,), True),
        ((asked(f"{SITE}/cart", ("user-agent", "python-httpx/0.28")),), False),
        ((asked(f"{SITE}/cart"),), False),
        ((asked("https://other.test/", CHROMIUM),), False),
    ],
)
def test_only_a_browser_that_comes_for_the_tasks_site_is_a_proof(
    events: Sequence[Event], proved: bool, tmp_path: Path
) -> None:
    writer = TraceWriter(tmp_path / EVENTS, Clock())
    recorder = Recorder(Clock(), writer)
    config = ProxyConfig(ca=tmp_path, sites=(SITE,), own_proof=True)
    proof = FirstPageCanary(config, recorder)
    recorder.on_written = proof.handle_event
    for event in events:
        recorder.write(event)

    if proved:
        proof.before_llm_call()
    else:
        with pytest.raises(
            TrialVoid, match=f"^bypassed or never asked for: .* no page of {SITE} came through"
        ):
            proof.before_llm_call()
        proof.before_llm_call()

    writer.close()
    canaries = [canary.passed for canary in read_trace(tmp_path / EVENTS).events(Canary)]
    assert canaries == [proved]


def test_where_a_canary_was_sent_the_model_may_be_asked_at_any_time(tmp_path: Path) -> None:
    FirstPageCanary(ProxyConfig(ca=tmp_path, sites=(SITE,)), Recorder(Clock())).before_llm_call()
