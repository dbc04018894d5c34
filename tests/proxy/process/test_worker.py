"""The process behind a lane, through its channel."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.ports import reserved_port
from tests.proxy.support.lanes import Begin, scenario
from tests.proxy.support.origin import Origin
from warex.faults.server.http_error import HttpError
from warex.lane.config import ProxyConfig
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.forkserver import Forkserver
from warex.proxy.process.worker import _LATE

pytestmark = pytest.mark.wire


@pytest.fixture
def channel(forkserver: Forkserver) -> Iterator[socket.socket]:
    with forkserver.start() as opened:
        opened.settimeout(20)
        yield opened


def lines_of(channel: socket.socket) -> list[dict[str, Any]]:
    with channel.makefile() as lines:
        return [json.loads(line) for line in lines]


def test_a_worker_reports_ready_and_ends_cleanly(
    channel: socket.socket, ca: CertificateAuthority
) -> None:
    channel.sendall(ProxyConfig(ca=ca.folder).model_dump_json().encode() + b"\n")
    channel.shutdown(socket.SHUT_WR)
    ready, ended = lines_of(channel)
    assert ready["kind"] == "ready"
    assert ready.keys() == {"kind", "pid", "port", "control", "token"}
    assert ended.keys() == {"kind", "saw"}


def test_a_caller_that_says_nothing_is_not_served(channel: socket.socket) -> None:
    channel.shutdown(socket.SHUT_WR)
    assert lines_of(channel) == []


def test_what_is_not_a_configuration_is_refused_in_a_sentence(channel: socket.socket) -> None:
    channel.sendall(b'{"ca": 1}\n')
    (failed,) = lines_of(channel)
    assert failed["kind"] == "failed"
    assert "ValidationError" in failed["sentence"]


@pytest.mark.slow
def test_a_first_lane_loads_nothing_that_it_may_not_need() -> None:
    unneeded = ("difflib", "jinja2", "tomllib", "turbohtml", "yaml", *_LATE)
    program = (
        "import sys; from warex.proxy.process import worker; worker.preload()\n"
        f"print([name for name in {unneeded!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n"


@pytest.mark.parametrize("verbose", [True, False])
def test_faults_are_reported_as_they_end_if_asked(
    begin: Begin, plain: Origin, verbose: bool
) -> None:
    url = f"http://127.0.0.1:{plain.port}/a"
    faulty = scenario(HttpError(status=500))
    with begin(scenario=faulty, verbose=verbose) as lane, httpx.Client(proxy=lane.url) as client:
        assert [client.get(url).status_code for _ in range(2)] == [500, 500]
    assert lane.notices == [f"delivered: http_error on {url} (rule rule)"] * 2 * verbose


def test_a_notice_is_sent_once(begin: Begin) -> None:
    dead, other = reserved_port(), reserved_port()
    with begin() as lane, httpx.Client(proxy=lane.url) as client:
        for port in (dead, other, dead):
            with pytest.raises(httpx.TransportError):
                client.get(f"http://127.0.0.1:{port}/")
    first, second = lane.notices
    assert f":{dead} cannot be reached" in first
    assert f":{other} cannot be reached" in second
