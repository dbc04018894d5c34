"""A lane as its owner sees it: it starts, says what is wrong, and leaves nothing behind."""

import os
import resource
import signal
import threading
from pathlib import Path

import httpx
import pytest

from tests.proxy.support.lanes import Begin, scenario, wait_until
from tests.proxy.support.origin import Origin
from warex.errors import InputError, MachineError, ProcessDied, TrialVoid
from warex.faults.server.http_error import HttpError
from warex.lane.config import ProxyConfig
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.client import Proxy, start_proxy
from warex.proxy.process.forkserver import Forkserver
from warex.scenarios import Trigger
from warex.traces import FaultPlanned

pytestmark = pytest.mark.wire


def test_a_killed_proxy_is_a_broken_trial_with_a_whole_trace(begin: Begin, plain: Origin) -> None:
    with begin() as lane:
        with httpx.Client(proxy=lane.url) as client:
            for number in range(5):
                client.get(f"http://127.0.0.1:{plain.port}/{number}")
        # The last event may come a moment after the last byte.
        wait_until(lambda: len((lane.out / "events.jsonl").read_bytes().splitlines()) == 12)
        os.kill(lane.proxy.pid, signal.SIGKILL)
        wait_until(lambda: lane.proxy.broken)
        with pytest.raises(TrialVoid):
            lane.proxy.call("GET", "/status")
    assert lane.proxy.broken == "the proxy died before the trial's end"
    assert isinstance(lane.proxy.void, ProcessDied)
    kinds = [entry.event.event for entry in lane.trace.entries]
    assert kinds == ["trial_began", "armed", *["request", "response"] * 5]


def test_a_full_disk_is_reported_to_the_owner(begin: Begin, plain: Origin) -> None:
    with begin() as lane:
        written = (lane.out / "events.jsonl").stat().st_size
        resource.prlimit(lane.proxy.pid, resource.RLIMIT_FSIZE, (written, written))
        with httpx.Client(proxy=lane.url) as client, pytest.raises(httpx.TransportError):
            client.get(f"http://127.0.0.1:{plain.port}/a")
        wait_until(lambda: lane.proxy.broken)
        assert "events.jsonl" in (lane.proxy.broken or "")
    assert isinstance(lane.proxy.void, MachineError)
    assert plain.paths == []
    assert [entry.event.event for entry in lane.trace.entries] == ["trial_began", "armed"]


def test_the_proxys_end_is_always_reported(
    forkserver: Forkserver, ca: CertificateAuthority
) -> None:
    ended = threading.Event()
    with start_proxy(forkserver, ProxyConfig(ca=ca.folder), on_end=ended.set):
        assert not ended.is_set()
    assert ended.is_set()
    ended.clear()
    with start_proxy(forkserver, ProxyConfig(ca=ca.folder), on_end=ended.set) as proxy:
        os.kill(proxy.pid, signal.SIGKILL)
        assert ended.wait(5)


def test_an_existing_trace_is_not_overwritten(
    forkserver: Forkserver, ca: CertificateAuthority, tmp_path: Path
) -> None:
    config = ProxyConfig(ca=ca.folder, out=tmp_path)
    with start_proxy(forkserver, config):
        pass
    with pytest.raises(InputError, match="already holds a trace"), start_proxy(forkserver, config):
        pass


def test_a_folder_that_cannot_be_written_is_a_sentence(
    forkserver: Forkserver, ca: CertificateAuthority, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    config = ProxyConfig(ca=ca.folder, out=tmp_path / "file" / "out")
    with pytest.raises(MachineError, match="cannot"), start_proxy(forkserver, config):
        pass


def test_a_full_disk_at_the_start_is_a_sentence(
    forkserver: Forkserver, ca: CertificateAuthority, tmp_path: Path
) -> None:
    (tmp_path / "events.jsonl").symlink_to("/dev/full")
    config = ProxyConfig(ca=ca.folder, out=tmp_path)
    with pytest.raises(MachineError, match="events"), start_proxy(forkserver, config):
        pass


def test_two_concurrent_lanes_are_independent(begin: Begin, plain: Origin) -> None:
    url = f"http://127.0.0.1:{plain.port}/a"
    first = scenario(HttpError(status=501), Trigger(first=1))
    second = scenario(HttpError(status=502), Trigger(nth=(2,)))
    with begin(scenario=first) as one, begin(scenario=second) as two:
        assert one.proxy.pid != two.proxy.pid
        with httpx.Client(proxy=one.url) as left, httpx.Client(proxy=two.url) as right:
            met = [(left.get(url).status_code, right.get(url).status_code) for _ in range(3)]
        assert met == [(501, 200), (200, 502), (200, 200)]
        assert len(one.proxy.call("GET", "/ledger")) == 2
    for lane in (one, two):
        assert [event.exchange for event in lane.events(FaultPlanned)] == [
            "x1" if lane is one else "x2"
        ]


def test_lanes_in_a_row_leave_nothing_behind(
    forkserver: Forkserver, ca: CertificateAuthority
) -> None:
    def run() -> int:
        with start_proxy(forkserver, ProxyConfig(ca=ca.folder)) as proxy:
            return proxy.pid

    run()
    before, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
    pids = [run() for _ in range(15)]
    assert len(os.listdir("/proc/self/fd")) == before
    assert threading.active_count() == threads
    assert len(set(pids)) == 15
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


@pytest.mark.parametrize(
    ("host", "url"), [("127.0.0.1", "http://127.0.0.1:8"), ("::1", "http://[::1]:8")]
)
def test_a_proxys_url_can_be_given_to_a_client(host: str, url: str) -> None:
    proxy = Proxy(8, 9, "token", 1, host)
    assert proxy.url == url
    proxy.stop()
