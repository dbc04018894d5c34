"""The files mounted over the host's in a command's namespace, for name resolution and trust.

Only the command sees them; nothing on disk changes. Each is the host's file with additions, so that
programs by OpenSSL, GnuTLS and Java, and Chromium, trust the CA without configuration.
"""

import fcntl
import hashlib
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from warex.errors import MachineError
from warex.proxy.certificates.ca import CertificateAuthority
from warex.sandbox.chromium import find_chromium
from warex.sandbox.environment import (
    ALL_PROXY_VARIABLES,
    CA_BUNDLE_VARIABLES,
    EXTRA_CA_VARIABLES,
    UNSET_VARIABLES,
    Environment,
    without_variables,
)
from warex.sandbox.namespace import name_resolution
from warex.sandbox.trust import nss_library
from warex.sandbox.trust.java import add_certificate, find_truststores

_BUNDLES: Final = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Alpine, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora
    "/etc/pki/tls/cert.pem",
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",
    "/usr/lib/ssl/cert.pem",
    "/etc/ca-certificates/extracted/tls-ca-bundle.pem",
)
_HASHED: Final = ("/etc/ssl/certs", "/etc/pki/tls/certs", "/usr/lib/ssl/certs")
"""Folders in which OpenSSL finds certificates by the hash of the subject."""
_ANCHORS: Final = (
    "/etc/pki/ca-trust/source/anchors",
    "/etc/pki/trust/anchors",
    "/etc/ca-certificates/trust-source/anchors",
)
"""Folders that p11-kit reads: for GnuTLS on Fedora, SUSE and Arch."""
_ANCHOR: Final = "warex-ca.pem"
_RESOLVER_SOCKETS: Final = ("/run/nscd", "/var/run/nscd")
"""Folders of sockets of resolvers outside the namespace."""
_CACHE_FOLDER: Final = "laid"
_DATABASE: Final = "nssdb"

type FolderContents = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class MountPlan:
    """The mounts of a namespace, and the variables that belong to them."""

    bundle: Path
    """PEM file of the system's certificates and the CA, as seen inside."""
    ca: Path
    """PEM file of the CA; the bundle for root, whose files other users cannot read."""
    files: dict[Path, bytes | FolderContents]
    """Contents by the path that they replace; a folder replaces a folder."""
    layers: dict[Path, FolderContents]
    """Files added to a folder."""
    mount_point: Path | None = None
    """A folder that must exist as a mount point and is removed afterwards."""
    data: tuple[Path, FolderContents] | None = None
    """A folder for Chromium's database if none can be mounted over."""
    notices: tuple[str, ...] = ()
    """Notices for the user."""
    _hidden: tuple[Path, ...] = field(default=())

    def to_message(self) -> dict[str, Any]:
        """Return the plan as the setup process reads it."""
        return {
            "files": [(str(target), content) for target, content in self.files.items()],
            "layers": [(str(target), added) for target, added in self.layers.items()],
            "hidden": [str(path) for path in self._hidden],
            "mount_point": None if self.mount_point is None else str(self.mount_point),
            "data": None if self.data is None else (str(self.data[0]), self.data[1]),
        }

    def environment(self, base: Mapping[str, str]) -> Environment:
        """Return the commands' environment: no proxy, and trust in the CA by each variable.

        A variable stays if its file or folder has been mounted over.
        """
        variables = without_variables(base, *ALL_PROXY_VARIABLES)
        for names, usual in ((CA_BUNDLE_VARIABLES, self.bundle), (EXTRA_CA_VARIABLES, self.ca)):
            variables |= {name: str(usual) for name in names if not self._covers(base.get(name))}
        for name in UNSET_VARIABLES:
            if not all(self._covers(part) for part in variables.get(name, "").split(os.pathsep)):
                variables.pop(name, None)
        if self.data is not None:
            variables["XDG_DATA_HOME"] = str(self.data[0])
        return Environment(variables)

    def _covers(self, named: str | None) -> bool:
        if not named:
            return False
        path = Path(named).resolve()
        return path in self.files or path in self.layers


def plan_mounts(ca: CertificateAuthority, environment: Mapping[str, str] = os.environ) -> MountPlan:
    """Return the mounts for this machine and for a user with this environment."""
    pem = ca.certificate.read_bytes()
    notices: list[str] = []
    files: dict[Path, bytes | FolderContents] = dict(_resolver_files())
    variables = (*CA_BUNDLE_VARIABLES, *EXTRA_CA_VARIABLES)
    named = [path for name in variables if (path := environment.get(name))]
    for place in (*_BUNDLES, *named):
        if (content := _read_if_file(Path(place))) is not None:
            files[Path(place).resolve()] = content.rstrip() + b"\n" + pem
    for store in find_truststores(environment):
        try:
            files[store] = add_certificate(store.read_bytes(), ca.der)
        except (OSError, ValueError) as error:
            notices.append(f"Java will not trust WAREX by {store}: {error}")
    folders = [*_HASHED, *named, *environment.get("SSL_CERT_DIR", "").split(os.pathsep)]
    layers = {
        folder: {_free_name(folder, pem, _hash_of(ca)): pem}
        for folder in {Path(place).resolve() for place in folders if place}
        if folder.is_dir()
    }
    layers |= {Path(place).resolve(): {_ANCHOR: pem} for place in _ANCHORS if Path(place).is_dir()}
    bundle = _default_bundle(ca, files)
    databases, mount_point, data = _databases(ca, environment, notices)
    return MountPlan(
        bundle=bundle,
        # A command that root starts as another user cannot read root's folders.
        ca=ca.certificate if os.geteuid() else bundle,
        files={**files, **databases},
        layers=layers,
        mount_point=mount_point,
        data=data,
        notices=tuple(notices),
        _hidden=tuple(
            {Path(place).resolve() for place in _RESOLVER_SOCKETS if Path(place).is_dir()}
        ),
    )


