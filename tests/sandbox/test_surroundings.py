"""Environment mode: what is around a command leads its programs to the proxy."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from warex.proxy.ca import CertificateAuthority
from warex.proxy.lane import Proxy
from warex.sandbox.environment import Environment
from warex.sandbox.guard import guarded
from warex.sandbox.surroundings import browser_flags, surround

pytestmark = pytest.mark.wire

URL = "https://site.warex.test/"
BY_PYTHON = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"
BY_NODE = "fetch(process.argv[1]).then(a => a.text()).then(console.log)"


@pytest.fixture(scope="module")
def around(lane: tuple[Proxy, Path], ca: CertificateAuthority) -> Iterator[Environment]:
    with guarded() as guard:
        yield surround(os.environ, lane[0].url, ca, guard)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["curl", "-sS"], id="curl"),
        pytest.param([sys.executable, "-c", BY_PYTHON], id="python"),
    ],
)
def test_programs_get_the_page_through_the_proxy(around: Environment, command: list[str]) -> None:
    done = subprocess.run(
        [*command, URL], env=around.variables, capture_output=True, text=True, timeout=30
    )

    assert done.stdout.strip() == "hello", done.stderr


def test_a_browser_on_the_path_is_ours(around: Environment) -> None:
    found = shutil.which("chrome", path=around.variables["PATH"])

    assert found is not None
    assert "--proxy-bypass-list=<-loopback>" in Path(found).read_text()


def test_only_root_needs_a_browser_without_its_sandbox(
    ca: CertificateAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user, without in ((0, True), (1000, False)):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)

        assert ("--no-sandbox" in browser_flags("http://127.0.0.1:1", ca)) is without
