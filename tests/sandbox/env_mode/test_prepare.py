"""Environment mode: what is around a command leads its programs to the proxy."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.client import Proxy
from warex.sandbox.cleanup.reaper import start_reaper
from warex.sandbox.env_mode.prepare import browser_flags, prepare_environment
from warex.sandbox.environment import Environment

pytestmark = pytest.mark.wire

URL = "https://site.warex.test/"
BY_PYTHON = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"
BY_FETCH = "fetch(process.argv[1]).then(a => a.text()).then(console.log)"
BY_HTTPS = "require('https').get(process.argv[1], a => a.pipe(process.stdout))"


@pytest.fixture(scope="module")
def around(lane: tuple[Proxy, Path], ca: CertificateAuthority) -> Iterator[Environment]:
    with start_reaper() as reaper:
        yield prepare_environment(os.environ, lane[0].url, ca, reaper)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["curl", "-sS"], id="curl", marks=pytest.mark.slow),
        pytest.param([sys.executable, "-c", BY_PYTHON], id="python"),
        pytest.param(["wget", "-q", "-O", "-"], id="wget", marks=pytest.mark.slow),
        pytest.param(["node", "-e", BY_FETCH], id="node-fetch", marks=pytest.mark.slow),
        pytest.param(["node", "-e", BY_HTTPS], id="node-https", marks=pytest.mark.slow),
    ],
)
def test_programs_get_the_page_through_the_proxy(around: Environment, command: list[str]) -> None:
    done = subprocess.run(
        [*command, URL], env=around.variables, capture_output=True, text=True, timeout=30
    )

    assert done.stdout.strip() == "hello", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("code", [BY_FETCH, BY_HTTPS.replace("https", "http")])
def test_nodes_own_loopback_stays_direct(
    around: Environment, code: str, site: int, lane: tuple[Proxy, Path]
) -> None:
    done = subprocess.run(
        ["node", "-e", code, f"http://127.0.0.1:{site}/only-node"],
        env=around.variables,
        capture_output=True,
        text=True,
        timeout=30,
    )

    assert done.stdout.strip() == "hello", done.stderr
    assert "only-node" not in (lane[1] / "events.jsonl").read_text()


@pytest.mark.slow
def test_a_site_that_does_not_exist_is_an_error_of_nodes(around: Environment) -> None:
    code = "fetch(process.argv[1]).catch(error => console.log('caught', error.message))"
    done = subprocess.run(
        ["node", "-e", code, "https://nowhere.warex.test/"],
        env=around.variables,
        capture_output=True,
        text=True,
        timeout=30,
    )

    assert done.stdout.startswith("caught"), done


def test_options_of_the_users_stay_before_ours(
    lane: tuple[Proxy, Path], ca: CertificateAuthority
) -> None:
    theirs = {"NODE_OPTIONS": "--max-old-space-size=99", "JAVA_TOOL_OPTIONS": "-Xmx99m"}
    with start_reaper() as reaper:
        results = prepare_environment({**os.environ, **theirs}, lane[0].url, ca, reaper).variables

    for name, option in theirs.items():
        assert results[name].startswith(f"{option} -")


def test_chromium_finds_its_store_and_the_user_their_data(
    lane: tuple[Proxy, Path], ca: CertificateAuthority, tmp_path: Path
) -> None:
    (tmp_path / ".local/share/app").mkdir(parents=True)
    (tmp_path / ".local/share/app/state").write_text("theirs")
    home = {**os.environ, "HOME": str(tmp_path)}
    home.pop("XDG_DATA_HOME", None)
    with start_reaper() as reaper:
        data = Path(prepare_environment(home, lane[0].url, ca, reaper).variables["XDG_DATA_HOME"])

        assert (data / "pki/nssdb/cert9.db").stat().st_size > 0
        assert (data / "app/state").read_text() == "theirs"
        (data / "new").write_text("made")

    assert sorted(path.name for path in (tmp_path / ".local/share").iterdir()) == ["app", "new"]


def test_a_store_in_the_home_is_not_touched(
    lane: tuple[Proxy, Path], ca: CertificateAuthority, tmp_path: Path
) -> None:
    (tmp_path / ".pki/nssdb").mkdir(parents=True)
    with start_reaper() as reaper:
        environment = prepare_environment(
            {**os.environ, "HOME": str(tmp_path)}, lane[0].url, ca, reaper
        )

    assert environment.variables.get("XDG_DATA_HOME") == os.environ.get("XDG_DATA_HOME")
    assert list((tmp_path / ".pki/nssdb").iterdir()) == []


@pytest.mark.browser
@pytest.mark.parametrize("place", ["site", "loopback"])
def test_pages_come_through_also_those_on_this_machine(
    place: str, around: Environment, site: int, lane: tuple[Proxy, Path], tmp_path: Path
) -> None:
    name = shutil.which("chrome", path=around.variables["PATH"])
    assert name is not None
    page = f"{URL}{place}" if place == "site" else f"http://localhost:{site}/{place}"
    done = subprocess.run(
        [name, "--headless", "--dump-dom", f"--user-data-dir={tmp_path}", page],
        env=around.variables,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert "hello" in done.stdout, done.stderr
    assert page in (lane[1] / "events.jsonl").read_text()


def test_a_browser_on_the_path_is_ours(around: Environment) -> None:
    executable = shutil.which("chrome", path=around.variables["PATH"])

    assert executable is not None
    assert "--proxy-bypass-list=<-loopback>" in Path(executable).read_text()


def test_only_root_needs_a_browser_without_its_sandbox(
    ca: CertificateAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user, without in ((0, True), (1000, False)):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)

        assert ("--no-sandbox" in browser_flags("http://127.0.0.1:1", ca)) is without
