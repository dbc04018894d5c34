"""What connections to a site resume: sessions of their own trial's, as long as the site agrees."""

import ssl
from pathlib import Path

import pytest

from tests.engine.pass_through import PassThrough
from tests.engine.running import Running, Scripted, running
from tests.proxy.support.client import read_answer, secure
from tests.proxy.support.origin import Origin, served, server_context
from warex.engine.handler import Connection, Handler
from warex.engine.http.heads import RequestHead
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def ask(engine: Running, site: Origin, ca: CertificateAuthority) -> None:
    """Ask on a new connection."""
    with secure(engine.port, "localhost", site.port, ca.certificate) as client:
        client.sendall(GET)
        assert read_answer(client)[1] == b"hello"


def test_connections_to_a_site_resume_sessions_of_both_tls_versions(
    ca: CertificateAuthority, leaf: tuple[Path, Path]
) -> None:
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = server_context(*leaf, ["http/1.1"])
        context.minimum_version = context.maximum_version = version
        with served(context) as site, running(Scripted(), ca) as engine:
            for _ in range(3):
                ask(engine, site, ca)
            assert site.resumed == [False, True, True]


def test_a_site_that_refuses_a_session_is_shaken_hands_with_in_full(
    ca: CertificateAuthority, leaf: tuple[Path, Path]
) -> None:
    with running(Scripted(), ca) as engine:
        with served(server_context(*leaf, ["http/1.1"])) as site:
            ask(engine, site, ca)
            ask(engine, site, ca)
            assert site.resumed == [False, True]
        # It has new keys for its tickets.
        with served(server_context(*leaf, ["http/1.1"]), port=site.port) as site:
            for _ in range(3):
                ask(engine, site, ca)
            assert site.resumed == [False, True, True]
        without = server_context(*leaf, ["http/1.1"])
        without.num_tickets = 0
        with served(without) as site:
            ask(engine, site, ca)
            ask(engine, site, ca)
            assert site.resumed == [False, False]


class InTurns:
    """Two handlers, of every other connection each."""

    def __init__(self) -> None:
        self.handlers = (Scripted(), Scripted())

    def of_connection(self, connection: Connection) -> PassThrough:
        return self.handlers[connection.number % 2]

    def of_request(self, connection: Connection, head: RequestHead) -> Handler:
        return self.of_connection(connection)


def test_no_trial_resumes_what_another_has_begun_nor_one_that_has_ended(
    ca: CertificateAuthority, secure_h1: Origin
) -> None:
    handlers = InTurns()
    with running(handlers, ca) as engine:
        for _ in range(4):
            ask(engine, secure_h1, ca)
        assert secure_h1.resumed == [False, False, True, True]
        engine.finish(engine.engine.drop(handlers.handlers[1]))
        ask(engine, secure_h1, ca)
        ask(engine, secure_h1, ca)
        assert secure_h1.resumed[4:] == [False, True]
