"""A defect has arrived once the client's system has it, though the client leaves at once."""

import pytest

from tests.engine.running import Scripted, running
from tests.proxy.support.client import secure
from tests.proxy.support.origin import Origin
from warex.engine.handler import Plan, Respond
from warex.engine.http.heads import Headers
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire


def test_leaving_at_a_broken_head_counts_as_a_hit(
    ca: CertificateAuthority, secure_h1: Origin
) -> None:
    broken = Respond(200, Headers(), (bytes(32 * 1024 * 1024),), defect="status_line")
    handler = Scripted(request_plan=lambda exchange: Plan(broken))
    with running(handler, ca) as engine:
        with secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client:
            client.sendall(b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert client.recv(15) == b"HTTP/1.1 2\x000 OK\r\n"[:15]
        outcome = handler.outcome()
    assert (outcome.end, outcome.head_sent, outcome.arrived) == ("client_left", True, True)
