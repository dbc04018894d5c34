"""The proxies that are compared: a lane of WAREX, and mitmdump as a user starts it."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.counted import Lane, counting_lane
from bench.setting import HOST, Setting
from warex.faults import HttpError
from warex.proxy.config import ProxyConfig
from warex.scenarios import Match, Rule, Scenario, Trigger

NEVER_REACHED = 10**9

LOADED = Scenario(
    name="loaded",
    rules=(
        # Matches and counts every exchange here, and hits none of them.
        Rule(
            name="far-away",
            match=Match(url=f"https://{HOST}:*"),
            trigger=Trigger(nth=(NEVER_REACHED,)),
            per="url",
            fault=HttpError(status=500),
        ),
        Rule(
            name="pages",
            match=Match(url="{sites}", resource=("document",)),
            trigger=Trigger(nth=(NEVER_REACHED,)),
            fault=HttpError(status=503),
        ),
        Rule(
            name="other-site",
            match=Match(url="https://shop.example/api/*", method=("POST",)),
            trigger=Trigger(always=True),
            fault=HttpError(status=500),
        ),
    ),
)
"""Rules that match, count and never fire."""

ELSEWHERE = Scenario(
    name="elsewhere",
    rules=(
        Rule(
            name="other-site",
            match=Match(url="https://shop.example/*"),
            trigger=Trigger(always=True),
            fault=HttpError(status=500),
        ),
    ),
)
"""A scenario about another host: with ``record=concerned`` this one is passed through."""


def warex_config(
    setting: Setting,
    scenario: Scenario | None = None,
    record: Literal["all", "concerned"] = "all",
) -> ProxyConfig:
    """Return a lane's configuration with tracing on."""
    return ProxyConfig(
        ca=setting.ca.folder,
        out=setting.fresh("trial"),
        scenario=scenario,
        record=record,
        insecure=True,
    )


@dataclass(frozen=True, slots=True)
class Running:
    """A peer that runs."""

    port: int
    pid: int


@contextmanager
def lane(
    setting: Setting,
    scenario: Scenario | None = None,
    record: Literal["all", "concerned"] = "all",
) -> Iterator[Lane]:
    """Run a lane as the other candidates are run, for clients that know the proxy."""
    with counting_lane(setting, warex_config(setting, scenario, record)) as running:
        yield running


def mitmdump_command(port: int, folder: Path) -> list[str]:
    """Return stock mitmdump's command line: its defaults, and what the place asks for."""
    return [
        str(Path(sys.executable).with_name("mitmdump")),
        *("--listen-host", "127.0.0.1"),
        *("--listen-port", str(port)),
        "--ssl-insecure",
        *("--set", f"confdir={folder}"),
    ]


@contextmanager
def mitmdump(setting: Setting) -> Iterator[Running]:
    """Run stock mitmdump with the CA that clients trust here, its output going to nowhere."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    folder = setting.fresh("mitmproxy") / "ca"
    shutil.copytree(setting.ca.folder, folder)
    command = mitmdump_command(port, folder)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            _wait_for(port, process)
            yield Running(port, process.pid)
        finally:
            process.terminate()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("mitmdump did not start; its message stands above")
