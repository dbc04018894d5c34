"""Checks what WAREX needs of this machine by using it.

It starts a real proxy, and in each isolation mode Python, curl, Node and Chromium fetch a canary
page through it.
"""

import os
import platform
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509

from warex.clock import Clock
from warex.errors import MachineError, WarexError
from warex.lane.config import ProxyConfig
from warex.proxy.certificates.ca import BASENAME, CertificateAuthority, ensure_ca
from warex.proxy.process.client import start_proxy
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.chromium import find_chromium
from warex.sandbox.doctor.client_probes import probe_isolation
from warex.sandbox.doctor.finding import Finding
from warex.sandbox.doctor.iptables_probe import probe_iptables

MIN_PYTHON = (3, 12)
MIN_FREE_DISK = 500_000_000
"""Bytes; a run of the demo takes about a twentieth."""
MIN_OPEN_FILES = 1024
"""A page with many resources needs some hundred connections, each with two sockets."""

_SECONDS = 10.0


def check_machine(
    environment: Mapping[str, str] = os.environ, folder: Path | None = None
) -> Iterator[Finding]:
    """Run all checks in turn, except those that need something broken; raise nothing.

    ``folder`` is the folder of runs, by default the current one.
    """
    yield _python()
    yield _disk(folder or Path.cwd())
    yield _open_files()
    try:
        ca = ensure_ca()
    except WarexError as error:
        yield Finding("certificates", "broken", str(error))
        return
    yield _certificates(ca)
    forkserver = Forkserver()
    try:
        forkserver.ensure_started()
        yield from _behind_a_proxy(forkserver, ca, environment)
    except WarexError as error:
        yield Finding("proxy", "broken", f"no proxy could be started: {error}")
    finally:
        forkserver.close()


def require_quick_checks(folder: Path, ca: CertificateAuthority) -> None:
    """Raise MachineError for the first quick check that is not ok.

    ``folder`` is the folder of runs; if it does not exist, its nearest existing parent is checked.
    """
    existing = next(
        each for each in (folder.absolute(), *folder.absolute().parents) if each.is_dir()
    )
    for finding in quick_checks(existing, ca):
        if finding.state != "ok":
            raise MachineError(f"{finding.name}: {finding.sentence}")


def quick_checks(folder: Path, ca: CertificateAuthority) -> Iterator[Finding]:
    """Yield the findings of ``check_machine`` that start no program; all are needed."""
    yield from (_python(), _disk(folder), _open_files(), _certificates(ca))


def _behind_a_proxy(
    forkserver: Forkserver, ca: CertificateAuthority, environment: Mapping[str, str]
) -> Iterator[Finding]:
    # The first start also loads the proxy; the second is timed.
    with start_proxy(forkserver, ProxyConfig(ca=ca.folder)):
        pass
    began = time.monotonic()
    with start_proxy(forkserver, ProxyConfig(ca=ca.folder)):
        took = 1000 * (time.monotonic() - began)
        yield Finding("proxy", "ok", f"a proxy of its own for a trial is ready in {took:.0f} ms")
    chromium = None
    try:
        chromium = find_chromium(environment)
    except WarexError as error:
        yield Finding("chromium", "missing", str(error))
    else:
        yield _chromium(chromium)
    yield from probe_isolation("environment", forkserver, ca, environment, chromium, needed=True)
    yield from probe_isolation("namespace", forkserver, ca, environment, chromium, needed=False)
    yield from probe_iptables(chromium)


def _python() -> Finding:
    detail = f"Python {platform.python_version()} at {sys.executable}"
    if sys.version_info >= MIN_PYTHON:
        return Finding("python version", "ok", detail)
    oldest = ".".join(map(str, MIN_PYTHON))
    return Finding("python version", "broken", f"{detail}; WAREX needs {oldest} or newer")


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    detail = f"{free / 1e9:.1f} GB free for runs in {folder}"
    if free >= MIN_FREE_DISK:
        return Finding("disk", "ok", detail)
    return Finding("disk", "broken", f"{detail}: free some space, or choose another disk by --out")


def _open_files() -> Finding:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = "any number of" if soft == resource.RLIM_INFINITY else f"{soft}"
    detail = f"a process may hold {most} open files"
    if soft == resource.RLIM_INFINITY or soft >= MIN_OPEN_FILES:
        return Finding("open files", "ok", detail)
    return Finding("open files", "broken", f"{detail}: raise it with `ulimit -n {MIN_OPEN_FILES}`")


def _certificates(ca: CertificateAuthority) -> Finding:
    remedy = f"delete {ca.folder} to have it made again"
    try:
        key = ca.folder / f"{BASENAME}-ca.pem"
        mode = key.stat().st_mode & 0o777
        ends = x509.load_pem_x509_certificate(ca.certificate.read_bytes()).not_valid_after_utc
    except (OSError, ValueError) as error:
        return Finding("certificates", "broken", f"{ca.certificate} is damaged ({error}): {remedy}")
    if mode & 0o077:
        sentence = f"others may read the private key {key} (mode {mode:04o}): chmod 600 it, or "
        return Finding("certificates", "broken", sentence + remedy)
    if ends <= datetime.fromtimestamp(Clock().wall(), UTC):
        sentence = f"{ca.certificate} was valid until {ends:%Y-%m-%d}: {remedy}"
        return Finding("certificates", "broken", sentence)
    sentence = f"{ca.certificate}, valid until {ends:%Y-%m-%d}; only you can read its key"
    return Finding("certificates", "ok", sentence)


def _chromium(chromium: Path) -> Finding:
    try:
        done = subprocess.run(
            [chromium, "--version"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("chromium", "broken", f"{chromium} cannot be started: {error}")
    if done.returncode != 0:
        why = done.stderr.strip() or f"code {done.returncode}"
        return Finding("chromium", "broken", f"{chromium} does not show its version: {why}")
    return Finding("chromium", "ok", f"{done.stdout.strip()} at {chromium}")
