"""TLS that fails on purpose: what the certificates say, and what programs say to them."""

import os
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.proxy.support.client import trusting, tunnelled
from tests.proxy.support.lanes import Begin, scenario, wait_until
from tests.proxy.support.origin import Origin
from warex.effects import CertificateDefect
from warex.faults.connection.protocol_downgrade import ProtocolDowngrade
from warex.faults.connection.tls_error import TlsError
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Scenario, Trigger
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned, RequestSeen, TlsRejected

HOST = "shop.test"
WAYS: tuple[CertificateDefect, ...] = ("expired", "wrong_host", "self_signed", "unknown_ca")


def failing(how: str, trigger: Trigger | None = None, hold: float = 3, **rule: object) -> Scenario:
    fault = TlsError.model_validate({"how": how, "hold": hold})
    return scenario(fault, trigger or Trigger(first=1), **rule)


# ---- on the wire

CURL = {"expired": 60, "wrong_host": 60, "self_signed": 60, "unknown_ca": 60, "cut": 35}
NODE = {
    "expired": "CERT_HAS_EXPIRED",
    "wrong_host": "ERR_TLS_CERT_ALTNAME_INVALID",
    "self_signed": "DEPTH_ZERO_SELF_SIGNED_CERT",
    "unknown_ca": "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "cut": "ECONNRESET",
}
_NODE = """
const [proxy, site] = process.argv.slice(1).map(it => new URL(it));
const http = require("http"), https = require("https");
http.request({host: proxy.hostname, port: proxy.port, method: "CONNECT", path: site.host})
  .on("connect", (answer, socket) =>
    https.get({host: site.hostname, path: "/", socket, servername: site.hostname, agent: false},
      it => console.log(it.statusCode)).on("error", error => console.log(error.code)))
  .end();
"""
_REQUESTS = """
import sys, requests
proxy, site = sys.argv[1:]
try:
    print(requests.get(site, proxies={"https": proxy}, timeout=10).status_code)
except requests.exceptions.RequestException as error:
    print(type(error).__name__)
"""


