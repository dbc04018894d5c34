"""No name that a client gives to TLS ends a trial."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest
from mitmproxy.net import tls as net_tls

from tests.proxy.support.client import trusting, tunnelled
from tests.proxy.support.lanes import Begin
from tests.proxy.support.origin import Origin
from tests.proxy.support.raw_sockets import read_to_end
from warex.lane.config import ProxyConfig
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.certificates.tlsconfig import is_verifiable, preload_trust_store
from warex.proxy.engine import run_engine
from warex.traces import HarnessBroke


@pytest.mark.parametrize(
    ("name", "can"),
    [
        ("localhost", True),
        ("my_site.example.com", True),
        ("127.0.0.1", True),
        ("::1", True),
        ("-", False),
        ("a..b", False),
        ("*.x", False),
        ("é" * 80, False),
        ("a b", False),
    ],
)
def test_what_openssl_cannot_check_is_known_before_it_is_asked(name: str, can: bool) -> None:
    assert is_verifiable(name) == can


@pytest.mark.wire
def test_a_name_that_cannot_be_checked_fails_the_handshake_and_no_trial(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    port = secure_h1.port
    with begin() as lane:
        for name in ("-.example", "_", "a..b", "x" * 70):
            with (
                suppress(OSError, ValueError),
                tunnelled(lane.port, "localhost", port) as raw,
                trusting(ca.certificate).wrap_socket(raw, server_hostname=name) as client,
            ):
                client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert read_to_end(client) == b""
        assert lane.proxy.broken is None
    assert lane.events(HarnessBroke) == []


@pytest.mark.wire
async def test_what_is_trusted_is_read_before_the_fork_and_not_by_the_lane(
    ca: CertificateAuthority, secure_h1: Origin, tmp_path: Path
) -> None:
    def ask(proxy: int) -> None:
        with (
            tunnelled(proxy, "localhost", secure_h1.port) as raw,
            trusting(ca.certificate).wrap_socket(raw, server_hostname="localhost") as client,
        ):
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert read_to_end(client).startswith(b"HTTP/1.1 200 ")

    preload_trust_store(ca.folder)
    before = net_tls.create_proxy_server_context.cache_info()
    async with run_engine(ProxyConfig(ca=ca.folder, out=tmp_path)) as engine:
        await asyncio.to_thread(ask, engine.port)
    after = net_tls.create_proxy_server_context.cache_info()
    assert (after.misses, after.hits) == (before.misses, before.hits + 1)
