"""What must be true of the repository as a whole."""

import re
import shutil
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.bare_machine import bare_path

ROOT = Path(__file__).parents[1]
DISTRIBUTIONS = (ROOT, ROOT / "testbed")
SOURCES = {each: sorted((each / "src").rglob("*.py")) for each in DISTRIBUTIONS}
ALL_SOURCES = [path for paths in SOURCES.values() for path in paths]

# Put together here so that this file does not hold what it forbids.
HOSTS = (
    "py" + "pi.org",
    "python" + "hosted.org",
    "npm" + "js.org",
    "npm" + "js.com",
    "deb." + "debian.org",
    "security." + "debian.org",
    "archive." + "ubuntu.com",
    "cdn." + "playwright.dev",
    "ana" + "conda.org",
)
FOLDERS = ("ro" + "ot", "wo" + "rk", "home/[a-z]" + "+", "opt/py" + "pi", "tmp" + "/w")
FORBIDDEN = re.compile(
    "|".join([*map(re.escape, HOSTS), *(rf"(?<![\w./*-])/{folder}/" for folder in FOLDERS)])
)
APART = {
    "inspect": "tests/exports/pins/inspect.txt",
    "verifiers": "tests/rl/pins/verifiers.txt",
}
"""Extras whose packages go with other versions of the rest than the tests have."""
PLAYWRIGHT = "from playwright." + "sync_api import"
READ_AT_ONCE = re.compile(
    r"^ *assert\b.*(?:\.(?:count|inner_text|all_inner_texts|text_content|all_text_contents"
    r"|inner_html|input_value|is_visible|is_hidden|is_checked|is_enabled|is_disabled)\(\)"
    r"|\.get_attribute\(|\bpage\.title\(\)|\bpage\.url\b)",
    re.MULTILINE,
)
"""An assertion on what a page shows at this moment, which may be too early."""
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK|NotImplementedError)\b")


@cache
def files_in_git() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, so there is nothing that git holds")
    # A checkout may belong to another user than the one who runs the tests.
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for name in names.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_names_a_package_host_or_a_path_of_one_machine() -> None:
    match = [
        f"{path.relative_to(ROOT)}:{number}: {hit[0]}"
        for path in files_in_git()
        for number, line in enumerate(path.read_text("utf-8", errors="ignore").splitlines(), 1)
        if (hit := FORBIDDEN.search(line))
    ]

    assert not match


def test_forbidden_text_is_noticed() -> None:
    for text in ("https://" + "py" + "pi.org/simple", "see /ro" + "ot/x", "'/wo" + "rk/main'"):
        assert FORBIDDEN.search(text)
    for text in ("https://shop.example/work/1", "src/work/file", "net/root/x"):
        assert not FORBIDDEN.search(text)


def test_every_folder_of_tests_is_a_package() -> None:
    # Without it two test files of one name collide, and pytest runs neither.
    folders = {path.parent for it in DISTRIBUTIONS for path in (it / "tests").rglob("test_*.py")}

    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


@cache
def texts_of_tests() -> dict[Path, str]:
    return {
        path: path.read_text("utf-8")
        for each in DISTRIBUTIONS
        for path in (each / "tests").rglob("*.py")
    }


def test_what_a_page_shows_is_waited_for() -> None:
    matches = [
        f"{path.relative_to(ROOT)}: {hit[0].strip()} (use Playwright's expect, which waits)"
        for path, text in texts_of_tests().items()
        if PLAYWRIGHT in text
        for hit in READ_AT_ONCE.finditer(text)
    ]

    assert matches == []
    assert READ_AT_ONCE.search('    assert page.get_by_role("alert").count() == 1')
    assert not READ_AT_ONCE.search('    assert text.count("a") == 1')


def test_a_tests_name_has_70_characters_at_most() -> None:
    too_long = [
        f"{path.relative_to(ROOT)}: {name} has {len(name)} characters, more than 70"
        for path, text in texts_of_tests().items()
        for name in re.findall(r"def (test_\w{66,})\(", text)
    ]

    assert too_long == []


def test_a_tests_name_states_a_rule_with_its_subject() -> None:
    riddles = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in texts_of_tests().items()
        for name in re.findall(r"(?m)^(?:async )?def (test_(?:of|to|who|whoever)_\w+)", text)
    ]

    assert riddles == []


