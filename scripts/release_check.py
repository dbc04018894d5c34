"""Build the distributions, check what they say, install them in fresh environments and try them.

    python -m scripts.release_check [--out dist]

Needs a package index. Each step is a line; the first that fails ends it.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from email import message_from_string
from email.message import Message
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import ZipFile

from scripts.distributions import build, repository_address

PYTHONS: Final = ("3.12", "3.13")
"""Versions that are tried where this machine has them."""
NEXT: Final = "3.14"
"""The version whose dependencies must all have wheels."""
_PLATFORMS: Final = ("x86_64-manylinux_2_28", "aarch64-manylinux_2_28", "aarch64-apple-darwin")
_FOR_CONTRIBUTORS: Final = ("dev", "docs")
_APART: Final = ("inspect",)
"""Extras that want other versions of the rest."""
_WITHOUT_CHECK: Final = "https://warex.example/o/warex"
"""The address in a build that is only tried."""
_AGENT: Final = """\
import urllib.error, urllib.request
page = {"Accept": "text/html", "Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate"}
try:
    urllib.request.urlopen(urllib.request.Request("http://shop.example/", headers=page))
except urllib.error.HTTPError as error:
    assert error.code == 500, error.code
else:
    raise AssertionError("no fault")
"""
_TEST: Final = """\
import urllib.error, urllib.request, pytest
SHOP = "http://shop.example"
@pytest.mark.warex("paper/server-error", sites=SHOP, maps={SHOP: "http://127.0.0.1:9"})
def test_a_page_fails_once(warex):
    page = {"Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate", "Accept": "text/html"}
    proxy = urllib.request.ProxyHandler({"http": warex.proxy.url})
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.build_opener(proxy).open(urllib.request.Request(f"{SHOP}/", headers=page))
"""


class Broken(Exception):
    """A step failed; the message says how."""


def run(
    command: Sequence[str | Path], folder: Path, environment: Mapping[str, str] | None = None
) -> str:
    """Run a command to its end; return its output. Raises Broken if it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**clean_environment(), **(environment or {})},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode:
        words = " ".join(map(str, command))
        raise Broken(f"{words}\n{done.stdout}{done.stderr}exit code {done.returncode}")
    return done.stdout


def clean_environment() -> dict[str, str]:
    """Return the environment without what points into the repository's own."""
    ours = ("VIRTUAL_ENV", "PYTHONPATH", "MAKE", "MFLAGS", "WAREX_", "PYTEST", "COVERAGE")
    variables = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
    chromium = os.environ.get("WAREX_CHROMIUM")
    return variables | ({"WAREX_CHROMIUM": chromium} if chromium else {})


