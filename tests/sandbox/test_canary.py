"""No trial begins on a browser that goes past the proxy."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from warex.errors import TrialVoid
from warex.proxy.ca import CertificateAuthority
from warex.proxy.lane import Proxy
from warex.sandbox.canary import fetch_canary
from warex.sandbox.chromium import find_chromium
from warex.sandbox.environment import Environment, behind_proxy, without_proxy
from warex.traces import Canary, RequestSeen, read_trace


@pytest.fixture
def there(lane: tuple[Proxy, Path], ca: CertificateAuthority, tmp_path: Path) -> Environment:
    return behind_proxy(os.environ, lane[0].url, ca, ca.bundle(tmp_path / "bundle.pem"))


@pytest.mark.browser
def test_the_canary_comes_back_through_the_proxy_and_stands_in_the_trace(
    there: Environment, lane: tuple[Proxy, Path]
) -> None:
    fetch_canary(find_chromium(), there)

    trace = read_trace(lane[1] / "events.jsonl")
    assert {canary.passed for canary in trace.events(Canary)} == {True}
    assert not [seen for seen in trace.events(RequestSeen) if "canary" in seen.url]


@pytest.mark.browser
def test_a_browser_without_our_arguments_is_found_out(there: Environment) -> None:
    with pytest.raises(TrialVoid, match="does not pass through the proxy, or it does not trust"):
        fetch_canary(find_chromium(), replace(there, browser_arguments=()))


@pytest.mark.browser
def test_a_browser_that_goes_past_the_proxy_is_found_out(ca: CertificateAuthority) -> None:
    with pytest.raises(TrialVoid, match="the canary page did not come back"):
        fetch_canary(find_chromium(), without_proxy(os.environ, ca, {}))


@pytest.mark.wire
def test_a_browser_that_cannot_be_started_voids_the_trial(there: Environment) -> None:
    with pytest.raises(TrialVoid, match="'/no/such/browser' cannot be started"):
        fetch_canary(Path("/no/such/browser"), there)


@pytest.mark.wire
def test_a_page_that_only_looks_like_an_answer_is_no_canary(
    there: Environment, tmp_path: Path
) -> None:
    liar = tmp_path / "liar"
    liar.write_text('#!/bin/sh\necho "started with $*"\necho "<html>all is well</html>"\n')
    liar.chmod(0o755)

    with pytest.raises(TrialVoid, match="It showed: '<html>all is well</html>'"):
        fetch_canary(liar, there)