def test_every_source_file_is_finished() -> None:
    unfinished = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in ALL_SOURCES
        for line in path.read_text(encoding="utf-8").splitlines()
        if UNFINISHED.search(line)
    ]

    assert unfinished == []


def pinned(file: Path) -> dict[str, list[str]]:
    """The versions that a file pins, by package."""
    pins: dict[str, list[str]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        pin = Requirement(line)
        (specifier,) = pin.specifier
        assert specifier.operator == "==", line
        pins.setdefault(canonicalize_name(pin.name), []).append(specifier.version)
    return pins


def test_every_dependency_is_pinned_to_a_version_that_fits() -> None:
    projects = [
        tomllib.loads((each / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for each in DISTRIBUTIONS
    ]
    pins = pinned(ROOT / "constraints.txt")
    owners = {project["name"]: project for project in projects}
    wanted_by_all = [
        (text, pinned(ROOT / APART[extra]) if extra in APART else pins)
        for project in projects
        for extra, group in {
            "": project["dependencies"],
            **project["optional-dependencies"],
        }.items()
        for text in group
    ]
    for text, pins in wanted_by_all:
        wanted = Requirement(text)
        if owner := owners.get(canonicalize_name(wanted.name)):
            assert wanted.extras <= owner["optional-dependencies"].keys()
            continue
        versions = pins.get(canonicalize_name(wanted.name), [])
        assert versions, f"{text} is not in constraints.txt: run `make constraints`"
        assert all(wanted.specifier.contains(version) for version in versions), text


def test_the_constraints_name_no_address() -> None:
    for file in (ROOT / "constraints.txt", *ROOT.glob("tests/*/pins/*.txt")):
        assert not re.search(r"://|--|@", file.read_text(encoding="utf-8"))


def test_the_changelog_has_the_version_and_a_place_for_what_comes_next() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = re.search(r'VERSION = "(.+)"', (ROOT / "src/warex/version.py").read_text())

    assert version
    assert f"<!-- towncrier release notes start -->\n\n## {version[1]} (" in changelog


def test_make_alone_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    # From another make's recipe, its flags would come along.
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    listed = subprocess.run(
        ["make"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout

    assert set(re.findall(r"^make ([a-z-]+) +\S", listed, re.MULTILINE)) == targets
    assert {
        "setup",
        "demo",
        "test",
        "test-testbed",
        "test-slow",
        "test-all",
        "check",
        "coverage",
        "bench",
        "clean",
    } <= targets


def test_the_demo_and_the_quick_tier_run_before_more_is_installed(tmp_path: Path) -> None:
    for folder in (".ci", "scripts"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    # A machine whose set-up is done, and on which every other program only says what it was asked.
    (tmp_path / "scripts" / "setup.sh").write_text("echo Ready\n")
    shutil.copy(ROOT / "Makefile", tmp_path)
    log, bin_ = tmp_path / "log", tmp_path / ".venv" / "bin"
    bin_.mkdir(parents=True)
    installed = (
        "certutil chromedriver curl fish go ip iptables javac keytool nft node npm openssl wget zsh"
    )
    stubs = dict.fromkeys(("python", "warex", "lint-imports"), ":") | {
        "apt-get": f'for it in {installed}; do cp {bin_}/lint-imports "{bin_}/$it"; done'
    }
    for name, does in stubs.items():
        (bin_ / name).write_text(f'#!/bin/sh\necho "{name} $*" >>"{log}"\n{does}\n')
        (bin_ / name).chmod(0o755)
    (bin_ / "id").write_text("#!/bin/sh\necho 0\n")
    (bin_ / "id").chmod(0o755)

    done = subprocess.run(
        ["bash", ".ci/run"],
        cwd=tmp_path,
        env={"PATH": f"{bin_}:{bare_path(tmp_path / 'bare')}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    message = log.read_text(encoding="utf-8").splitlines()
    tests = "python -m scripts.run_tests"
    (quick,) = (n for n, line in enumerate(message) if line.startswith(f"{tests} -m not slow"))
    slow = [n for n, line in enumerate(message) if line.startswith(f"{tests} -m slow")]
    got = [n for n, line in enumerate(message) if line.startswith("apt-get")]
    assert message.index("warex demo") < quick < min(got) < max(got) < min(slow)
    assert {"libnss3-tools", "golang-go"} <= set(message[got[-1]].split())
