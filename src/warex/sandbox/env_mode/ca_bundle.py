"""Certificate bundles and settings that combine the user's own with WAREX's.

A variable such as ``REQUESTS_CA_BUNDLE`` may name a company's certificates; its replacement keeps
them.
"""

import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path

from warex.files.reading import read_regular_file
from warex.proxy.certificates.ca import CertificateAuthority
from warex.sandbox.environment import CA_BUNDLE_VARIABLES, EXTRA_CA_VARIABLES, NO_PROXY_HOSTS

_BEGIN = b"-----BEGIN CERTIFICATE-----"
_FOLDER = "SSL_CERT_DIR"
_IN_FOLDER = ("*.pem", "*.crt", "*.0")


def combined_bundles(
    base: Mapping[str, str], ca: CertificateAuthority, scratch: Path
) -> dict[str, Path]:
    """Write a bundle for each variable that names the user's certificates; return them by name."""
    ours = ca.certificate.read_bytes()
    made: dict[tuple[Path, ...], Path] = {}
    bundles: dict[str, Path] = {}
    for name in (*CA_BUNDLE_VARIABLES, *EXTRA_CA_VARIABLES):
        sources = tuple(_sources(name, base))
        if not sources:
            continue
        if sources not in made:
            path = scratch / f"own-{len(made) + 1}.pem"
            path.write_bytes(b"\n".join([*map(_certificates, sources), ours]))
            made[sources] = path
        bundles[name] = made[sources]
    return bundles


def _sources(name: str, base: Mapping[str, str]) -> Iterator[Path]:
    """Yield the user's files and folders for this variable, except the system's default."""
    if (named := base.get(name)) and Path(named).exists():
        yield Path(named)
    folder = base.get(_FOLDER)
    # OpenSSL reads the folder as well as the file; the system's folder is in its bundle already.
    if name == "SSL_CERT_FILE" and folder and Path(folder).is_dir():
        usual = ssl.get_default_verify_paths().openssl_capath
        if Path(folder).resolve() != Path(usual).resolve():
            yield Path(folder)


def _certificates(source: Path) -> bytes:
    try:
        if not source.is_dir():
            return read_regular_file(source)
        files = sorted({file.resolve() for glob in _IN_FOLDER for file in source.glob(glob)})
        read = (read_regular_file(file) for file in files if file.is_file())
        return b"\n".join(data for data in read if _BEGIN in data)
    except OSError:
        return b""  # It is unreadable without WAREX, too.


def write_wgetrc(base: Mapping[str, str], proxy: str, bundle: Path, scratch: Path) -> Path:
    """Write a wget configuration of the user's settings followed by WAREX's; return its path.

    Debian's wget uses GnuTLS, which reads no variable for its trust store.
    """
    named = base.get("WGETRC") or f"{base.get('HOME', '/nonexistent')}/.wgetrc"
    try:
        theirs = read_regular_file(Path(named))
    except OSError:
        theirs = b""
    ours = (
        f"\nca_certificate = {bundle}\nuse_proxy = on\nhttp_proxy = {proxy}\n"
        f"https_proxy = {proxy}\nno_proxy = {NO_PROXY_HOSTS}\n"
    )
    path = scratch / "wgetrc"
    path.write_bytes(theirs + ours.encode())
    return path
