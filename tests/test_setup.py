"""scripts/setup.sh finds what the machine has, and says what it lacks."""

import json
import os
import platform
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.bare_machine import bare_path

ROOT = Path(__file__).parents[1]
RECIPE = ("pyproject.toml", "testbed/pyproject.toml", "constraints.txt")
TOOLS = "/usr/bin:/bin"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder ``bin`` for a PATH, and an empty home whose name has a space in it."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "my home").mkdir()
    return tmp_path


def program(path: Path, says: str, *, status: int = 0) -> Path:
    """Write a program that prints ``says``, whatever it is asked, and ends with ``status``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
    path.chmod(0o755)
    return path


def old_pythons(machine: Path) -> None:
    """Hide the machine's own interpreters behind ones that are too old."""
    for name in ("python3.13", "python3.12", "python3.14", "python3", "python"):
        program(machine / "bin" / name, "", status=1)
    program(machine / "bin" / "uv", "", status=2)
    program(machine / "bin" / "pyenv", "", status=1)


def setup(machine: Path, argument: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(ROOT / "scripts" / "setup.sh"), argument],
        env={"PATH": f"{machine / 'bin'}:{TOOLS}", "HOME": str(machine / "my home"), **environment},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_a_python_on_path_is_taken_in_the_order_of_preference(machine: Path) -> None:
    old_pythons(machine)
    program(machine / "bin" / "python3.14", "3.14.1 pip /p/3.14")
    program(machine / "bin" / "python3.12", "3.12.4 pip /p/3.12")

    assert setup(machine, "--find-python").stdout == "3.12.4 pip /p/3.12\n"


def test_a_shim_without_a_python_is_skipped(machine: Path) -> None:
    old_pythons(machine)
    root = machine / "py env"
    program(root / "versions" / "3.11.7" / "bin" / "python", "", status=1)
    program(root / "versions" / "3.12.1" / "bin" / "python", "3.12.1 pip /p/3.12")
    program(root / "versions" / "3.13.0" / "bin" / "python", "3.13.0 pip /p/3.13")

    assert setup(machine, "--find-python", PYENV_ROOT=str(root)).stdout == "3.13.0 pip /p/3.13\n"


def test_pyenv_in_the_home_folder_needs_no_variable(machine: Path) -> None:
    old_pythons(machine)
    python = machine / "my home" / ".pyenv" / "versions" / "3.12.9" / "bin" / "python"
    program(python, "3.12.9 pip /p/3.12")

    assert setup(machine, "--find-python").stdout == "3.12.9 pip /p/3.12\n"


def test_a_python_that_uv_knows_is_found(machine: Path) -> None:
    old_pythons(machine)
    python = program(machine / "uv's own" / "python", "3.13.5 pip /p/uv")
    (machine / "bin" / "uv").write_text(f'#!/bin/sh\necho "{python}"\n')

    assert setup(machine, "--find-python").stdout == "3.13.5 pip /p/uv\n"


def test_a_python_with_pip_goes_before_one_without(machine: Path) -> None:
    old_pythons(machine)
    program(machine / "bin" / "python3.13", "3.13.0 no-pip /p/bare")
    bare = setup(machine, "--find-python").stdout
    program(machine / "bin" / "python3", "3.12.3 pip /p/whole")

    assert bare == "3.13.0 no-pip /p/bare\n"
    assert setup(machine, "--find-python").stdout == "3.12.3 pip /p/whole\n"


def test_a_named_python_is_used_or_refused_with_the_reason(machine: Path) -> None:
    program(machine / "bin" / "python3.13", "3.13.0 pip /p/3.13")
    named = program(machine / "my home" / "python", "3.12.4 pip /p/3.12")
    old = program(machine / "my home" / "old", "", status=1)

    assert setup(machine, "--find-python", WAREX_PYTHON=str(named)).stdout == "3.12.4 pip /p/3.12\n"
    done = setup(machine, "--find-python", WAREX_PYTHON=str(old))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"WAREX_PYTHON is {old}, which is not a Python 3.12 or newer")


