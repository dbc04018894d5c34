import ssl

from warex.engine.tls.site_contexts import SiteContexts, TrustStore
from warex.proxy.certificates.ca import CertificateAuthority


def test_sites_are_verified_unless_the_user_says_otherwise(ca: CertificateAuthority) -> None:
    trust = TrustStore(ca.certificate, ca.hashed_dir)
    context = SiteContexts(trust).context((b"h2",))
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    lenient = SiteContexts(trust, insecure=True).context((b"h2",))
    assert (lenient.verify_mode, lenient.check_hostname) == (ssl.CERT_NONE, False)


def test_a_context_is_made_once_for_what_is_offered(ca: CertificateAuthority) -> None:
    contexts = SiteContexts(TrustStore(ca.certificate))
    assert contexts.context((b"h2",)) is contexts.context((b"h2",))
    assert contexts.context((b"h2",)) is not contexts.context(())