def _resolver_files() -> Iterator[tuple[Path, bytes]]:
    rewritten = (
        ("/etc/resolv.conf", name_resolution.resolv_conf),
        ("/etc/nsswitch.conf", name_resolution.nsswitch_conf),
        ("/etc/hosts", lambda content: name_resolution.hosts(content, socket.gethostname())),
    )
    for place, rewrite in rewritten:
        if (content := _read_if_file(Path(place))) is not None:
            text = rewrite(os.fsdecode(content))
            yield Path(place).resolve(), os.fsencode(text)


def _read_if_file(path: Path) -> bytes | None:
    try:
        return path.read_bytes() if path.is_file() else None
    except OSError:
        return None


def _hash_of(ca: CertificateAuthority) -> str:
    """Return the hash by which OpenSSL finds the CA, as in the CA's own folder."""
    return next((path.stem for path in ca.hashed_dir.glob("????????.0")), "warex")


def _free_name(folder: Path, pem: bytes, hashed: str) -> str:
    """Return a free name by which OpenSSL finds the CA, beside others of the same hash."""
    number = 0
    while (content := _read_if_file(folder / f"{hashed}.{number}")) is not None and content != pem:
        number += 1
    return f"{hashed}.{number}"


def _default_bundle(ca: CertificateAuthority, files: Mapping[Path, bytes | FolderContents]) -> Path:
    for place in _BUNDLES:
        if Path(place).resolve() in files:
            return Path(place)
    # This machine has no bundle.
    cached = ca.folder / _CACHE_FOLDER / "bundle.pem"
    try:
        cached.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cached.parent) as aside:
            ca.bundle(Path(aside) / cached.name).replace(cached)
    except OSError:
        return ca.certificate
    return cached


# ---- Chromium's databases


def _databases(
    ca: CertificateAuthority, environment: Mapping[str, str], notices: list[str]
) -> tuple[dict[Path, bytes | FolderContents], Path | None, tuple[Path, FolderContents] | None]:
    """Return the replacements of the user's databases, the mount point, and the data folder."""
    home = Path(environment.get("HOME") or "/nonexistent")
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local/share")
    # Chromium uses the first that exists; older versions know only the first.
    places = (home / ".pki" / _DATABASE, data / "pki" / _DATABASE)
    databases = {it.resolve(): _read(it) for it in places if (it / nss_library.FILES[0]).is_file()}
    try:
        if databases:
            return (
                {place: _cached_database(ca, had) for place, had in databases.items()},
                None,
                None,
            )
        new = _cached_database(ca, {})
    except OSError as error:
        with suppress(MachineError):
            browser = find_chromium(environment)
            notices.append(f"Chromium ({browser}) will not trust WAREX's certificates: {error}")
        return {}, None, None
    roots = (home, data if "XDG_DATA_HOME" in environment else home)
    for place, root in zip(places, roots, strict=True):
        if root.is_dir() and _can_be_made(place):
            return {place: new}, place, None
    scratch = ca.folder / _CACHE_FOLDER / "data"
    with suppress(OSError):
        scratch.mkdir(parents=True, exist_ok=True)
    if not scratch.is_dir():
        notices.append(
            f"Chromium will not trust WAREX's certificates: neither {home} nor {ca.folder} can be"
            " written; set WAREX_CA_DIR to a folder that can"
        )
        return {}, None, None
    return {}, None, (scratch, new)


def trusted_database(ca: CertificateAuthority, place: Path) -> FolderContents:
    """Return a copy of the database at ``place``, or a new one, in which the CA is trusted.

    Raises OSError if it cannot be made.
    """
    return _cached_database(ca, _read(place))


def _read(path: Path) -> FolderContents:
    names = (*nss_library.FILES, nss_library.MODULES)
    contents = {name: _read_if_file(path / name) for name in names}
    return {name: content for name, content in contents.items() if content is not None}


def _can_be_made(place: Path) -> bool:
    existing = next(path for path in (place, *place.parents) if path.exists())
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def _cached_database(ca: CertificateAuthority, contents: FolderContents) -> FolderContents:
    """Return a database in which the CA is trusted, cached in the CA's folder under a lock.

    Raises OSError if it cannot be made.
    """
    der = ca.der
    parts = [der, *(contents.get(name, b"") for name in nss_library.FILES)]
    key = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    cached = ca.folder / _CACHE_FOLDER / f"nss-{key[:32]}"
    if cached.is_dir():
        return {**contents, **_read(cached)}
    try:
        cached.parent.mkdir(exist_ok=True)
        lock = os.open(cached.parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return nss_library.database(contents, der, _browser_or_none())  # No cache.
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not cached.is_dir():
            made = nss_library.database(contents, der, _browser_or_none())
            with suppress(OSError):
                _store_database(cached, made)
            return made
    finally:
        os.close(lock)
    return {**contents, **_read(cached)}


def _store_database(folder: Path, made: FolderContents) -> None:
    for old in folder.parent.glob(".nss-*"):  # Left by a killed process.
        shutil.rmtree(old, ignore_errors=True)
    aside = Path(tempfile.mkdtemp(prefix=".nss-", dir=folder.parent))
    try:
        for name in nss_library.FILES:
            (aside / name).write_bytes(made[name])
            (aside / name).chmod(0o600)
        aside.rename(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _browser_or_none() -> Path | None:
    try:
        return find_chromium()
    except MachineError:
        return None
