"""Clients that must be made or fetched first: Go, Java, aiohttp and gRPC, behind `warex exec`."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.exec.conftest import Desk, Machine, desk_of, machine_of, surroundings
from tests.exec.support import clients
from tests.exec.support import machine as there
from tests.sandbox.support.users import USERS, User

pytestmark = pytest.mark.slow

PROGRAMS = Path(clients.__file__).with_name("programs")
PACKAGES = ("aiohttp==3.14.5", "grpcio==1.76.0")
SHOP, GONE = "https://shop.test", "https://gone.test"
RULES = """
name: fails
rules:
  - name: failing
    match: {url_regex: "^https?://shop\\\\.test(:\\\\d+)?/failing"}
    trigger: {always: true}
    fault: {kind: http_error, status: 500, body: failed}
"""
REFUSES = """
  - name: gone
    match: {url: "*://gone.test/*"}
    trigger: {always: true}
    fault: {kind: connection_refused}
"""
REFUSED = re.compile(r"refused|UNAVAILABLE|ConnectException|ClientConnectorError", re.IGNORECASE)


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:8]


BODY, FAILED, SAID = digest(there.BODY), digest(b"failed"), digest(b"THROUGH" * 1000)
EXPECTED = {
    "Go": ("2.0", BODY),
    "Java, HttpsURLConnection": ("1.1", BODY),
    "Java, HttpClient": ("2", BODY),
    "aiohttp": ("1.1", BODY),
    "gRPC": ("of-the-site", SAID),
    "gRPC, without TLS": ("of-the-site", SAID),
}


@pytest.fixture(scope="module")
def made() -> Iterator[dict[str, list[str]]]:
    """How to run each program; they lie where everybody may read."""
    for needed, package in (("go", "golang-go"), ("javac", "default-jdk-headless")):
        assert shutil.which(needed), f"no {needed}: install the package {package}"
    with tempfile.TemporaryDirectory(prefix="warex-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        python = folder / "venv" / "bin" / "python"
        go = {"GO111MODULE": "off", "CGO_ENABLED": "0", "GOCACHE": str(folder / "cache")}
        for command in (
            ["go", "build", "-o", folder / "client", PROGRAMS / "client.go"],
            ["javac", "-d", folder / "java", PROGRAMS / "Client.java"],
            [sys.executable, "-m", "uv", "venv", "-q", "--python", sys.executable, folder / "venv"],
            [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", python, *PACKAGES],
        ):
            subprocess.run([str(word) for word in command], check=True, env={**os.environ, **go})
        java = ["java", "-cp", str(folder / "java"), "Client"]
        rpc = [str(python), str(PROGRAMS / "rpc.py")]
        yield {
            "Go": [str(folder / "client")],
            "Java, HttpsURLConnection": [*java, "old"],
            "Java, HttpClient": [*java, "new"],
            "aiohttp": [str(python), str(PROGRAMS / "aio.py")],
            "gRPC": [*rpc, "secure"],
            "gRPC, without TLS": [*rpc, "insecure"],
        }


@pytest.fixture(scope="module")
def served(
    made: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Machine]:
    """A machine with a gRPC site as well."""
    folder = tmp_path_factory.mktemp("served")
    with machine_of(folder) as machine, desk_of(machine, USERS[0]) as desk:
        code = "import os, sys; os.execv(sys.argv[1], sys.argv[1:])"
        serve = [*made["gRPC"][:-1], "serve", str(folder / "site.crt"), str(folder / "site.key")]
        with subprocess.Popen(
            machine.words(USERS[0], ["-c", code, *serve]),
            env=surroundings(USERS[0], desk.folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as site:
            assert site.stdout is not None
            assert site.stdin is not None
            assert site.stdout.readline() == "ready\n"
            yield machine
            site.stdin.close()


def reported(
    desk: Desk, mode: str, hosts: str, programs: dict[str, list[str]], rules: str
) -> dict[str, str]:
    options = ["--quiet", "--isolate", mode]
    if rules:
        scenario = desk.folder / "scenario.yaml"
        scenario.write_text(rules)
        options += ["--scenario", str(scenario)]
    done = desk.warex(
        *(*options, "--", sys.executable, clients.__file__, hosts, *programs),
        TEST_OTHERS=json.dumps(programs),
        timeout=180,
    )
    assert done.returncode == 0, done
    answers: dict[str, str] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("mode", ["namespace", "environment"])
@pytest.mark.parametrize("who", USERS[::2], ids=str)
def test_each_is_answered_as_ever_and_meets_the_faults(
    mode: str, who: User, served: Machine, made: dict[str, list[str]]
) -> None:
    alone = mode == "namespace"
    with desk_of(served, who) as desk:
        hosts, rules = (f"{SHOP} {GONE}", RULES + REFUSES) if alone else (SHOP, RULES)
        answers = reported(desk, mode, hosts, made, rules)

    for name, (protocol, body) in EXPECTED.items():
        assert answers[f"{name} {SHOP}/body"] == f"200 {protocol} {body}", name
        assert answers[f"{name} {SHOP}/failing"] == f"500 {protocol} {FAILED}", name
        if alone:
            assert REFUSED.search(answers[f"{name} {GONE}/body"]), (name, answers)


def test_without_a_scenario_nothing_is_changed(served: Machine, made: dict[str, list[str]]) -> None:
    with desk_of(served, USERS[0]) as desk:
        answers = reported(desk, "namespace", SHOP, made, "")

    for name, (protocol, body) in EXPECTED.items():
        assert answers[f"{name} {SHOP}/body"] == f"200 {protocol} {body}", name
