"""No trial begins on a browser that goes past the proxy."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from warex.errors import TrialVoid
from warex.lane.config import ProxyConfig
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.canary import fetch_canary
from warex.sandbox.chromium import find_chromium
from warex.sandbox.environment import direct_environment
from warex.sandbox.isolation import Isolation, Sandbox, open_sandbox
from warex.traces import Canary, RequestSeen, read_trace
from warex.traffic import Capture


@pytest.fixture
def isolation() -> Isolation:
    return "environment"


@pytest.fixture
def sandbox(
    isolation: Isolation, forkserver: Forkserver, ca: CertificateAuthority, tmp_path: Path
) -> Iterator[Sandbox]:
    def configure(capture: Capture) -> ProxyConfig:
        return ProxyConfig(ca=ca.folder, capture=capture, out=tmp_path / "out")

    (tmp_path / "out").mkdir()
    with open_sandbox(isolation, forkserver, configure, ca, os.environ) as place:
        yield place


@pytest.mark.browser
@pytest.mark.parametrize("isolation", ["environment", "namespace"])
def test_the_canary_is_answered_and_in_the_trace(sandbox: Sandbox, tmp_path: Path) -> None:
    fetch_canary(find_chromium(), sandbox)

    sandbox.proxy.stop()
    trace = read_trace(tmp_path / "out" / "events.jsonl")
    assert {canary.passed for canary in trace.events(Canary)} == {True}
    assert not [seen for seen in trace.events(RequestSeen) if "canary" in seen.url]


@pytest.mark.browser
def test_a_browser_that_goes_past_the_proxy_is_found_out(
    sandbox: Sandbox, ca: CertificateAuthority
) -> None:
    sandbox.environment = direct_environment(os.environ, ca, {})

    with pytest.raises(TrialVoid, match="the canary page did not come back"):
        fetch_canary(find_chromium(), sandbox)


@pytest.mark.wire
def test_a_browser_that_cannot_be_started_voids_the_trial(sandbox: Sandbox) -> None:
    with pytest.raises(TrialVoid, match="'/no/such/browser' cannot be started"):
        fetch_canary(Path("/no/such/browser"), sandbox)


@pytest.mark.wire
def test_a_page_that_only_looks_like_an_answer_is_not_a_canary(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    liar = tmp_path / "liar"
    liar.write_text('#!/bin/sh\necho "started with $*"\necho "<html>all is well</html>"\n')
    liar.chmod(0o755)

    with pytest.raises(TrialVoid, match="It showed: '<html>all is well</html>'"):
        fetch_canary(liar, sandbox)
