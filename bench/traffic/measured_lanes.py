"""Lanes with the configurations that are measured."""

from collections.abc import Iterator
from contextlib import contextmanager

from bench.traffic.counted_lanes import Lane, counting_lane
from bench.workspace import HOST, Workspace
from warex.faults.server.http_error import HttpError
from warex.lane.config import ProxyConfig
from warex.scenarios import Match, Rule, Scenario, Trigger
from warex.traffic import TrafficOptions

NEVER_REACHED = 10**9

LOADED = Scenario(
    name="loaded",
    rules=(
        # Matches and counts every exchange, but never fires.
        Rule(
            name="far-away",
            match=Match(url=f"https://{HOST}:*"),
            trigger=Trigger(nth=(NEVER_REACHED,)),
            per="url",
            fault=HttpError(status=500),
        ),
        Rule(
            name="pages",
            match=Match(url="{sites}", resource=("document",)),
            trigger=Trigger(nth=(NEVER_REACHED,)),
            fault=HttpError(status=503),
        ),
        Rule(
            name="other-site",
            match=Match(url="https://shop.example/api/*", method=("POST",)),
            trigger=Trigger(always=True),
            fault=HttpError(status=500),
        ),
    ),
)
"""Rules that match and count, but never fire."""


def warex_config(workspace: Workspace, scenario: Scenario | None = None) -> ProxyConfig:
    """Return a lane's configuration with tracing on."""
    return ProxyConfig(
        ca=workspace.ca.folder,
        out=workspace.fresh("trial"),
        scenario=scenario,
        traffic=TrafficOptions(insecure=True),
    )


@contextmanager
def lane(workspace: Workspace, scenario: Scenario | None = None) -> Iterator[Lane]:
    """Run a lane for clients that are configured with the proxy."""
    with counting_lane(workspace, warex_config(workspace, scenario)) as running:
        yield running
