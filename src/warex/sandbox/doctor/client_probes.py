"""Checks an isolation mode: real programs fetch a canary page through the proxy."""

import json
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

from warex.errors import MachineError, WarexError
from warex.extras import require_extra
from warex.lane.config import ProxyConfig
from warex.lane.hosts.own_hosts import CANARY_HOST
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.canary import fetch_canary
from warex.sandbox.chromium import QUIET_FLAGS, root_flags
from warex.sandbox.doctor.finding import Finding
from warex.sandbox.doctor.iptables_probe import NODE_FETCH, PYTHON_FETCH
from warex.sandbox.isolation import Isolation, Sandbox, open_sandbox
from warex.traffic import Capture

_SECONDS = 15.0

_NODE_READS_PROXY_VARIABLES = (22, 21)
"""The first Node whose fetch reads proxy variables (NODE_USE_ENV_PROXY)."""


def probe_isolation(
    isolation: Isolation,
    forkserver: Forkserver,
    ca: CertificateAuthority,
    environment: Mapping[str, str],
    chromium: Path | None,
    *,
    needed: bool,
) -> Iterator[Finding]:
    """Run Python, curl, Node and Chromium behind a proxy; yield a finding for each.

    ``needed``: whether ``warex demo`` needs this mode.
    """

    def configure(capture: Capture) -> ProxyConfig:
        return ProxyConfig(ca=ca.folder, capture=capture)

    label = f"{isolation} mode"
    began = time.monotonic()
    try:
        with (
            open_sandbox(isolation, forkserver, configure, ca, environment) as place,
            ThreadPoolExecutor() as threads,
        ):
            place.wait_for_proxy()
            took = f"ready in {1000 * (time.monotonic() - began):.0f} ms"
            yield Finding(label, "ok", f"{_DESCRIPTIONS[isolation]}, {took}", needed)
            probes: list[Callable[[], Finding]] = [
                lambda: _probe_client(
                    place, "python", sys.executable, ("-c", PYTHON_FETCH), needed
                ),
                lambda: _probe_client(place, "curl", "curl", ("-sS", "--max-time", "8")),
                lambda: _probe_node(place),
            ]
            if chromium is not None:
                probes.append(lambda: _probe_chromium(place, chromium, needed))
                if isolation == "environment":
                    probes.append(lambda: _probe_playwright(place, chromium, needed))
            yield from threads.map(lambda probe: probe(), probes)
    except WarexError as error:
        yield Finding(label, "broken", str(error), needed)


_DESCRIPTIONS: Mapping[Isolation, str] = {
    "namespace": "a network of its own for a command",
    "environment": "variables and browser shims for a command",
}


def _probe_client(
    place: Sandbox, name: str, program: str, arguments: tuple[str, ...], needed: bool = False
) -> Finding:
    """Fetch the canary page over HTTPS by a program in the sandbox's environment."""
    label = f"{place.isolation}: {name}"
    path = shutil.which(program, path=place.environment.variables.get("PATH"))
    if path is None:
        return Finding(label, "missing", f"there is no {name} on the PATH to try", needed)
    nonce = secrets.token_hex(8)
    with tempfile.TemporaryDirectory(prefix="warex-doctor-") as scratch:
        log = Path(scratch) / "log"
        try:
            done = place.run(
                [path, *arguments, f"https://{CANARY_HOST}/{nonce}"], log, timeout_s=_SECONDS
            )
        except WarexError as error:
            return Finding(label, "broken", str(error), needed)
        shown = log.read_text("utf-8", "replace")
    if nonce.encode().hex() in shown:
        return Finding(label, "ok", "comes through the proxy and trusts its certificate", needed)
    lines = shown.strip().splitlines()
    if done.code is None:
        last = f"it did not end within {_SECONDS:g} s"
    else:
        last = lines[-1] if lines else f"it ended with code {done.code} and said nothing"
    return Finding(label, "broken", f"{path} did not get the page: {last}", needed)


def _probe_node(place: Sandbox) -> Finding:
    finding = _probe_client(place, "node", "node", ("-e", NODE_FETCH))
    if finding.state != "broken" or place.isolation != "environment":
        return finding
    release = _node_release(place)
    if release is None or release >= _NODE_READS_PROXY_VARIABLES:
        return finding
    running, wanted = (".".join(map(str, each)) for each in (release, _NODE_READS_PROXY_VARIABLES))
    return Finding(
        finding.name,
        "broken",
        f"Node {running} ignores proxy variables, so its own requests go past the proxy: use"
        f" namespace mode, or Node {wanted} or newer",
        finding.needed,
    )


def _node_release(place: Sandbox) -> tuple[int, ...] | None:
    with tempfile.TemporaryDirectory(prefix="warex-doctor-") as scratch:
        log = Path(scratch) / "log"
        script = "console.log(JSON.stringify(process.versions.node.split('.').map(Number)))"
        place.run(["node", "-e", script], log, timeout_s=_SECONDS)
        try:
            return tuple(json.loads(log.read_text("utf-8", "replace"))[:2])
        except (ValueError, TypeError):
            return None


def _probe_chromium(place: Sandbox, chromium: Path, needed: bool) -> Finding:
    label = f"{place.isolation}: chromium"
    try:
        fetch_canary(chromium, place)
    except WarexError as error:
        return Finding(label, "broken", str(error), needed)
    return Finding(label, "ok", "Chromium's pages come through the proxy", needed)


def _probe_playwright(place: Sandbox, chromium: Path, needed: bool) -> Finding:
    try:
        require_extra("demo", "the reference agent", "playwright")
    except MachineError as error:
        return Finding("playwright", "missing", str(error), needed)
    from playwright.sync_api import Error as PlaywrightError
    from playwright.sync_api import sync_playwright

    nonce = secrets.token_hex(8)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium,
                args=[*QUIET_FLAGS, *root_flags(), *place.environment.browser_arguments],
                proxy={"server": place.proxy.url},
                timeout=1000 * _SECONDS,
            )
            page = browser.new_page()
            page.goto(f"https://{CANARY_HOST}/{nonce}", timeout=1000 * _SECONDS)
            shown = page.inner_text("p")
            browser.close()
    except PlaywrightError as error:
        sentence = f"Playwright cannot drive {chromium}: {error.message.strip().splitlines()[0]}"
        return Finding("playwright", "broken", sentence, needed)
    if shown != nonce.encode().hex():
        return Finding("playwright", "broken", f"Playwright saw another page: {shown!r}", needed)
    return Finding("playwright", "ok", f"Playwright {version('playwright')} drives it", needed)
