"""The Dockerfile's steps, done in a plain folder in the place of an image's root.

No engine: what is copied is copied, what is run is run by this machine's Python, with the paths of
the image below the folder. Steps that belong to the base image (apt-get, useradd) are left out.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.docker.dockerfile import ROOT, Instruction, build_and_image, only
from tests.proxy.support.origin import served
from warex_testbed.sites import HOSTS

pytestmark = pytest.mark.slow


def run(image: Path, command: str, folder: Path, variables: Mapping[str, str]) -> None:
    done = subprocess.run(
        ["sh", "-euc", command.replace("/opt/", f"{image}/opt/")],
        cwd=folder,
        env={
            **os.environ,
            **variables,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def do(
    instructions: list[Instruction], image: Path, build_args: Mapping[str, str] | None = None
) -> None:
    """Carry out a stage; ``build_args`` as of `docker build --build-arg`."""
    folder = image
    variables: dict[str, str] = {}
    for each in instructions:
        match each.word:
            case "ARG":
                name, _, default = each.rest.partition("=")
                variables[name] = (build_args or {}).get(name, default)
            case "WORKDIR":
                folder = image / each.rest.lstrip("/")
                folder.mkdir(parents=True, exist_ok=True)
            case "COPY":
                *sources, target = each.words
                for source in sources:
                    copy(ROOT / source, folder / target, full=len(sources) == 1)
            case "RUN":
                run(image, each.rest, folder, variables)
            case _:
                pass


def copy(source: Path, target: Path, *, full: bool) -> None:
    """As Docker does: a folder's content is copied, a file into a folder or to a name."""
    if source.is_dir():
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)
    else:
        shutil.copy(source, target if full and not target.is_dir() else target / source.name)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("image"))


@pytest.fixture(scope="module")
def image_with_chromium(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("image"), {"CHROMIUM": "yes"})


def built(folder: Path, build_args: Mapping[str, str] | None = None) -> Path:
    build, _ = build_and_image()
    do(build, folder, build_args)
    # Nothing of the sources is needed any more, as in the image that only the environment is in.
    shutil.rmtree(folder / "src")
    return folder


def environment(image: Path, tmp_path: Path) -> dict[str, str]:
    """What the image sets, below the folder; HOME is the new user's."""
    _, instructions = build_and_image()
    named = dict(word.split("=", 1) for word in only("ENV", instructions).words)
    assert named["WAREX_CA_DIR"].startswith("/var/lib/warex/")
    return {
        "PATH": named["PATH"]
        .replace("/opt/", f"{image}/opt/")
        .replace("$PATH", os.environ["PATH"]),
        "PYTHONUNBUFFERED": named["PYTHONUNBUFFERED"],
        "WAREX_CA_DIR": str(tmp_path / named["WAREX_CA_DIR"].lstrip("/")),
        "HOME": str(tmp_path),
    }


def test_the_image_runs_commands_and_puts_others_behind_the_proxy(
    image: Path, tmp_path: Path
) -> None:
    existing = environment(image, tmp_path)
    version = subprocess.check_output(["warex", "--version"], env=existing, text=True, timeout=60)
    assert version.startswith("warex, version ")

    program = "import urllib.request as r; print(r.urlopen('https://shop.example/').status)"
    with served() as site:
        command = ["warex", "exec", "--isolate", "environment", "--quiet"]
        command += ["--map", f"https://shop.example=http://127.0.0.1:{site.port}"]
        command += ["--out", str(tmp_path / "trial"), "--", "python", "-c", program]
        output = subprocess.check_output(command, env=existing, text=True, timeout=120)

    assert output == "200\n"
    assert (tmp_path / "trial" / "events.jsonl").exists()


def test_the_images_own_command_is_a_proxy_that_its_check_finds_healthy(
    image: Path, tmp_path: Path
) -> None:
    _, instructions = build_and_image()
    port = only("EXPOSE", instructions).rest
    with socket.create_server(("127.0.0.1", 0)) as holder:
        free = str(holder.getsockname()[1])
    existing = environment(image, tmp_path)
    entry = [*only("ENTRYPOINT", instructions).words, *only("CMD", instructions).words]
    check = Instruction("CMD", only("HEALTHCHECK", instructions).rest.partition(" CMD ")[2]).words
    check = [word.replace(port, free) for word in check]

    unhealthy = subprocess.run(check, env=existing, capture_output=True, check=False, timeout=60)
    proxy = subprocess.Popen(
        [word.replace(port, free) for word in entry],
        env=existing,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert proxy.stdout is not None
    try:
        assert proxy.stdout.readline().startswith("proxy ")
        healthy = subprocess.run(check, env=existing, capture_output=True, check=False, timeout=60)
    finally:
        proxy.send_signal(signal.SIGTERM)
        _, _ = proxy.communicate(timeout=60)

    assert (unhealthy.returncode, healthy.returncode, proxy.returncode) == (1, 0, 0)


def test_the_images_testbed_has_its_pages_and_all_that_they_load(
    image_with_chromium: Path, tmp_path: Path
) -> None:
    with subprocess.Popen(
        ["warex-testbed", "serve", "--exit-with-stdin"],
        env=environment(image_with_chromium, tmp_path),
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as testbed:
        assert testbed.stdin is not None
        assert testbed.stdout is not None
        port = json.loads(testbed.stdout.readline())["port"]

        def asked(host: str, path: str) -> str:
            request = urllib.request.Request(f"http://127.0.0.1:{port}{path}")
            request.add_header("Host", host)
            with urllib.request.urlopen(request, timeout=20) as answer:
                return str(answer.read(), "utf-8")

        for host in HOSTS:
            loaded = re.findall(r'"(/static/[^"]*)"', asked(host, "/"))
            assert len(loaded) > 2
            assert all(asked(host, path) for path in loaded)
        testbed.stdin.close()

    assert testbed.returncode == 0
