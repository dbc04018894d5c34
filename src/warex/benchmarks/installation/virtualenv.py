"""Makes a benchmark's own environment by its recipe: interpreter, packages, files.

A marker file records the recipe's digest and the finished steps, so that an interrupted setup can
continue.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from warex.benchmarks.installation.recipe import Install, Recipe
from warex.errors import InputError, MachineError
from warex.traces import write_error

MARKER = "warex-setup.json"
"""File in the benchmark's folder with the recipe's digest and the finished steps."""

_VENV = "venv"
_PINS = "pins.txt"
_BYTECODE = "bytecode"
_LAST_LINES = 6
_SECONDS = 3600.0

type State = Literal["ok", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Virtualenv:
    """A benchmark's own environment."""

    folder: Path
    python: Path
    check_output: Mapping[str, Any]
    """The JSON that the recipe's check printed: versions, tasks."""

    @property
    def site_packages(self) -> Path:
        """The folder of its packages."""
        return next(self.python.parents[1].glob("lib/python3*/site-packages"))

    @property
    def variables(self) -> dict[str, str]:
        """Variables that keep compiled bytecode here, and out of checkouts."""
        return {"PYTHONPYCACHEPREFIX": str(self.folder / _BYTECODE)}


def interpreter_in(folder: Path) -> Path:
    """Return the interpreter of a benchmark's folder."""
    return folder / _VENV / "bin" / "python"


def find_virtualenv(
    name: str, recipe: Recipe, folder: Path | None
) -> tuple[Virtualenv | None, State, str]:
    """Return the environment in a folder, its state, and a sentence with any remedy."""
    where = "DIR" if folder is None else str(folder)
    remedy = f"run `warex benchmarks setup {name} --dir {where}`"
    if folder is None:
        return None, "missing", f"benchmark.dir is not given: {remedy}, and name that folder there"
    marker = _marker(folder)
    if not marker or not interpreter_in(folder).exists():
        return None, "missing", f"{folder} holds no environment of {name}'s: {remedy}"
    if marker.get("benchmark") != name:
        other = marker.get("benchmark")
        return None, "broken", f"{folder} holds the environment of {other!r}, not of {name!r}"
    if marker.get("recipe") != recipe.digest:
        return None, "broken", f"{folder} was made by another recipe than {name}'s now: {remedy}"
    if "said" not in marker:
        return None, "broken", f"{folder} was not made to its end: {remedy}"
    details = marker["said"]
    made = Virtualenv(folder, interpreter_in(folder), details)
    versions = details.get("versions", {})
    shown = ", ".join(f"{package} {version}" for package, version in versions.items())
    return made, "ok", f"{folder}: {shown or 'made'}"


def set_up(
    name: str,
    recipe: Recipe,
    folder: Path,
    *,
    python: str | None = None,
    report: Callable[[str], None] = lambda step: None,
    again: bool = False,
) -> Virtualenv:
    """Make the environment, or finish an interrupted one; call ``report`` before each step.

    ``again`` starts over. Raises MachineError if the machine lacks something or a step fails,
    InputError if the folder holds something else.
    """
    folder = folder.absolute()
    made = None if again else find_virtualenv(name, recipe, folder)[0]
    if made is not None and not _has_changed(made):
        return made
    try:
        marker = _begun(name, recipe, folder, again)
        for step, words, do in _steps(recipe, folder, python):
            if step in marker["done"]:
                continue
            report(words)
            do()
            marker["done"].append(step)
            _write(folder, marker)
        report("try it" if made is None else "try it, since its packages have changed")
        marker["said"] = _checked(recipe, folder)
        _write(folder, marker)
    except OSError as error:
        raise write_error(folder, error) from None
    return Virtualenv(folder, interpreter_in(folder), marker["said"])


def _has_changed(made: Virtualenv) -> bool:
    """Return whether packages were installed since it was made."""
    return made.site_packages.stat().st_mtime > (made.folder / MARKER).stat().st_mtime


