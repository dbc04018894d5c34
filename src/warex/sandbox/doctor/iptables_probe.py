"""Checks the machine-wide rules with real programs in a temporary network namespace.

This program leaves the machine's network first, so the machine's own rules do not change. It
prints its findings to standard output as JSON.
"""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from warex.errors import WarexError
from warex.lane.config import ProxyConfig
from warex.lane.hosts.own_hosts import CANARY_HOST
from warex.linux import rtnetlink, syscalls
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.proxy.process.client import start_proxy
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.chromium import headless_command, spki_flag
from warex.sandbox.doctor.finding import Finding
from warex.sandbox.iptables import firewall
from warex.sandbox.iptables.rules import RedirectSpec

LABEL = "iptables mode"
PYTHON_FETCH = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=20).read())"
NODE_FETCH = """
fetch(process.argv[1]).then((answer) => answer.text()).then(console.log)
  .catch((error) => { console.error(String(error.cause ?? error)); process.exit(1); });
"""

_SECONDS = 150.0
_CLIENT_SECONDS = 30.0
_NOBODY = 65534
"""The uid used as the agent's user."""
_PATH = "/usr/local/bin:/usr/bin:/bin"
"""Folders whose programs any user can run."""
_SITE = "192.0.2.80"
_PROXY_PORT = 8080

_finding = partial(Finding, needed=False)


def probe_iptables(chromium: Path | None) -> Iterator[Finding]:
    """Check the rules with Python, curl, Node and Chromium; needs root."""
    if os.geteuid() != 0:
        sentence = "needs root: sudo warex doctor tries it; namespace mode needs none"
        yield _finding(LABEL, "missing", sentence)
        return
    browser = [] if chromium is None else [str(chromium)]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "warex.sandbox.doctor.iptables_probe", *browser],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        findings = [Finding(**finding) for finding in json.loads(done.stdout)]
    except subprocess.TimeoutExpired:
        yield _finding(LABEL, "broken", f"nothing was found in {_SECONDS:g} s")
    except ValueError:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        why = lines[-1] if lines else f"code {done.returncode}"
        yield _finding(LABEL, "broken", f"it could not be tried: {why}")
    else:
        yield from findings


def _check_rules(chromium: str | None) -> Iterator[Finding]:
    with tempfile.TemporaryDirectory(prefix="warex-doctor-") as name:
        scratch = Path(name)
        scratch.chmod(0o755)
        os.environ["WAREX_RUN_DIR"] = str(scratch / "run")
        ca = ensure_ca()
        try:
            _enter_namespace(scratch)
            capture = RedirectSpec(ports=(443,), proxy_port=_PROXY_PORT, user=_NOBODY)
            backend = firewall.apply(capture, "auto")
        except (OSError, WarexError) as error:
            yield _finding(LABEL, "broken", f"the rules cannot be put in force: {error}")
            return
        yield _finding(LABEL, "ok", f"rules by {backend} hold, tried in a network apart")
        forkserver = Forkserver()
        config = ProxyConfig(ca=ca.folder, capture="transparent", port=_PROXY_PORT)
        try:
            with start_proxy(forkserver, config):
                yield from _clients(scratch, ca, chromium)
        finally:
            forkserver.close()


def _enter_namespace(scratch: Path) -> None:
    """Enter new network and mount namespaces, with an /etc/hosts of their own."""
    os.unshare(os.CLONE_NEWNET | os.CLONE_NEWNS)
    syscalls.mount(None, "/", None, syscalls.REC | syscalls.PRIVATE)
    rtnetlink.bring_up("lo")
    rtnetlink.create_device()
    rtnetlink.bring_up_device()
    rtnetlink.add_address("192.0.2.2")
    hosts = scratch / "hosts"
    hosts.write_text(f"127.0.0.1 localhost\n{_SITE} {CANARY_HOST}\n")
    syscalls.mount(str(hosts), os.path.realpath("/etc/hosts"), None, syscalls.BIND)


def _clients(scratch: Path, ca: CertificateAuthority, chromium: str | None) -> Iterator[Finding]:
    home = scratch / "home"
    home.mkdir()
    os.chown(home, _NOBODY, _NOBODY)
    bundle = ca.bundle(scratch / "bundle.pem")
    bundle.chmod(0o644)
    environment = {"PATH": _PATH, "HOME": str(home)}
    trust = dict.fromkeys(("SSL_CERT_FILE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"), str(bundle))
    for name, program, arguments in (
        ("python", "python3", ("-c", PYTHON_FETCH)),
        ("curl", "curl", ("-sS", "--max-time", "20")),
        ("node", "node", ("-e", NODE_FETCH)),
    ):
        path = shutil.which(program, path=_PATH)
        if path is None:
            sentence = f"there is no {name} in {_PATH} to try"
            yield _finding(f"iptables: {name}", "missing", sentence)
        else:
            yield _fetched(name, (path, *arguments), environment | trust)
    if chromium is not None:
        flags = (spki_flag(ca), "--no-sandbox", "--no-proxy-server", "--dump-dom")
        yield _fetched(
            "chromium", headless_command(Path(chromium), home / "profile", flags), environment
        )


def _fetched(name: str, command: Sequence[str], variables: dict[str, str]) -> Finding:
    """Fetch the canary page by a program without any proxy settings."""
    nonce, label = secrets.token_hex(8), f"iptables: {name}"
    try:
        done = subprocess.run(
            [*command, f"https://{CANARY_HOST}/{nonce}"],
            env=variables,
            cwd="/",
            user=_NOBODY,
            group=_NOBODY,
            extra_groups=[],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_CLIENT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return _finding(label, "broken", f"{command[0]}: {error}")
    if nonce.encode().hex().encode() in done.stdout:
        return _finding(label, "ok", "is sent to the proxy, and trusts it")
    lines = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
    last = lines[-1] if lines else f"it ended with code {done.returncode} and said nothing"
    return _finding(label, "broken", f"{command[0]} did not get the page: {last}")


if __name__ == "__main__":
    print(json.dumps([asdict(each) for each in _check_rules(next(iter(sys.argv[1:]), None))]))  # noqa: T201
