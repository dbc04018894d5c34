"""Adds a certificate to Chromium's certificate store, an NSS database, by the NSS library.

The library comes with Chromium; the ``certutil`` program does not. It has global state, so each
database is made in a process of its own. Standard library only, to start quickly.
"""

import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

FILES: Final = ("cert9.db", "key4.db")
MODULES: Final = "pkcs11.txt"
"""Names the user's modules and the folder; NSS makes it if it is missing."""

_NICKNAME: Final = b"WAREX testing CA"
_MAY_ISSUE_FOR_SITES: Final = b"C,,"
_SECONDS: Final = 60.0
_LIBRARY_FOLDERS: Final = (
    "/usr/lib/*/nss",
    "/usr/lib64",
    "/usr/lib/firefox*",
    "/usr/lib64/firefox",
    "/opt/firefox*",
    "/opt/google/chrome*",
    "/snap/chromium/current/usr/lib/*",
)


def database(
    contents: Mapping[str, bytes], certificate: bytes, beside: Path | None = None
) -> dict[str, bytes]:
    """Return a copy of a database, or a new one, in which a certificate is trusted.

    ``certificate`` is DER; the library is also searched for ``beside`` a browser. Raises OSError
    if there is no library or it fails.
    """
    with tempfile.TemporaryDirectory(prefix="warex-nss-") as scratch:
        folder = Path(scratch)
        for name in FILES:
            if name in contents:
                (folder / name).write_bytes(contents[name])
        ran = subprocess.run(
            [sys.executable, "-I", "-S", __file__, scratch, *map(str, _libraries(beside))],
            input=certificate,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        if ran.returncode:
            raise OSError(ran.stderr.decode(errors="replace").strip().rpartition("\n")[2])
        return {**contents, **{name: (folder / name).read_bytes() for name in FILES}}


def _libraries(beside: Path | None) -> Iterator[Path]:
    folders = [path for place in _LIBRARY_FOLDERS for path in Path("/").glob(place.lstrip("/"))]
    for folder in (*([] if beside is None else [beside.resolve().parent]), *folders):
        if (library := folder / "libnss3.so").is_file():
            yield library


def _loaded(places: list[str]) -> ctypes.CDLL:
    for place in ("libnss3.so", *places):
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    raise OSError("there is no libnss3.so: install your system's package of NSS (libnss3, nss)")


class _Item(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("data", ctypes.c_char_p), ("length", ctypes.c_uint))


class _Trust(ctypes.Structure):
    _fields_ = (("ssl", ctypes.c_uint), ("email", ctypes.c_uint), ("code", ctypes.c_uint))


def add(folder: str, certificate: bytes, places: list[str]) -> None:
    """Add a trusted certificate to the database in a folder; make the database if needed."""
    nss = _loaded(places)
    for name in ("PK11_GetInternalKeySlot", "CERT_NewTempCertificate", "CERT_GetDefaultCertDB"):
        getattr(nss, name).restype = ctypes.c_void_p
    _check(nss.NSS_InitReadWrite(b"sql:" + folder.encode()), nss, "open the database")
    slot = ctypes.c_void_p(nss.PK11_GetInternalKeySlot())
    if nss.PK11_NeedUserInit(slot):
        _check(nss.PK11_InitPin(slot, None, b""), nss, "set no password")
    store = ctypes.c_void_p(nss.CERT_GetDefaultCertDB())
    item = _Item(0, certificate, len(certificate))
    pointer = nss.CERT_NewTempCertificate(store, ctypes.byref(item), None, 0, 1)
    _check(0 if pointer else -1, nss, "read the certificate")
    decoded = ctypes.c_void_p(pointer)
    _check(nss.PK11_ImportCert(slot, decoded, 0, _NICKNAME, 0), nss, "add the certificate")
    trust = _Trust()
    _check(nss.CERT_DecodeTrustString(ctypes.byref(trust), _MAY_ISSUE_FOR_SITES), nss, "read trust")
    _check(nss.CERT_ChangeCertTrust(store, decoded, ctypes.byref(trust)), nss, "trust it")
    nss.CERT_DestroyCertificate(decoded)
    nss.PK11_FreeSlot(slot)
    _check(nss.NSS_Shutdown(), nss, "close the database")


def _check(status: int, nss: ctypes.CDLL, what: str) -> None:
    if status:
        raise OSError(f"NSS cannot {what}: its error {nss.PR_GetError()}")


if __name__ == "__main__":
    try:
        add(sys.argv[1], sys.stdin.buffer.read(), sys.argv[2:])
    except OSError as error:
        sys.exit(str(error))
