"""Below HTTP: who is read, and who refuses to be."""

import ssl

import httpx
import pytest

from tests.proxy.support.client import trusting, tunnelled
from tests.proxy.support.lanes import Begin, scenario, wait_until
from tests.proxy.support.origin import Origin
from warex.faults import HttpError
from warex.proxy.ca import CertificateAuthority
from warex.traces import TlsRejected, Tunnel

pytestmark = pytest.mark.wire
ALWAYS = scenario(HttpError(status=500))


def test_a_host_whose_client_refuses_us_is_passed_through_from_then_on(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    stranger = ssl.create_default_context()
    with begin(scenario=ALWAYS) as lane:
        raw = tunnelled(lane.port, "localhost", secure_h1.port)
        with raw, pytest.raises(ssl.SSLCertVerificationError):
            stranger.wrap_socket(raw, server_hostname="localhost")
        wait_until(lambda: lane.notices)
        with httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client:
            assert client.get(f"https://localhost:{secure_h1.port}/a").text == "hello"
    assert [event.host for event in lane.events(TlsRejected)] == ["localhost"]
    assert [event.why for event in lane.events(Tunnel)] == ["tls_rejected"]
    assert "does not trust" in lane.notices[0]


def test_a_client_that_only_goes_away_has_refused_nobody(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    with begin(scenario=ALWAYS) as lane:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = trusting(ca.certificate).wrap_bio(incoming, outgoing, server_hostname="localhost")
        with tunnelled(lane.port, "localhost", secure_h1.port) as raw:
            with pytest.raises(ssl.SSLWantReadError):
                tls.do_handshake()
            raw.sendall(outgoing.read())
            assert raw.recv(1)
        with httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client:
            assert client.get(f"https://localhost:{secure_h1.port}/a").status_code == 500
    assert lane.events(TlsRejected) == []
