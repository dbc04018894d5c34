"""The machine and the versions that were measured."""

import os
import platform
import subprocess
from collections.abc import Mapping
from importlib.metadata import version

from playwright.sync_api import sync_playwright

from warex.agents.reference import chromium


def describe() -> Mapping[str, str]:
    """Return the machine and the versions that matter, by name."""
    return {
        "cores": str(os.cpu_count()),
        "system": f"{_system()} {platform.machine()}",
        "Python": f"{platform.python_version()} ({platform.python_compiler()})",
        "mitmproxy": version("mitmproxy"),
        "Chromium": _chromium(),
    }


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:  # macOS
        return platform.system()


def _chromium() -> str:
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    try:
        path = chromium.find(None, os.environ, own, headless=False)
    except chromium.NoChromium:
        return "none"
    printed = subprocess.run(
        [path, "--version"], capture_output=True, text=True, check=False
    ).stdout
    return next((word for word in printed.split() if word[:1].isdigit()), "unknown")
