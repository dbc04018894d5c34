"""Tries what WAREX needs of this machine, each thing by using it.

A look at versions and paths would call a browser healthy that cannot start. So a real proxy is
started, and Python, curl, node, Chromium and Playwright each fetch a page through it that exists
nowhere else.
"""

import os
import platform
import resource
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from cryptography import x509
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import sync_playwright

from warex.clock import Clock
from warex.errors import WarexError
from warex.proxy.ca import BASENAME, CertificateAuthority, ensure_ca
from warex.proxy.config import ProxyConfig
from warex.proxy.forkserver import Forkserver
from warex.proxy.interception import CANARY_HOST
from warex.proxy.lane import Proxy, started
from warex.sandbox.canary import fetch_canary
from warex.sandbox.chromium import QUIET, find_chromium
from warex.sandbox.environment import Environment, behind_proxy

OLDEST_PYTHON = (3, 12)
MITMPROXY = 12
"""Major version of mitmproxy that the proxy room is written for."""
LEAST_DISK = 500_000_000
"""Bytes; a run of the demo takes about a twentieth."""
LEAST_FILES = 1024
"""A page of many resources holds some hundred connections, each at both ends."""

_SECONDS = 10.0

_BY_PYTHON = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=8).read())"

# Node reads the proxy's variables only from version 24 on, so the tunnel is asked for by hand.
_BY_NODE = """
const [http, tls] = [require('http'), require('tls')];
const proxy = new URL(process.env.HTTPS_PROXY), page = new URL(process.argv[1]);
const fail = (error) => { console.error(String(error)); process.exit(1); };
http.request({host: proxy.hostname, port: proxy.port, method: 'CONNECT', path: page.host + ':443'})
  .on('error', fail).on('connect', (answer, socket) => {
    const secure = tls.connect({socket, servername: page.host}, () => secure.write(
      `GET ${page.pathname} HTTP/1.1\\r\\nHost: ${page.host}\\r\\nConnection: close\\r\\n\\r\\n`));
    secure.on('error', fail).pipe(process.stdout);
  }).end();
"""

