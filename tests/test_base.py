"""What `pip install warex` brings, without an extra: what it can do, and its size."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.analysis.output.test_comparison import run
from tests.cli.process import finished
from tests.ports import reserved_port

ROOT = Path(__file__).parents[1]
LARGEST = 115
"""MB without bytecode, of which there is as much as was run, and by how many Pythons."""
AGENT = """\
import urllib.error, urllib.request
try:
    urllib.request.urlopen(
        urllib.request.Request("https://shop.example/", headers={"Accept": "text/html"})
    )
except urllib.error.HTTPError as error:
    assert error.code == 500
"""


def base() -> frozenset[str]:
    """The distributions that are installed where no extra is asked for, WAREX left out."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names, asked = set[str](), list[str](project["dependencies"])
    while asked:
        required = Requirement(asked.pop())
        name = canonicalize_name(required.name)
        if name in names or (required.marker and not required.marker.evaluate({"extra": ""})):
            continue
        names.add(name)
        asked += distribution(name).requires or ()
    return frozenset(names)


@pytest.fixture(scope="module")
def without_extras(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which Python finds none of the packages that the base lacks."""
    existing = {*base(), "warex"}
    missing = sorted(
        module
        for module, distributions in packages_distributions().items()
        if not existing & {canonicalize_name(name) for name in distributions}
    )
    assert {"mitmproxy", "playwright", "polars", "ray", "openai", "scipy"} <= {*missing}
    folder = tmp_path_factory.mktemp("base")
    # Python runs this before all else, in the processes that WAREX starts, too.
    (folder / "sitecustomize.py").write_text(
        f"import sys\nsys.modules.update(dict.fromkeys({missing!r}))\n"
    )
    path = os.pathsep.join((str(folder), *filter(None, [os.environ.get("PYTHONPATH")])))
    return {"PYTHONPATH": path, "WAREX_CA_DIR": str(folder / "ca")}


def test_the_base_is_small() -> None:
    files = {path for path in (ROOT / "src").rglob("*.*") if path.is_file()}
    for name in base():
        files |= {Path(str(file.locate())) for file in distribution(name).files or ()}
    size = sum(it.stat().st_size for it in files if it.suffix != ".pyc" and it.is_file())

    assert size < LARGEST * 1e6


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two runs, and a campaign for a command."""
    run(tmp_path / "old", 2)
    run(tmp_path / "new", 12)
    command = {"command": [sys.executable, "-c", AGENT], "tasks": ["look"], "arm": "first_page"}
    campaign = {
        "name": "mine",
        # The fault is met before any site is asked.
        "benchmark": {
            "name": "command",
            "sites": {"https://shop.example": f"http://127.0.0.1:{reserved_port()}"},
            "options": command,
        },
        "agents": [{"name": "a", "model": "none"}],
        "conditions": [{"name": "error", "scenario": "paper/server-error"}],
    }
    (tmp_path / "mine.json").write_text(json.dumps(campaign))
    return tmp_path


@pytest.mark.slow
@pytest.mark.browser
def test_the_base_is_enough_for_a_command_a_campaign_and_what_reads_them(
    folder: Path, without_extras: dict[str, str]
) -> None:
    for words in (
        ("--version",),
        ("exec", "--", "true"),
        ("run", "mine.json", "--jobs", "1", "--out", "run"),
        ("report", "run"),
        ("report", "new", "--full", "--export", "figures"),
        ("compare", "old", "new"),
    ):
        done = finished(*words, environment=without_extras, folder=folder)
        assert done.returncode == 0, (words, done.stdout + done.stderr)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("export", "old", "--out", "data"), "--to sft, which writes Parquet, needs polars"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                (("demo", "--out", "demo"), "the benchmark testbed needs warex_testbed"),
                (("run", "paper", "--out", "paper", "--dry-run"), "the benchmark testbed needs "),
                (("run", "mine.json", "--ray"), "--ray needs ray"),
                (("serve", "--model", "m"), "a model on this machine needs "),
            )
        ),
    ],
    ids=lambda one: one[0] if isinstance(one, tuple) else "",
)
def test_what_an_extra_is_needed_for_says_so_before_anything_is_done(
    folder: Path, without_extras: dict[str, str], words: tuple[str, ...], says: str
) -> None:
    before = {*folder.iterdir()}

    done = finished(*words, environment=without_extras, folder=folder)

    assert done.returncode == 3, done.stdout + done.stderr
    assert f"warex: {says}" in done.stderr
    assert re.search(r", not installed here: .*pip install .*\[\w+\]", done.stderr)
    assert {*folder.iterdir()} == before


def test_frames_and_the_reference_agent_say_what_they_need(
    folder: Path, without_extras: dict[str, str]
) -> None:
    goal = ("--goal", "g", "--start-url", "http://a.example/", "--model", "m")
    for command, says in (
        (("-c", "import warex; warex.load_run('old')"), "warex.load_run needs polars"),
        (("-m", "warex.agents.reference", *goal), "the reference agent needs playwright"),
    ):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=folder,
            env={**os.environ, **without_extras},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode
        assert re.search(rf"{says}, not installed here: .*pip install .*\[\w+\]", done.stderr)
