"""An environment is made once, goes on where it was cut off, and says what is wrong."""

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from warex.benchmarks.installation import virtualenv
from warex.benchmarks.installation.recipe import Install, Recipe
from warex.benchmarks.installation.virtualenv import MARKER, find_virtualenv, interpreter_in, set_up
from warex.errors import InputError, MachineError

pytestmark = pytest.mark.wire

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
CHECK = "import json; print('noise'); print(json.dumps({'versions': {'toy': '1'}}))"
BARE = Recipe(pythons=(OWN,), installs=(), check=CHECK)


def wheel(folder: Path, name: str = "toy") -> Path:
    """Write the smallest wheel there can be."""
    path = folder / f"{name}-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", "HERE = True\n")
        archive.writestr(
            f"{name}-1.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"
        )
        archive.writestr(f"{name}-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{name}-1.dist-info/RECORD", "")
    return path


def test_a_made_environment_works_and_is_recognised(tmp_path: Path) -> None:
    recipe = replace(
        BARE,
        installs=(Install((str(wheel(tmp_path)),)),),
        folders=("data/deep",),
        files={"notes/a.txt": "hello"},
        check="import os, json, toy; print(json.dumps({'toy': toy.HERE, 'd': os.environ['D']}))",
        variables={"D": "{dir}/data"},
    )
    reports: list[str] = []

    made = set_up("toy", recipe, tmp_path / "env", report=reports.append)

    assert made.check_output == {"toy": True, "d": str(tmp_path / "env/data")}
    assert (made.site_packages / "toy.py").is_file()
    assert (tmp_path / "env/data/deep").is_dir()
    assert (tmp_path / "env/notes/a.txt").read_text() == "hello"
    assert len(reports) == 5
    reports.clear()
    again = set_up("toy", recipe, tmp_path / "env", report=reports.append)
    assert (again, reports) == (made, [])
    assert find_virtualenv("toy", recipe, tmp_path / "env")[:2] == (made, "ok")


def test_a_package_put_there_by_hand_is_tried_with_the_rest(tmp_path: Path) -> None:
    check = (
        "import json; import importlib.util as u; print(json.dumps({'x': bool(u.find_spec('x'))}))"
    )
    made = set_up("toy", replace(BARE, check=check), tmp_path / "env")
    (made.site_packages / "x.py").touch()
    later = (tmp_path / "env" / MARKER).stat().st_mtime + 10
    os.utime(made.site_packages, (later, later))

    assert made.check_output == {"x": False}
    assert set_up("toy", replace(BARE, check=check), tmp_path / "env").check_output == {"x": True}


def test_a_set_up_that_failed_goes_on_where_it_was(tmp_path: Path) -> None:
    late = tmp_path / "late-1-py3-none-any.whl"
    recipe = replace(BARE, installs=(Install((str(wheel(tmp_path)),)), Install((str(late),))))
    with pytest.raises(MachineError) as caught:
        set_up("toy", recipe, tmp_path / "env")
    assert "installing its packages failed with code" in str(caught.value)
    assert "late-1-py3" in str(caught.value)
    assert find_virtualenv("toy", recipe, tmp_path / "env")[1] == "broken"

    wheel(tmp_path, "late")
    reports: list[str] = []
    made = set_up("toy", recipe, tmp_path / "env", report=reports.append)

    assert (made.site_packages / "late.py").is_file()
    assert [words.split()[0] for words in reports] == ["install", "write", "try"]


@pytest.mark.slow
def test_without_uv_pip_does_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(virtualenv, "_uv", lambda: None)
    recipe = replace(BARE, installs=(Install((str(wheel(tmp_path)),), dependencies=False),))

    made = set_up("toy", recipe, tmp_path / "env")

    subprocess.run([made.python, "-c", "import toy"], check=True)


def test_another_recipe_makes_it_again(tmp_path: Path) -> None:
    first = replace(BARE, installs=(Install((str(wheel(tmp_path)),)),))
    set_up("toy", first, tmp_path / "env")
    _, state, sentence = find_virtualenv("toy", BARE, tmp_path / "env")
    assert state == "broken"
    assert "was made by another recipe" in sentence
    assert f"`warex benchmarks setup toy --dir {tmp_path / 'env'}`" in sentence

    made = set_up("toy", BARE, tmp_path / "env")

    assert not (made.site_packages / "toy.py").exists()


def test_what_does_not_exist_names_the_command_that_makes_it(tmp_path: Path) -> None:
    for folder, says in ((None, "benchmark.dir is not given"), (tmp_path, "holds no environment")):
        made, state, sentence = find_virtualenv("toy", BARE, folder)
        assert (made, state) == (None, "missing")
        assert says in sentence
        assert "warex benchmarks setup toy" in sentence


def test_a_folder_of_other_files_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="holds something that is not an environment"):
        set_up("toy", BARE, tmp_path, again=True)
    set_up("toy", BARE, tmp_path / "env")
    with pytest.raises(InputError, match="holds the environment of 'toy'"):
        set_up("other", BARE, tmp_path / "env")


@pytest.mark.parametrize(
    ("python", "says"),
    [
        ("no-such-python", "is not a Python that can be run"),
        (sys.executable, f"is Python {OWN}; it needs 2.7"),
    ],
)
def test_a_python_that_cannot_serve_is_refused(tmp_path: Path, python: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        set_up("toy", replace(BARE, pythons=("2.7",)), tmp_path / "env", python=python)


def test_a_machine_without_the_python_is_reported_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(virtualenv, "_uv", lambda: None)
    with pytest.raises(MachineError, match=r"no Python 3\.0 or 3\.1 on this machine: install one"):
        set_up("toy", replace(BARE, pythons=("3.0", "3.1")), tmp_path / "env")


@pytest.mark.parametrize("check", ["print('no json')", "pass"])
def test_a_check_that_says_nothing_is_a_fault_of_the_machines(tmp_path: Path, check: str) -> None:
    with pytest.raises(MachineError, match="printed no JSON object"):
        set_up("toy", replace(BARE, check=check), tmp_path / "env")
    marker = json.loads((tmp_path / "env" / MARKER).read_text())
    assert "said" not in marker
    assert interpreter_in(tmp_path / "env").exists()