def test_a_machine_without_a_new_python_gets_a_remedy(machine: Path) -> None:
    old_pythons(machine)
    done = setup(machine, "--find-python")

    assert done.returncode == 3
    assert "needs Python 3.12 or newer" in done.stderr
    assert "pyenv install" in done.stderr


def test_the_named_chromium_goes_first(machine: Path) -> None:
    program(machine / "bin" / "chromium", "Chromium 1")
    named = program(machine / "my home" / "chrome", "Chromium 2")

    assert setup(machine, "--find-chromium").stdout == f"{machine / 'bin' / 'chromium'}\n"
    completed = setup(machine, "--find-chromium", WAREX_CHROMIUM=str(named))
    assert completed.stdout == f"{named}\n"


def test_a_named_chromium_that_does_not_run_is_not_replaced(machine: Path) -> None:
    program(machine / "bin" / "chromium", "Chromium 1")
    done = setup(machine, "--find-chromium", WAREX_CHROMIUM="/nowhere/chrome")

    assert done.returncode == 3
    assert done.stdout == ""
    assert "WAREX_CHROMIUM is /nowhere/chrome" in done.stderr


def test_a_stub_that_asks_for_a_package_is_not_chromium(machine: Path) -> None:
    full = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    for name in (*full, "chromium-headless-shell", "chrome-headless-shell"):
        program(machine / "bin" / name, "Please install the snap", status=1)
    # Each version lies in a folder of its own.
    own = machine / "browsers" / "chromium-1200" / "chrome-linux64" / "chrome"
    program(own, "Chromium 3")

    lacking = setup(machine, "--find-chromium")
    completed = setup(
        machine, "--find-chromium", PLAYWRIGHT_BROWSERS_PATH=str(machine / "browsers")
    )

    assert lacking.returncode == 3
    assert completed.stdout == f"{own}\n"


def test_the_script_is_understood_by_any_posix_shell() -> None:
    script = (ROOT / "scripts" / "setup.sh").read_text(encoding="utf-8")

    assert script.startswith("#!/bin/sh\n")
    assert "[[" not in script
    assert os.access(ROOT / "scripts" / "setup.sh", os.X_OK)


