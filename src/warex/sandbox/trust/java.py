"""Java truststores: find each JVM's file, and return a copy with one more certificate."""

import hashlib
import shutil
import struct
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

_ALIAS: Final = b"warex"
_PASSWORD: Final = b"changeit"
"""Java's default password."""
_DIGEST_PREFIX: Final = _PASSWORD.decode().encode("utf-16-be") + b"Mighty Aphrodite"
"""Prefix of the digest of a JKS file."""
_JKS: Final = bytes.fromhex("feedfeed")
_TRUSTED: Final = 2
_SHARED: Final = (
    "/etc/ssl/certs/java/cacerts",
    "/etc/pki/java/cacerts",
    "/etc/pki/ca-trust/extracted/java/cacerts",
    "/etc/ca-certificates/extracted/java-cacerts.jks",
    "/var/lib/ca-certificates/java-cacerts",
)
_HOMES: Final = ("/usr/lib/jvm/*", "/usr/lib64/jvm/*", "/usr/java/*", "/opt/java/*", "/opt/jdk*")
_USERS: Final = (
    ".sdkman/candidates/java/*",
    ".jdks/*",
    ".jenv/versions/*",
    ".asdf/installs/java/*",
)
IN_HOME: Final = ("lib/security/cacerts", "jre/lib/security/cacerts")
"""The truststore below a JVM's home."""


def find_truststores(environment: Mapping[str, str]) -> list[Path]:
    """Return the truststores of this machine's JVMs, symlinks resolved, each once."""
    homes = list(_homes(environment))
    places = [*map(Path, _SHARED), *(home / name for home in homes for name in IN_HOME)]
    return sorted({place.resolve() for place in places if place.is_file()})


def _homes(environment: Mapping[str, str]) -> Iterator[Path]:
    if named := environment.get("JAVA_HOME"):
        yield Path(named)
    if program := shutil.which("java", path=environment.get("PATH")):
        yield Path(program).resolve().parents[1]
    for pattern in _HOMES:
        yield from Path("/").glob(pattern.lstrip("/"))
    if home := environment.get("HOME"):
        for pattern in _USERS:
            yield from Path(home).glob(pattern)


def add_certificate(store: bytes, certificate: bytes) -> bytes:
    """Return a JKS truststore of the same certificates and one more, given as DER.

    Every Java reads JKS, with the default password or none. Raises ValueError if ``store`` is
    neither JKS nor PKCS #12.
    """
    entries = _entries(store) if store[:4] == _JKS else _converted(store)
    content = _JKS + struct.pack(">II", 2, len(entries) + 1) + b"".join(entries)
    content += _entry(_ALIAS, certificate)
    return content + hashlib.sha1(_DIGEST_PREFIX + content, usedforsecurity=False).digest()


def _entries(store: bytes) -> list[bytes]:
    """Read JKS: big-endian, each string and each value prefixed by its length."""
    entries = []
    try:
        _, _, count = struct.unpack_from(">III", store)
        at = 12
        for _ in range(count):
            began = at
            (tag,) = struct.unpack_from(">I", store, at)
            if tag != _TRUSTED:
                raise ValueError("it holds a key")
            alias, at = _length_prefixed(store, at + 4, ">H")
            _, at = _length_prefixed(store, at + 8, ">H")
            _, at = _length_prefixed(store, at, ">I")
            if alias != _ALIAS:
                entries.append(store[began:at])
    except struct.error:
        raise ValueError("it is cut short") from None
    return entries


def _length_prefixed(store: bytes, at: int, size: str) -> tuple[bytes, int]:
    (length,) = struct.unpack_from(size, store, at)
    at += struct.calcsize(size)
    return store[at : at + length], at + length


def _converted(store: bytes) -> list[bytes]:
    # Imported here, since it is slow to load.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

    for password in (_PASSWORD, None, b""):
        try:
            with warnings.catch_warnings():
                # Serial numbers of old authorities cause warnings.
                warnings.simplefilter("ignore")
                certificates = load_pkcs12(store, password).additional_certs
                return [
                    _entry(b"%d" % number, each.certificate.public_bytes(Encoding.DER))
                    for number, each in enumerate(certificates)
                ]
        except (ValueError, UnsupportedAlgorithm):
            continue
    raise ValueError("it is not a truststore that can be read")


def _entry(alias: bytes, certificate: bytes) -> bytes:
    head = struct.pack(">I", _TRUSTED) + struct.pack(">H", len(alias)) + alias + bytes(8)
    kind = struct.pack(">H", 5) + b"X.509"
    return head + kind + struct.pack(">I", len(certificate)) + certificate
