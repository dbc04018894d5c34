import ssl
from pathlib import Path

import pytest
from cryptography import x509

from warex.engine.tls.certificates import CertificateError, ServerContexts
from warex.proxy.certificates.ca import CertificateAuthority, key_file


@pytest.fixture
def contexts(ca: CertificateAuthority) -> ServerContexts:
    return ServerContexts(key_file(ca.folder))


def shown(
    server: ssl.SSLContext, host: str, trusted: Path, *protocols: str
) -> tuple[x509.Certificate, str | None]:
    """Return the certificate that a client accepts, and the protocol."""
    context = ssl.create_default_context(cafile=trusted)
    if protocols:
        context.set_alpn_protocols(list(protocols))
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(down, up, server_hostname=host)
    site = server.wrap_bio(up, down, server_side=True)
    done: set[ssl.SSLObject] = set()
    while len(done) < 2:
        for side in (client, site):
            try:
                side.do_handshake()
                done.add(side)
            except ssl.SSLWantReadError:
                continue
    der = client.getpeercert(binary_form=True)
    assert der is not None
    return x509.load_der_x509_certificate(der), client.selected_alpn_protocol()


@pytest.mark.parametrize("host", ["shop.example", "127.0.0.1", "::1", "x" * 63 + ".example"])
def test_a_certificate_names_its_host(
    contexts: ServerContexts, ca: CertificateAuthority, host: str
) -> None:
    certificate, protocol = shown(
        contexts.context(host, "h2"), host, ca.certificate, "h2", "http/1.1"
    )
    assert protocol == "h2"
    assert certificate.public_key().key_size == 256  # type: ignore[union-attr]


def test_a_context_is_made_once_for_a_host_and_protocol(contexts: ServerContexts) -> None:
    made = contexts.context("shop.example", "h2")
    assert contexts.context("shop.example", "h2") is made
    assert contexts.context("shop.example", None) is not made
    assert contexts.defective("shop.example", "h2", "expired") is not made


def test_a_host_that_no_certificate_can_name_is_told(contexts: ServerContexts) -> None:
    with pytest.raises(CertificateError, match="no certificate names"):
        contexts.context("shöp.example", None)


@pytest.mark.parametrize(
    ("defect", "message"),
    [
        ("expired", "certificate has expired"),
        ("wrong_host", "Hostname mismatch"),
        ("self_signed", "self-signed certificate"),
        ("unknown_ca", "unable to get local issuer"),
    ],
)
def test_a_defect_is_the_only_one(
    contexts: ServerContexts, ca: CertificateAuthority, defect: str, message: str
) -> None:
    server = contexts.defective("shop.example", None, defect)  # type: ignore[arg-type]
    with pytest.raises(ssl.SSLCertVerificationError, match=message):
        shown(server, "shop.example", ca.certificate)