@pytest.fixture(scope="module")
def bundle(ca: CertificateAuthority, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ca.bundle(tmp_path_factory.mktemp("bundle") / "bundle.pem")


def output_of(program: str, proxy: str, site: str, bundle: Path) -> str:
    command = {
        "curl": ["curl", "-s", "-o", os.devnull, "-x", proxy, "--cacert", str(bundle), site],
        "node": ["node", "-e", _NODE, proxy, site],
        "requests": [sys.executable, "-c", _REQUESTS, proxy, site],
    }[program]
    trust = {"NODE_EXTRA_CA_CERTS": str(bundle), "REQUESTS_CA_BUNDLE": str(bundle)}
    environment = {"PATH": os.environ["PATH"], "NO_PROXY": "", **trust}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    return str(done.returncode) if program == "curl" else done.stdout.strip()


_PROGRAMS = {"requests": "200", "curl": "0", "node": "200"}
"""What each says when all is well."""


@pytest.mark.wire
@pytest.mark.parametrize(
    ("how", "programs"),
    [
        *((how, ["requests"]) for how in ("expired", "cut")),
        *(pytest.param(how, list(_PROGRAMS), marks=pytest.mark.slow) for how in [*WAYS, "cut"]),
    ],
)
def test_programs_meet_the_failure_and_then_the_site(
    how: str, programs: list[str], begin: Begin, bundle: Path, secure_h1: Origin
) -> None:
    site = f"https://localhost:{secure_h1.port}/"
    answer = {"curl": str(CURL[how]), "node": NODE[how], "requests": "SSLError"}
    with begin(scenario=failing(how, hold=60)) as lane:
        for program in programs:
            assert output_of(program, lane.url, site, bundle) == answer[program], program
        wait_until(lambda: len(lane.events(FaultDelivered)) == len(programs))
        lane.proxy.call("POST", "/task/end")
        for program in programs:
            assert output_of(program, lane.url, site, bundle) == _PROGRAMS[program], program
    planned = lane.events(FaultPlanned)
    assert [event.repeat_of for event in planned] == [None, "i1", "i1"][: len(programs)]
    assert {(event.url, event.point) for event in planned} == {(site, "tls")}
    assert len(lane.events(RequestSeen)) == len(programs)
    assert lane.events(TlsRejected) == [], "the host must not be passed through from now on"
    assert lane.notices == []


@pytest.mark.wire
def test_after_its_hold_the_site_heals_by_itself(
    begin: Begin, ca: CertificateAuthority, secure_h2: Origin
) -> None:
    url = f"https://localhost:{secure_h2.port}/"
    with begin(scenario=failing("expired", hold=0.2)) as lane:
        with (
            httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client,
            pytest.raises(httpx.ConnectError, match="certificate has expired"),
        ):
            client.get(url)

        def is_well() -> bool:
            with httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client:
                try:
                    return client.get(url).status_code == 200
                except httpx.ConnectError:
                    return False

        wait_until(is_well)
    assert {event.ordinal for event in lane.events(FaultPlanned)} == {1}
    assert len(lane.events(FaultPlanned)) == len(lane.events(FaultDelivered))


@pytest.mark.wire
def test_a_client_that_takes_any_certificate_was_shown_it_and_goes_on(
    begin: Begin, secure_h2: Origin
) -> None:
    with (
        begin(scenario=failing("self_signed")) as lane,
        httpx.Client(proxy=lane.url, verify=False, http2=True) as client,
    ):
        answer = client.get(f"https://localhost:{secure_h2.port}/")
        assert answer.status_code == 200
    assert len(lane.events(FaultDelivered)) == 1


@pytest.mark.wire
def test_a_client_and_its_site_speak_http1_where_http2_is_refused(
    begin: Begin, ca: CertificateAuthority, secure_h2: Origin
) -> None:
    url = f"https://localhost:{secure_h2.port}/"
    rules = scenario(ProtocolDowngrade(hold=0), Trigger(first=1))
    versions = []
    with begin(scenario=rules) as lane:
        for _ in range(2):
            trust = trusting(ca.certificate)
            with httpx.Client(proxy=lane.url, verify=trust, http2=True) as client:
                answer = client.get(url)
                assert answer.status_code == 200
                versions.append(answer.http_version)
    assert versions == ["HTTP/1.1", "HTTP/2"]
    assert len(lane.events(FaultDelivered)) == 1
    assert [it.http_version for it in lane.events(RequestSeen)] == ["HTTP/1.1", "HTTP/2.0"]


@pytest.mark.wire
def test_a_client_that_left_before_the_certificate_was_not_hit(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = trusting(ca.certificate).wrap_bio(incoming, outgoing, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    with begin(scenario=failing("expired")) as lane:
        with tunnelled(lane.port, "localhost", secure_h1.port) as raw:
            # The last segment of the hello also closes, so nobody reads the one without the other.
            raw.send(outgoing.read(), socket.MSG_MORE)
            raw.shutdown(socket.SHUT_WR)
        wait_until(lambda: lane.events(FaultMissed) or lane.events(FaultDelivered))
    assert [event.reason for event in lane.events(FaultMissed)] == ["client_gone"]


@pytest.mark.wire
def test_a_resumed_session_is_not_a_way_past_the_certificate(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    context = trusting(ca.certificate)
    with begin(scenario=failing("expired", Trigger(nth=(2,)), hold=0)) as lane:
        with (
            tunnelled(lane.port, "localhost", secure_h1.port) as raw,
            context.wrap_socket(raw, server_hostname="localhost") as first,
        ):
            first.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert first.recv(100)
            session = first.session
        with (
            tunnelled(lane.port, "localhost", secure_h1.port) as raw,
            pytest.raises(ssl.SSLCertVerificationError, match="expired"),
        ):
            context.wrap_socket(raw, server_hostname="localhost", session=session)


@pytest.mark.wire
def test_no_fault_reaches_a_host_that_is_passed_through(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    with (
        begin(scenario=failing("expired"), pass_through=("localhost",)) as lane,
        httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client,
    ):
        assert client.get(f"https://localhost:{secure_h1.port}/").status_code == 200
    assert lane.events(FaultPlanned) == []