type State = Literal["ok", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of trying one thing."""

    name: str
    state: State
    sentence: str
    """What was found; where it is not ok, how to mend it."""
    needed: bool = True
    """Whether ``warex demo`` needs it."""


def examine(
    environment: Mapping[str, str] = os.environ, folder: Path | None = None
) -> Iterator[Finding]:
    """Try everything in turn; what needs something that is broken is left out.

    ``folder`` is where runs will stand, the current one unless given. Nothing is raised: what goes
    wrong is a finding.
    """
    yield _python()
    yield _mitmproxy()
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
        forkserver.warm()
        yield from _behind_a_proxy(forkserver, ca, environment)
    except WarexError as error:
        yield Finding("proxy", "broken", f"no proxy could be started: {error}")
    finally:
        forkserver.close()


def _behind_a_proxy(
    forkserver: Forkserver, ca: CertificateAuthority, environment: Mapping[str, str]
) -> Iterator[Finding]:
    # The first one waits for mitmproxy to load; later ones are what a trial waits for.
    with started(forkserver, ProxyConfig(ca=ca.folder)):
        pass
    began = time.monotonic()
    with (
        started(forkserver, ProxyConfig(ca=ca.folder)) as proxy,
        tempfile.TemporaryDirectory(prefix="warex-doctor-") as scratch,
        ThreadPoolExecutor() as threads,
    ):
        took = 1000 * (time.monotonic() - began)
        yield Finding("proxy", "ok", f"a proxy of its own for a trial is ready in {took:.0f} ms")
        behind = behind_proxy(environment, proxy.url, ca, ca.bundle(Path(scratch) / "bundle.pem"))
        probes: list[Callable[[], Finding]] = [
            lambda: _client(behind, "python", sys.executable, ("-c", _BY_PYTHON), needed=True),
            lambda: _client(behind, "curl", "curl", ("-sS", "--max-time", "8")),
            lambda: _client(behind, "node", "node", ("-e", _BY_NODE)),
        ]
        try:
            chromium = find_chromium(environment)
        except WarexError as error:
            yield from threads.map(lambda probe: probe(), probes)
            yield Finding("chromium", "missing", str(error))
            return
        probes += [
            lambda: _chromium(chromium),
            lambda: _canary(chromium, behind),
            lambda: _playwright(chromium, behind, proxy),
        ]
        yield from threads.map(lambda probe: probe(), probes)


def _python() -> Finding:
    found = f"Python {platform.python_version()} at {sys.executable}"
    if sys.version_info >= OLDEST_PYTHON:
        return Finding("python version", "ok", found)
    oldest = ".".join(map(str, OLDEST_PYTHON))
    return Finding("python version", "broken", f"{found}; WAREX needs {oldest} or newer")


def _mitmproxy() -> Finding:
    remedy = f"install WAREX again, so that it brings mitmproxy {MITMPROXY}"
    try:
        found = version("mitmproxy")
    except PackageNotFoundError:
        return Finding("mitmproxy", "missing", f"mitmproxy is not installed: {remedy}")
    if found.split(".")[0] != str(MITMPROXY):
        return Finding("mitmproxy", "broken", f"mitmproxy {found} is installed: {remedy}")
    return Finding("mitmproxy", "ok", f"mitmproxy {found}")


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    found = f"{free / 1e9:.1f} GB free for runs in {folder}"
    if free >= LEAST_DISK:
        return Finding("disk", "ok", found)
    return Finding("disk", "broken", f"{found}: free some space, or choose another disk by --out")


def _open_files() -> Finding:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = "any number of" if soft == resource.RLIM_INFINITY else f"{soft}"
    found = f"a process may hold {most} open files"
    if soft == resource.RLIM_INFINITY or soft >= LEAST_FILES:
        return Finding("open files", "ok", found)
    return Finding("open files", "broken", f"{found}: raise it with `ulimit -n {LEAST_FILES}`")


def _certificates(ca: CertificateAuthority) -> Finding:
    anew = f"delete {ca.folder} to have it made anew"
    try:
        key = ca.folder / f"{BASENAME}-ca.pem"
        mode = key.stat().st_mode & 0o777
        ends = x509.load_pem_x509_certificate(ca.certificate.read_bytes()).not_valid_after_utc
    except (OSError, ValueError) as error:
        return Finding("certificates", "broken", f"{ca.certificate} is damaged ({error}): {anew}")
    if mode & 0o077:
        sentence = f"others may read the private key {key} (mode {mode:04o}): chmod 600 it, or "
        return Finding("certificates", "broken", sentence + anew)
    if ends <= datetime.fromtimestamp(Clock().wall(), UTC):
        sentence = f"{ca.certificate} was valid until {ends:%Y-%m-%d}: {anew}"
        return Finding("certificates", "broken", sentence)
    sentence = f"{ca.certificate}, valid until {ends:%Y-%m-%d}; only you can read its key"
    return Finding("certificates", "ok", sentence)


def _client(
    behind: Environment,
    name: str,
    program: str,
    arguments: tuple[str, ...],
    *,
    needed: bool = False,
) -> Finding:
    """Have a program fetch the canary page over HTTPS, with nothing but the environment."""
    label = f"https by {name}"
    found = shutil.which(program, path=behind.variables.get("PATH"))
    if found is None:
        return Finding(label, "missing", f"there is no {name} on the PATH to try", needed)
    nonce = secrets.token_hex(8)
    try:
        done = subprocess.run(
            [found, *arguments, f"https://{CANARY_HOST}/{nonce}"],
            env=dict(behind.variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(label, "broken", f"{found}: {error}", needed)
    if nonce.encode().hex().encode() in done.stdout:
        return Finding(label, "ok", "goes through the proxy and trusts its certificate", needed)
    said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
    last = said[-1] if said else f"it ended with code {done.returncode} and said nothing"
    return Finding(label, "broken", f"{found} did not get the page: {last}", needed)


def _chromium(chromium: Path) -> Finding:
    try:
        done = subprocess.run(
            [chromium, "--version"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("chromium", "broken", f"{chromium} cannot be started: {error}")
    if done.returncode != 0:
        why = done.stderr.strip() or f"code {done.returncode}"
        return Finding("chromium", "broken", f"{chromium} does not tell its version: {why}")
    return Finding("chromium", "ok", f"{done.stdout.strip()} at {chromium}")


def _canary(chromium: Path, behind: Environment) -> Finding:
    try:
        fetch_canary(chromium, behind)
    except WarexError as error:
        return Finding("canary", "broken", str(error))
    return Finding("canary", "ok", "Chromium's pages come through the proxy")


def _playwright(chromium: Path, behind: Environment, proxy: Proxy) -> Finding:
    # Chromium refuses its sandbox to root.
    as_root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    nonce = secrets.token_hex(8)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium,
                args=[*QUIET, *as_root, *behind.browser_arguments],
                proxy={"server": proxy.url},
                timeout=1000 * _SECONDS,
            )
            page = browser.new_page()
            page.goto(f"https://{CANARY_HOST}/{nonce}", timeout=1000 * _SECONDS)
            shown = page.inner_text("p")
            browser.close()
    except PlaywrightError as error:
        why = error.message.strip().splitlines()[0]
        return Finding("playwright", "broken", f"Playwright cannot drive {chromium}: {why}")
    if shown != nonce.encode().hex():
        return Finding("playwright", "broken", f"Playwright was shown another page: {shown!r}")
    return Finding("playwright", "ok", f"Playwright {version('playwright')} drives it")
