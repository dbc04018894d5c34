import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509

from warex.engine.handler import CertificateDefect
from warex.engine.tls.certificates import CertificateError, ServerContexts
from warex.proxy.certificates.ca import CertificateAuthority, key_file


@pytest.fixture
def contexts(ca: CertificateAuthority) -> ServerContexts:
    return ServerContexts(key_file(ca.folder))


def shown(
    server: ssl.SSLContext, host: str, trusted: Path | None, *protocols: str
) -> tuple[x509.Certificate, str | None]:
    """Return the certificate that a client accepts, and the protocol; without trust, any."""
    context = ssl.create_default_context(cafile=trusted)
    if trusted is None:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
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


def test_a_host_that_no_certificate_can_name_is_reported(contexts: ServerContexts) -> None:
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


@pytest.mark.parametrize("defect", ["expired", "wrong_host", "self_signed", "unknown_ca"])
@pytest.mark.parametrize("host", ["shop.example", "127.0.0.1", f"{'a' * 60}.shop.example"])
def test_a_certificate_is_wrong_in_one_way_only(
    contexts: ServerContexts, ca: CertificateAuthority, defect: CertificateDefect, host: str
) -> None:
    authority = x509.load_pem_x509_certificate(ca.certificate.read_bytes())

    certificate, _ = shown(contexts.defective(host, None, defect), host, None)

    now = datetime.now(UTC)
    extensions = certificate.extensions
    names = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    own = extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
    issuer = extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier
    is_ours = certificate.issuer == authority.subject
    if is_ours:
        certificate.verify_directly_issued_by(authority)
    assert certificate.not_valid_before_utc < now
    assert (certificate.not_valid_after_utc < now) == (defect == "expired")
    assert ([str(name.value) for name in names] != [host]) == (defect == "wrong_host")
    assert (certificate.issuer == certificate.subject) == (defect == "self_signed")
    assert (own == issuer) == (defect == "self_signed")
    assert is_ours == (defect in ("expired", "wrong_host"))
    assert certificate.public_key() != authority.public_key()