def _begun(name: str, recipe: Recipe, folder: Path, again: bool) -> dict[str, Any]:
    """Return the marker of a setup to continue, or make the folder and a new marker."""
    marker = _marker(folder)
    if not marker and folder.is_dir() and any(folder.iterdir()):
        raise InputError(
            f"--dir {folder} holds something that is not an environment of WAREX's; choose an"
            " empty or new folder"
        )
    if marker and marker.get("benchmark") != name:
        raise InputError(
            f"--dir {folder} holds the environment of {marker.get('benchmark')!r}; name another"
            f" folder for {name!r}"
        )
    if not marker or again or marker.get("recipe") != recipe.digest:
        shutil.rmtree(folder / _VENV, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        marker = {"benchmark": name, "recipe": recipe.digest, "done": []}
        _write(folder, marker)
    return marker


def _steps(
    recipe: Recipe, folder: Path, python: str | None
) -> Iterator[tuple[str, str, Callable[[], object]]]:
    """Yield each step: its name in the marker, its description, and its function."""
    uv = _uv()
    yield "venv", f"make {folder / _VENV}", partial(_make_venv, recipe, folder, python, uv)
    yield "pins", "write the pins", partial((folder / _PINS).write_text, recipe.pins_text, "utf-8")
    for number, install in enumerate(recipe.installs):
        few = ", ".join(install.requirements[:3]) + (" …" if install.requirements[3:] else "")
        yield f"install {number}", f"install {few}", partial(_install, install, folder, uv)
    yield "files", "write files", partial(_write_files, recipe, folder)


def _make_venv(recipe: Recipe, folder: Path, python: str | None, uv: str | None) -> None:
    shutil.rmtree(folder / _VENV, ignore_errors=True)
    interpreter = _interpreter(recipe, python)
    if uv is not None:
        # uv can download an interpreter.
        wanted = interpreter or recipe.pythons[0]
        _do([uv, "venv", "-q", "--python", wanted, str(folder / _VENV)], "the venv")
    elif interpreter is not None:
        _do([interpreter, "-m", "venv", str(folder / _VENV)], "the venv")
    else:
        raise MachineError(
            f"there is no Python {' or '.join(recipe.pythons)} on this machine: install one and"
            " name it by --python, or install uv, which brings one along"
        )


def _interpreter(recipe: Recipe, named: str | None) -> str | None:
    """Return an interpreter that the recipe supports, or None."""
    if named is not None:
        path = shutil.which(named)
        version = _version(path) if path else None
        if version is None:
            raise InputError(f"--python {named!r} is not a Python that can be run")
        if version not in recipe.pythons:
            raise InputError(
                f"--python {named!r} is Python {version}; it needs {' or '.join(recipe.pythons)}"
            )
        return path
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    for version in recipe.pythons:
        if version == own:
            return sys.executable
        for candidate in (shutil.which(f"python{version}"), *_of_pyenv(version)):
            if candidate is not None and _version(candidate) == version:
                return candidate
    return None


def _of_pyenv(version: str) -> list[str]:
    """Return pyenv's interpreters of a version, the newest first."""
    root = os.environ.get("PYENV_ROOT") or Path(os.environ.get("HOME", "/nonexistent"), ".pyenv")
    interpreters = Path(root).glob(f"versions/{version}.*/bin/python")
    return sorted(map(str, interpreters), reverse=True)


def _version(python: str) -> str | None:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run(
            [python, "-c", code], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _uv() -> str | None:
    beside = Path(sys.executable).with_name("uv")
    return shutil.which("uv") or (str(beside) if beside.is_file() else None)


def _install(install: Install, folder: Path, uv: str | None) -> None:
    python = str(interpreter_in(folder))
    command = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]
    command += ["-q", "--constraint", str(folder / _PINS)]
    command += [] if uv else ["--disable-pip-version-check", "--no-input"]
    command += [] if install.dependencies else ["--no-deps"]
    _do([*command, *install.requirements], "installing its packages")


def _write_files(recipe: Recipe, folder: Path) -> None:
    for name in recipe.folders:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, text in recipe.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def _checked(recipe: Recipe, folder: Path) -> dict[str, Any]:
    """Run the recipe's check in the new environment and return its JSON."""
    variables = {
        name: value.replace("{dir}", str(folder)) for name, value in recipe.variables.items()
    }
    python = str(interpreter_in(folder))
    printed = _do([python, "-c", recipe.check], "trying it", {**os.environ, **variables})
    try:
        report = json.loads(printed.strip().splitlines()[-1])
    except (ValueError, IndexError):
        report = None
    if not isinstance(report, dict):
        raise MachineError(
            f"trying what was installed in {folder} printed no JSON object but {printed[-200:]!r}"
        )
    return report


def _do(command: Sequence[str], what: str, environment: Mapping[str, str] | None = None) -> str:
    """Run one step; raise MachineError with its last lines if it fails."""
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except OSError as error:
        raise MachineError(f"{what}: {command[0]} cannot be started: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise MachineError(f"{what} took longer than {_SECONDS / 60:g} minutes") from None
    if done.returncode != 0:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        last = "\n  ".join(lines[-_LAST_LINES:])
        raise MachineError(
            f"{what} failed with code {done.returncode}; run the same command again to go on, once"
            f" this is fixed:\n  {last}"
        )
    return done.stdout


def _marker(folder: Path) -> dict[str, Any]:
    try:
        marker = json.loads((folder / MARKER).read_bytes())
    except (OSError, ValueError):
        return {}
    return marker if isinstance(marker, dict) else {}


def _write(folder: Path, marker: Mapping[str, Any]) -> None:
    path = folder / MARKER
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(marker, indent=1), "utf-8")
    fresh.replace(path)