def metadata(wheel: Path) -> tuple[Message, set[str]]:
    """Return a wheel's metadata and the names of its files."""
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        (path,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        return message_from_string(archive.read(path).decode()), set(names)


def lacks(wheel: Path) -> list[str]:
    """Return what a stranger misses in a wheel's metadata and files."""
    fields, names = metadata(wheel)
    urls = {line.partition(",")[0] for line in fields.get_all("Project-URL", [])}
    classifiers = fields.get_all("Classifier", [])
    page = str(fields.get_payload())
    missing = [
        f"URL {name}"
        for name in ("Homepage", "Documentation", "Source", "Issues", "Changelog", "Paper")
        if name not in urls
    ]
    missing += [name for name in ("Author", "Keywords", "License-Expression") if not fields[name]]
    missing += [
        f"classifier {start}"
        for start in ("Operating System ::", "Programming Language :: Python :: 3.", "Topic ::")
        if not any(each.startswith(start) for each in classifiers)
    ]
    missing += [
        f"file {name}"
        for name in ("py.typed", "licenses/LICENSE")
        if not any(each.endswith(f"/{name}") for each in names)
    ]
    missing += ["an address to clone"] if "git clone …" in page else []
    relative = re.findall(r"\]\((?!https?:|mailto:|#)[^)]*\)", page)
    return missing + [f"an absolute address in place of {link}" for link in relative]


def try_base(bin_: Path, folder: Path) -> None:
    """Run what needs no extra: a command and a client behind the proxy, their trace."""
    folder.mkdir(parents=True)
    warex, python = bin_ / "warex", bin_ / "python"
    settings = {"WAREX_CA_DIR": str(folder / "ca")}
    site = ("--map", "http://shop.example=http://127.0.0.1:9", "--scenario", "paper/server-error")
    run([warex, "exec", *site, "--out", "exec", "--", python, "-c", _AGENT], folder, settings)
    ledger = run([warex, "inspect", "exec"], folder, settings)
    if "delivered" not in ledger:
        raise Broken(f"warex inspect shows no fault that was delivered:\n{ledger}")
    try_proxy([warex, "proxy", "--port", "0", "--out", "proxy", *site], python, folder, settings)


def try_proxy(
    command: Sequence[str | Path], python: Path, folder: Path, settings: Mapping[str, str]
) -> None:
    """Start the proxy, ask it for a page and stop it."""
    environment = {**clean_environment(), **settings}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    ) as proxy:
        assert proxy.stdout
        try:
            for line in proxy.stdout:
                if address := re.search(r"http://[\w.]+:\d+", line):
                    run([python, "-c", _AGENT], folder, {**settings, "http_proxy": address[0]})
                    break
        finally:
            proxy.send_signal(signal.SIGINT)
            proxy.stdout.read()
    if proxy.returncode:
        raise Broken(f"warex proxy ended with {proxy.returncode}")


def try_demo(bin_: Path, folder: Path) -> None:
    """Run a trial of the demo and look at it in each way."""
    warex = bin_ / "warex"
    settings = {"WAREX_CA_DIR": str(folder / "ca")}
    run([warex, "run", "demo", "--limit", "1", "--out", "demo"], folder, settings)
    summary = json.loads(run([warex, "report", "demo", "--json"], folder, settings))
    run([warex, "view", "demo", "--static", "site"], folder, settings)
    if not summary or not (folder / "site" / "index.html").is_file():
        raise Broken("the demo left no report or no pages of warex view")


def try_plugin(python: Path, folder: Path) -> None:
    """Run a test with the plugin that pytest finds by itself."""
    (folder / "test_mine.py").write_text(_TEST)
    settings = {"WAREX_CA_DIR": str(folder / "ca")}
    run([python, "-m", "pytest", "-q", "test_mine.py"], folder, settings)


