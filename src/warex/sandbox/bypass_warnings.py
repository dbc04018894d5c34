"""Warnings about ways past the proxy: container engines and remote browsers.

Traffic of a container that a daemon starts, or of a browser on another machine, does not come
through WAREX. The user is warned before the command starts.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

_ENGINES = (
    ("/run/docker.sock", "Docker"),
    ("/run/podman/podman.sock", "Podman"),
    ("/run/containerd/containerd.sock", "containerd"),
)
_OWN_ENGINES = (("docker.sock", "Docker"), ("podman/podman.sock", "Podman"))
"""Below ``$XDG_RUNTIME_DIR``."""

_REMOTE_BROWSER_VARIABLES = frozenset(
    {
        "BROWSER_CDP_URL",
        "BROWSER_URL",
        "BROWSER_USE_CDP_URL",
        "BROWSER_WS_ENDPOINT",
        "BROWSERBASE_CONNECT_URL",
        "CDP_ENDPOINT",
        "CDP_URL",
        "CHROME_CDP_URL",
        "PLAYWRIGHT_CDP_ENDPOINT",
        "PLAYWRIGHT_SERVICE_URL",
        "PLAYWRIGHT_WS_ENDPOINT",
        "PUPPETEER_BROWSER_WS_ENDPOINT",
        "PUPPETEER_WS_ENDPOINT",
        "PW_TEST_CONNECT_WS_ENDPOINT",
        "SELENIUM_GRID_URL",
        "SELENIUM_HUB_URL",
        "SELENIUM_REMOTE_URL",
        "SE_REMOTE_URL",
    }
)
"""Variables that name a running browser."""

# A WebSocket URL of a known provider, or with the path of the DevTools protocol.
_REMOTE_BROWSER_ARGUMENT = re.compile(
    r"\bwss?://[^\s\"']*(?:/devtools/browser/|browserless|browserbase|lambdatest|browserstack"
    r"|brightdata|brd\.superproxy|hyperbrowser|steel\.dev|anchorbrowser|playwright\.microsoft)"
    r"[^\s\"']*"
    r"|--(?:cdp[-_](?:url|endpoint)|remote[-_]url|connect[-_]url|ws[-_]endpoint)[= ][^\s\"']+",
    re.IGNORECASE,
)


def bypass_warnings(
    arguments: Sequence[str], environment: Mapping[str, str], *, namespace: bool = True
) -> list[str]:
    """Return a sentence for each way past the proxy that is visible before the command starts.

    ``namespace``: whether the command runs in one; this changes the wording only.
    """
    warnings = []
    if engines := sorted(set(_engines(environment))):
        warnings.append(
            f"the command can reach {_joined(engines)}: containers that it starts there are not"
            " behind WAREX, and their traffic is neither seen nor hit"
        )
    if browsers := list(dict.fromkeys(_remote_browsers(arguments, environment))):
        where = "outside the command's namespace" if namespace else "outside the command"
        warnings.append(
            f"{_joined(browsers)}: that browser runs {where}; its pages do not come through WAREX,"
            " only the commands to it do"
        )
    return warnings


def _engines(environment: Mapping[str, str]) -> Iterator[str]:
    for path, name in _ENGINES:
        if _reachable(Path(path)):
            yield f"{name} at {path}"
    if runtime := environment.get("XDG_RUNTIME_DIR"):
        for place, name in _OWN_ENGINES:
            if _reachable(own := Path(runtime) / place):
                yield f"{name} at {own}"
    for variable in ("DOCKER_HOST", "CONTAINER_HOST"):
        address = environment.get(variable, "")
        if address.startswith("unix:") and _reachable(Path(urlsplit(address).path)):
            yield f"{variable}={address}"


def _reachable(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.stat().st_mode) and os.access(path, os.W_OK)
    except OSError:
        return False


def _remote_browsers(arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(_REMOTE_BROWSER_VARIABLES & environment.keys()):
        if value := environment[name].strip():
            yield f"{name} names a browser at {_origin(value)}"
    for address in _REMOTE_BROWSER_ARGUMENT.findall(" ".join(arguments)):
        yield f"the command line names a browser at {_origin(address)}"


def _origin(address: str) -> str:
    """Return the origin of an address; its path and query may hold a key."""
    address = re.split(r"[= ]", address, maxsplit=1)[-1] if address.startswith("--") else address
    parts = urlsplit(address)
    if not parts.hostname:
        return address.split("?")[0]
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}"


def _joined(items: Iterable[str]) -> str:
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last
