"""Stock mitmdump with WAREX in it, as a user starts it."""

import urllib.error
import urllib.request
from pathlib import Path

import httpx
import pytest
from mitmproxy import exceptions
from mitmproxy.http import HTTPFlow
from mitmproxy.io import FlowReader
from mitmproxy.test import taddons

from tests.mitmproxy_addon.dump import mitmdump
from tests.proxy.support.client import trusting
from tests.proxy.support.origin import Origin
from warex.faults.popups.malicious_popup import MaliciousPopup
from warex.mitmproxy_addon.script import Warex
from warex.traces import FaultDelivered, RequestSeen, TrialBegan, TrialEnded, read_trace


def status(port: int, url: str) -> int:
    proxy = urllib.request.ProxyHandler({"http": f"http://127.0.0.1:{port}"})
    request = urllib.request.Request(url, headers={"Sec-Fetch-Dest": "document"})
    try:
        with urllib.request.build_opener(proxy).open(request, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.slow
@pytest.mark.wire
def test_stock_mitmdump_injects_and_records(tmp_path: Path, plain: Origin) -> None:
    url = f"http://127.0.0.1:{plain.port}/"
    with mitmdump(tmp_path, scenario="paper/server-error", seed="7", out="out") as dump:
        met = [status(dump.port, url), status(dump.port, url)]
        message = dump.stop()

    assert met == [500, 200]
    assert len(plain.seen) == 1
    assert "Traceback" not in message
    trace = read_trace(tmp_path / "out" / "events.jsonl")
    (began,) = trace.events(TrialBegan)
    (delivered,) = trace.events(FaultDelivered)
    assert began.seed == 7
    assert delivered.rule == "server-error"
    assert [event.exchange for event in trace.events(RequestSeen)] == ["x1", "x2"]
    (ended,) = trace.events(TrialEnded)
    assert (ended.exchanges, ended.delivered, ended.missed) == (2, 1, 0)


@pytest.mark.slow
@pytest.mark.wire
def test_stock_mitmdump_answers_for_a_faults_own_site(tmp_path: Path) -> None:
    assert MaliciousPopup.own_site is not None
    host = MaliciousPopup.own_site.hosts[0]
    with mitmdump(tmp_path, scenario="paper/malicious-popup") as dump:
        url, proxy = f"https://{host}/", f"http://127.0.0.1:{dump.port}"
        met = httpx.get(
            url, proxy=proxy, verify=trusting(tmp_path / "conf" / "mitmproxy-ca-cert.pem")
        ).status_code

    assert met == 200


@pytest.mark.slow
@pytest.mark.wire
def test_mitmproxys_own_flow_files_can_be_kept_beside(tmp_path: Path, plain: Origin) -> None:
    url = f"http://127.0.0.1:{plain.port}/"
    with mitmdump(tmp_path, "-w", "flows", scenario="paper/server-error") as dump:
        met = [status(dump.port, url), status(dump.port, url)]
        message = dump.stop()

    assert met == [500, 200]
    assert "Traceback" not in message
    with (tmp_path / "flows").open("rb") as file:
        flows = list(FlowReader(file).stream())
    assert [flow.response.status_code for flow in flows if isinstance(flow, HTTPFlow)] == met  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.wire
def test_stock_mitmdump_does_not_start_under_a_bad_scenario(tmp_path: Path) -> None:
    with mitmdump(tmp_path, scenario="paper/server-eror") as dump:
        rest, _ = dump.process.communicate(timeout=20)

    message = "".join(dump.output) + rest
    assert dump.process.returncode == 1
    assert "WAREX: there is no scenario 'paper/server-eror'; did you mean" in message
    assert "Traceback" not in message


async def test_a_bad_option_is_refused_and_the_trial_continues(
    tmp_path: Path,
) -> None:
    warex = Warex()
    with taddons.context(warex) as context:
        context.configure(warex, warex_scenario="paper/server-error", warex_out=str(tmp_path))
        (before,) = warex.addons
        with pytest.raises(exceptions.OptionsError, match="there is no scenario 'none'"):
            context.configure(warex, warex_scenario="none")
        with pytest.raises(exceptions.OptionsError, match=r"cannot show here.*--isolate namespace"):
            context.configure(warex, warex_scenario="connection/dns")
        with pytest.raises(exceptions.OptionsError, match="already holds a trace"):
            context.configure(warex, warex_seed=2)
        assert warex.addons == [before]
        warex.done()

    last = read_trace(tmp_path / "events.jsonl").entries[-1].event
    assert last == TrialEnded(exchanges=0, delivered=0, missed=0, redacted=0)


async def test_another_scenario_begins_another_trial(tmp_path: Path) -> None:
    warex = Warex()
    with taddons.context(warex) as context:
        context.configure(warex, warex_out=str(tmp_path / "one"))
        context.configure(
            warex, warex_scenario="paper/network-error", warex_out=str(tmp_path / "two")
        )
        warex.done()

    assert warex.addons == []
    one, two = (read_trace(tmp_path / name / "events.jsonl") for name in ("one", "two"))
    assert [type(entry.event) for entry in one.entries][-1] is TrialEnded
    (began,) = two.events(TrialBegan)
    assert began.scenario is not None
    assert began.scenario["name"] == "paper/network-error"
