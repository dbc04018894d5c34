import ssl
from contextlib import suppress
from pathlib import Path

import pytest
from OpenSSL import SSL

from warex.engine.tls.layer import TlsLayer
from warex.proxy.certificates.ca import CertificateAuthority


@pytest.fixture
def pair(ca: CertificateAuthority, leaf: tuple[Path, Path]) -> tuple[TlsLayer, TlsLayer]:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*leaf)
    client = ssl.create_default_context(cafile=ca.certificate)
    return (
        TlsLayer(client, server_hostname="localhost"),
        TlsLayer(server, server_side=True),
    )


def carry(source: TlsLayer, sink: TlsLayer) -> None:
    sink.incoming.write(source.outgoing.read())


def shaken(client: TlsLayer, server: TlsLayer) -> None:
    done: set[TlsLayer] = set()
    while len(done) < 2:
        for one, other in ((client, server), (server, client)):
            if one.shake_hands():
                done.add(one)
            carry(one, other)


def test_bytes_come_through(pair: tuple[TlsLayer, TlsLayer]) -> None:
    client, server = pair
    shaken(client, server)
    body = bytes(range(256)) * 1000
    server.session.write(body)
    carry(server, client)
    assert client.read() == body
    assert client.read() == b""
    assert not client.has_ended


def test_an_orderly_end_is_one(pair: tuple[TlsLayer, TlsLayer]) -> None:
    client, server = pair
    shaken(client, server)
    server.session.write(b"last")
    with pytest.raises(ssl.SSLError):
        server.session.unwrap()
    carry(server, client)
    assert client.read() == b"last"
    client.read()
    assert (client.has_ended, client.error) == (True, None)


def test_broken_bytes_are_an_error(pair: tuple[TlsLayer, TlsLayer]) -> None:
    client, server = pair
    shaken(client, server)
    client.incoming.write(b"\x17\x03\x03\x00\x20" + bytes(32))
    assert client.read() == b""
    assert client.has_ended
    assert "bad record mac" in (client.error or "")


def test_what_is_written_while_the_peer_shakes_hands_again_follows_later(
    ca: CertificateAuthority, leaf: tuple[Path, Path]
) -> None:
    context = SSL.Context(SSL.TLSv1_2_METHOD)
    context.use_certificate_file(str(leaf[0]))
    context.use_privatekey_file(str(leaf[1]))
    site = SSL.Connection(context)
    site.set_accept_state()
    client = TlsLayer(
        ssl.create_default_context(cafile=ca.certificate), server_hostname="localhost"
    )

    def carry_both() -> bytes:
        got = b""
        for _ in range(4):
            if existing := client.outgoing.read():
                site.bio_write(existing)
            for step in (site.do_handshake, lambda: site.recv(9999)):
                with suppress(SSL.WantReadError):
                    got += step() or b""
            with suppress(SSL.WantReadError):
                client.incoming.write(site.bio_read(99_999))
            if client.session.version() is None or not done:
                done.extend([True] * client.shake_hands())
            else:
                client.read()
        return got

    done: list[bool] = []
    carry_both()
    assert done
    site.renegotiate()
    with suppress(SSL.WantReadError):
        site.do_handshake()
    client.incoming.write(site.bio_read(99_999))
    assert client.read() == b""
    client.write(b"first, ")
    client.write(b"then")
    assert client.unwritten
    assert carry_both() == b"first, then"
    assert not client.unwritten
