"""The Docker files hold together; that their steps work is tests/slow/test_docker.py."""

import fnmatch
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.test_reference import complaint
from tests.docker.dockerfile import ROOT, Instruction, build_and_image, only

# The keys of the compose specification that may stand here; a misspelt one is in none.
TOP = {"name", "services", "networks", "volumes", "configs", "secrets", "include"}
SERVICE = """
annotations build cap_add cap_drop command configs container_name cpus depends_on devices
dns entrypoint env_file environment expose extra_hosts healthcheck hostname image init ipc
labels logging mem_limit network_mode networks pid platform ports privileged profiles
pull_policy read_only restart secrets security_opt shm_size stdin_open stop_grace_period
stop_signal sysctls tmpfs tty ulimits user volumes working_dir
"""
CONDITIONS = {"service_started", "service_healthy", "service_completed_successfully"}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    text = (ROOT / "docker" / "compose.yaml").read_text(encoding="utf-8")
    loaded = yaml.safe_load(text)
    assert isinstance(loaded, dict)
    return loaded


@pytest.fixture(scope="module")
def services(compose: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return dict(compose["services"])


# --- the Dockerfile ------------------------------------------------------------------------------


def copied(instructions: list[Instruction]) -> list[str]:
    return [
        source
        for each in instructions
        if each.word == "COPY" and "--from" not in each.rest
        for source in each.words[:-1]
    ]


def test_all_that_is_copied_is_there_and_sent_to_the_engine() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    build, image = build_and_image()

    assert lines.index("*") < min(i for i, line in enumerate(lines) if line.startswith("!"))
    for source in [*copied(build), *copied(image)]:
        assert (ROOT / source).exists()
        assert any(fnmatch.fnmatch(source, line[1:]) for line in lines if line.startswith("!"))


def test_what_the_package_is_built_from_is_copied() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    named = re.findall(r'^(?:readme|license-files) = \[?"([^"]+)"', project, re.MULTILINE)

    build, _ = build_and_image()
    assert len(named) == 2
    assert {*named, "pyproject.toml", "constraints.txt", "src", "testbed"} == set(copied(build))


def test_nothing_runs_as_root_but_the_build() -> None:
    _, image = build_and_image()
    words = [each.word for each in image]

    assert only("USER", image).rest == "warex"
    assert words.index("USER") < words.index("VOLUME") < words.index("ENTRYPOINT")
    assert "RUN" not in words[words.index("USER") :]
    (made,) = (each.rest for each in image if "useradd" in each.rest)
    # A new volume takes over the owner that its folder has in the image.
    owned = made.partition("--owner warex")[2].split()
    assert set(only("VOLUME", image).words) <= set(owned)
    assert "--uid 10001" in made


def test_the_image_is_the_command_and_by_itself_a_proxy_that_is_watched() -> None:
    _, image = build_and_image()
    command = only("CMD", image).words

    assert only("ENTRYPOINT", image).words == ["warex"]
    assert complaint(command) is None
    assert command[command.index("--port") + 1] == only("EXPOSE", image).rest
    assert f", {only('EXPOSE', image).rest})" in only("HEALTHCHECK", image).rest


def test_a_browser_comes_only_when_asked_for() -> None:
    build, image = build_and_image()

    assert only("ARG", build).rest == only("ARG", image).rest == "CHROMIUM=no"
    assert """$([ "$CHROMIUM" != yes ] && echo . || echo './testbed .[demo]')""" in build[-1].rest
    (packages,) = (each.rest for each in image if "apt-get install" in each.rest)
    assert '$([ "$CHROMIUM" != yes ] || echo chromium)' in packages


# --- the compose file ----------------------------------------------------------------------------


def test_every_key_is_of_the_compose_specification(
    compose: dict[str, Any], services: dict[str, dict[str, Any]]
) -> None:
    assert {key for key in compose if not key.startswith("x-")} <= TOP
    known = set(SERVICE.split())
    assert {(name, key) for name, each in services.items() for key in each.keys() - known} == set()
    assert all("image" in each for each in services.values())
    # No engine takes both.
    assert not any({"networks", "network_mode"} <= each.keys() for each in services.values())


def test_what_is_named_is_there(
    compose: dict[str, Any], services: dict[str, dict[str, Any]]
) -> None:
    for each in services.values():
        assert set(each.get("networks", ())) <= compose["networks"].keys()
        volumes = {volume.partition(":")[0] for volume in each.get("volumes", ())}
        assert volumes <= compose["volumes"].keys()
        for other, how in each.get("depends_on", {}).items():
            assert how["condition"] in CONDITIONS
            # With a profile alone, all that it depends on must come along.
            assert not services[other].get("profiles") or (
                services[other]["profiles"] == each["profiles"]
            )
        mode = str(each.get("network_mode", ""))
        assert not mode or mode.removeprefix("service:") in services


def test_every_command_of_ours_is_one(services: dict[str, dict[str, Any]]) -> None:
    ours = {n: s for n, s in services.items() if s["image"] == "warex" and "entrypoint" not in s}

    assert ours.keys() == {"proxy", "captured-proxy", "rules"}
    for each in ours.values():
        assert complaint([str(word) for word in each["command"]]) is None
    shell = shlex.split(services["trust"]["command"][0].replace("&&", ">"))
    lines = " ".join(shell).split(" > ")
    assert [complaint(line.split()[1:]) for line in lines if line.startswith("warex")] == [None] * 2


def test_no_agent_sees_the_private_key_or_a_way_around(
    compose: dict[str, Any], services: dict[str, dict[str, Any]]
) -> None:
    agent, captured = services["agent"], services["captured-agent"]

    for each in (agent, captured):
        assert each["volumes"] == ["trust:/trust:ro"]
        assert not each.get("cap_add")
    assert agent["networks"] == ["inside"]
    assert compose["networks"]["inside"]["internal"] is True
    # The rules spare the proxy's user, so the agent must be another one.
    made = next(i.rest for i in build_and_image()[1] if "useradd" in i.rest)
    skipped = re.search(r"--uid (\d+)", made)
    assert skipped is not None
    assert f"--all-but={skipped[1]}" in services["rules"]["command"]
    assert captured["user"].split(":")[0] not in ("0", "root", skipped[1])
    assert services["rules"]["network_mode"] == captured["network_mode"]


def test_docs_show_the_files_that_there_are() -> None:
    page = (ROOT / "docs" / "how-to" / "docker.md").read_text(encoding="utf-8")

    for path in re.findall(r"docker/[\w.]+", page):
        assert Path(ROOT / path).exists(), path


def test_the_user_in_the_docs_can_write_the_ca_folder() -> None:
    text = (ROOT / "docs/how-to/docker.md").read_text(encoding="utf-8").replace("\\\n", " ")
    runs = [line for line in text.splitlines() if line.startswith("docker run ")]

    assert runs
    for line in runs:
        assert "--user" not in line or "WAREX_CA_DIR=" in line, line