def test_missing_programs_of_slow_tests_are_named_before_the_start(
    machine: Path,
) -> None:
    program(machine / "bin" / "id", "1000")
    done = subprocess.run(
        ["sh", str(ROOT / "scripts" / "programs.sh")],
        env={"PATH": f"{machine / 'bin'}:{bare_path(machine / 'bare')}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (3, "")
    (sentence,) = done.stderr.splitlines()
    assert "install chromium-driver curl default-jdk-headless" in sentence


PYTHON = """#!/bin/sh
case "$*" in
    "-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
    *" pip install "*) echo "no index answers"; exit @PIP@ ;;
    -c*) echo "3.13.0 pip $0" ;;
esac
"""


def clone_of(machine: Path) -> Path:
    """Return a folder with what the script reads of the repository, and a Chromium on PATH."""
    clone = machine / "clone"
    (clone / "scripts").mkdir(parents=True)
    (clone / "testbed").mkdir()
    for file in ("scripts/setup.sh", *RECIPE):
        (clone / file).write_bytes((ROOT / file).read_bytes())
    for name in ("chromium", "chromium-headless-shell"):
        program(machine / "bin" / name, "Chromium 1")
    return clone


def ready(machine: Path, clone: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(clone / "scripts" / "setup.sh")],
        env={"PATH": f"{machine / 'bin'}:{TOOLS}", "HOME": str(machine / "my home"), **environment},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="names the build for Linux")
def test_a_machine_with_old_pythons_only_gets_one_of_its_own_from_uv(machine: Path) -> None:
    clone = clone_of(machine)
    old_pythons(machine)
    # uv itself, with a mirror in a folder; the Python in the mirror is only the name of one.
    uv = Path(sys.executable).with_name("uv")
    (machine / "bin" / "uv").unlink()
    (machine / "bin" / "uv").symlink_to(uv)
    # Under its own name it stands in for the one that makes .venv, too.
    python = machine / "python"
    library = python / "lib" / "python3.13"
    library.mkdir(parents=True)
    of_machine = f"_sysconfigdata__linux_{platform.machine()}-linux-gnu.py"
    comment = "# system configuration generated and used by the sysconfig module"
    (library / of_machine).write_text(f"{comment}\nbuild_time_vars = {{}}\n")
    program(python / "bin" / "python3.13", "")
    (python / "bin" / "python3.13").write_text(PYTHON.replace("@PIP@", "0"))
    (python / "bin" / "python3").symlink_to("python3.13")
    build = f"cpython-3.13.9-linux-{platform.machine()}-gnu"
    archive = machine / "mirror" / "1" / "cpython.tar.gz"
    archive.parent.mkdir(parents=True)
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(python, "python")
    builds = {
        build: {
            "name": "cpython",
            "arch": {"family": platform.machine(), "variant": None},
            **{"os": "linux", "libc": "gnu", "major": 3, "minor": 13, "patch": 9, "build": "1"},
            **{"prerelease": "", "sha256": None, "variant": None},
            "url": "https://github.com/astral-sh/python-build-standalone/releases/download"
            "/1/cpython.tar.gz",
        }
    }
    (machine / "builds.json").write_text(json.dumps(builds))

    done = ready(
        machine,
        clone,
        UV_PYTHON_INSTALL_MIRROR=(machine / "mirror").as_uri(),
        UV_PYTHON_DOWNLOADS_JSON_URL=str(machine / "builds.json"),
        UV_PYTHON_PREFERENCE="only-managed",
    )

    assert done.returncode == 0, done.stdout + done.stderr
    brought, made, *_ = done.stdout.splitlines()
    step = "Getting Python 3.13 into .python with uv, since there is no 3.12 or newer"
    assert re.fullmatch(rf"{re.escape(step)} \.\.\. \d+ s", brought), done.stderr
    assert f" at {clone}/.python/cpython-3.13" in made


def test_a_failed_download_of_python_ends_with_a_remedy(machine: Path) -> None:
    clone = clone_of(machine)
    old_pythons(machine)
    program(machine / "bin" / "uv", "no mirror answers", status=2)

    done = ready(machine, clone)

    assert done.returncode == 3
    assert re.search(r"^Getting Python .* failed after \d+ s$", done.stdout, re.MULTILINE)
    first, last = done.stderr.splitlines()
    assert first == "no mirror answers"
    assert last.startswith("WAREX needs Python 3.12 or newer")


@pytest.mark.parametrize("code", [0, 1])
def test_each_setup_step_is_a_timed_line_and_a_failure_shows_its_output(
    machine: Path, code: int
) -> None:
    clone = clone_of(machine)
    old_pythons(machine)
    python = machine / "bin" / "python3.13"
    python.write_text(PYTHON.replace("@PIP@", str(code)))

    done = ready(machine, clone)

    made, installed, *rest = done.stdout.splitlines()
    assert re.fullmatch(rf"Making \.venv with Python 3\.13\.0 at {python} \.\.\. \d+ s", made)
    assert installed.startswith("Installing WAREX and ")
    if code == 0:
        assert re.search(r"\.\.\. \d+ s$", installed)
        assert rest[-1].startswith("Ready: .venv, Chromium at ")
        assert done.stderr == ""
    else:
        assert re.search(r"\.\.\. failed after \d+ s$", installed)
        assert (rest, done.returncode) == ([], 3)
        first, second = done.stderr.splitlines()
        assert first == "no index answers"
        assert second.startswith("The packages could not be installed (see above).")
