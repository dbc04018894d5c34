"""The certificate store of WAREX's CA, read once, before the forkserver forks.

When OpenSSL loads an RSA key (of an older CA), it checks its primes, which takes four fifths of a
lane's start-up. WAREX made the key on this machine and only its owner can write it, so the check
is skipped.
"""

from functools import lru_cache
from pathlib import Path
from typing import cast

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from mitmproxy import certs

from warex.proxy.certificates.ca import dhparam_file, key_file


def load_store(folder: Path) -> certs.CertStore:
    """Return the store of the CA in a folder; read it again only if its file has changed."""
    stat = key_file(folder).stat()
    return _read(folder, (stat.st_ino, stat.st_mtime_ns))


@lru_cache(maxsize=2)
def _read(folder: Path, written: tuple[int, int]) -> certs.CertStore:
    pem = key_file(folder).read_bytes()
    # mitmproxy's annotation says RSA, but it works with other keys.
    key = cast(RSAPrivateKey, load_pem_private_key(pem, None, unsafe_skip_rsa_key_validation=True))
    chain = x509.load_pem_x509_certificates(pem)
    return certs.CertStore(
        key,
        certs.Cert(chain[0]),
        key_file(folder) if len(chain) > 1 else None,
        certs.dummy_crl(key, chain[0]),
        certs.CertStore.load_dhparam(dhparam_file(folder)),
    )