def interpreter(version: str) -> str | None:
    """Return a Python of this version on this machine, if there is one."""
    existing = subprocess.run(
        [uv(), "python", "find", "--no-python-downloads", version],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    if existing:
        return existing
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    return next((str(path) for path in pyenv.glob(f"{version}.*/bin/python")), None)


def uv() -> str:
    """Return the program of uv, that of this environment first."""
    own = Path(sys.executable).with_name("uv")
    return str(own) if own.exists() else shutil.which("uv") or "uv"


def install(python: str, folder: Path, wheels: Path, extra: str, *, by: str) -> Path:
    """Make an environment with WAREX, by pip or uv; return its folder of programs."""
    package = f"warex[{extra}]" if extra else "warex"
    if by == "pip":
        run([python, "-m", "venv", folder], wheels)
        pip = (folder / "bin" / "python", "-m", "pip")
        run([*pip, "install", "-q", "--find-links", wheels, package, "pytest"], wheels)
        run([*pip, "check"], wheels)
    else:
        run([uv(), "venv", "-q", "--python", python, folder], wheels)
        target: list[str | Path] = ["--python", folder / "bin" / "python", "--find-links", wheels]
        run([uv(), "pip", "install", "-q", *target, package, "pytest"], wheels)
    return folder / "bin"


def check_tools(python: str, folder: Path, wheels: Path) -> None:
    """Install WAREX as uv's tool, and start it from the wheel without installing it."""
    folder.mkdir()
    homes = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    options: list[str | Path] = ["--python", python, "--find-links", wheels]
    run([uv(), "tool", "install", "-q", *options, "warex[demo]"], folder, homes)
    run([folder / "bin" / "warex", "--version"], folder)
    run([folder / "bin" / "warex", "exec", "--", "true"], folder)
    run([uv(), "tool", "run", "-q", *options, "--from", "warex", "warex", "--version"], folder)


def sets_of_extras(wheel: Path) -> list[str]:
    """Return the extras of WAREX's users, by commas: those that fit together, and each other."""
    extras = metadata(wheel)[0].get_all("Provides-Extra", [])
    together = [it for it in extras if it not in (*_FOR_CONTRIBUTORS, *_APART)]
    return [",".join(together), *(it for it in _APART if it in extras)]


def check_wheels_of_dependencies(wheels: Path, extras: Sequence[str]) -> list[str]:
    """Return each platform on which a dependency has no wheel for the next Python."""
    missing = []
    for platform, some in product(_PLATFORMS, extras):
        command = [
            *(uv(), "pip", "compile", "-q", "--no-header", "--only-binary", ":all:"),
            *("--python-version", NEXT, "--python-platform", platform),
            *("--find-links", str(wheels), "-"),
        ]
        done = subprocess.run(
            command, input=f"warex[{some}]\n", capture_output=True, text=True, check=False
        )
        if done.returncode:
            missing.append(f"{platform}, {some}: {done.stderr.strip()}")
    return missing


def main() -> None:
    """Do all steps. Exits with 1 at the first that fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("dist"), help="where the files go")
    wheels: Path = parser.parse_args().out.absolute()
    shutil.rmtree(wheels, ignore_errors=True)
    began = time.monotonic()

    def step(sentence: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {sentence}", flush=True)

    try:
        home = repository_address()
        if home is None:
            step("the address of the repository is unknown (WAREX_HOME): not to be published")
        files = build(wheels, home or _WITHOUT_CHECK)
        step("built " + ", ".join(path.name for path in files))
        for wheel in wheels.glob("*.whl"):
            if missing := lacks(wheel):
                raise Broken(f"{wheel.name} lacks {'; '.join(missing)}")
        run([uv(), "tool", "run", "-q", "twine", "check", "--strict", *files], wheels)
        step("metadata, files and README of both")
        (warex,) = wheels.glob("warex-*.whl")
        extras = sets_of_extras(warex)
        if missing := check_wheels_of_dependencies(wheels, extras):
            raise Broken("\n".join(missing))
        step(
            f"each dependency, also of {' and of '.join(extras)}, has a wheel for Python {NEXT} on"
            f" {', '.join(_PLATFORMS)}"
        )
        with TemporaryDirectory(prefix="warex-release-") as temporary:
            folder = Path(temporary)
            for version in (*PYTHONS, NEXT):
                python = interpreter(version)
                if python is None:
                    step(f"Python {version}: not on this machine, so nothing is run with it")
                    continue
                for by in ("pip", "uv"):
                    bin_ = install(python, folder / f"{version}-{by}", wheels, "", by=by)
                    try_base(bin_, folder / f"{version}-{by}-base")
                    try_plugin(bin_ / "python", folder / f"{version}-{by}-base")
                    step(f"Python {version}, {by}: exec, proxy, inspect, the plugin of pytest")
                bin_ = install(python, folder / f"{version}-demo", wheels, "demo,frames", by="uv")
                (folder / f"{version}-run").mkdir()
                try_demo(bin_, folder / f"{version}-run")
                step(f"Python {version}, with extras: run demo, report, view")
                check_tools(python, folder / f"{version}-tools", wheels)
                step(f"Python {version}: uv tool install, uvx --from")
    except Broken as broken:
        sys.exit(f"release-check: {broken}")


if __name__ == "__main__":
    main()
