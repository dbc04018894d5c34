"""No name that a client gives to TLS ends a trial."""

from contextlib import suppress

import pytest

from tests.proxy.support.client import trusting, tunnelled
from tests.proxy.support.lanes import Begin
from tests.proxy.support.origin import Origin
from tests.proxy.support.raw_sockets import read_to_end
from warex.proxy.certificates.ca import CertificateAuthority
from warex.traces import HarnessBroke


@pytest.mark.wire
def test_a_name_that_cannot_be_checked_fails_the_handshake_and_no_trial(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    port = secure_h1.port
    with begin() as lane:
        # As bytes, for Python would not send some of them as text.
        for name in (b"-.example", b"_", b"a..b", b"x" * 70):
            with (
                suppress(OSError),
                tunnelled(lane.port, "localhost", port) as raw,
                trusting(ca.certificate).wrap_socket(raw, server_hostname=name) as client,
            ):
                client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert read_to_end(client) == b""
        assert lane.proxy.broken is None
    assert lane.events(HarnessBroke) == []
