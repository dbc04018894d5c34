"""The import contracts of pyproject.toml hold, and would notice if they did not."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
# Each breaks one rule of docs/architecture.md; a contract that lets one through is worth nothing.
FORBIDDEN = (
    ("faults", "traces"),
    ("traces", "faults"),
    ("effects", "faults"),
    ("faults", "scenarios"),
    ("scenarios", "proxy"),
    ("proxy", "trials"),
    ("trials", "campaigns"),
    ("campaigns", "analysis"),
    ("analysis", "scenarios"),
    ("report", "campaigns"),
    ("analysis", "report"),
    ("llm", "traces"),
    ("agents", "llm"),
    ("seeds", "llm"),
    ("campaigns", "cli"),
    ("api", "cli"),
)


def lint(config: Path, *sources: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter in a process of its own: it puts the packages it reads on ``sys.path``."""
    program = (
        "import sys; sys.path[:0] = sys.argv[2:];"
        "from importlinter.cli import lint_imports;"
        "sys.exit(lint_imports(config_filename=sys.argv[1], no_cache=True))"
    )
    return subprocess.run(
        [sys.executable, "-c", program, str(config), *map(str, sources)],
        cwd=sources[0],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_imports_point_downwards_only() -> None:
    done = lint(ROOT / "pyproject.toml", ROOT / "src", ROOT / "testbed" / "src")

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_an_import_that_points_upwards_is_caught(tmp_path: Path) -> None:
    config = copy_of_the_contracts(tmp_path)
    package = tmp_path / "warex"
    package.mkdir()
    ground = contracts()[0]["layers"][-1].split(" : ")
    for name in ("__init__", *ground):
        (package / f"{name}.py").touch()
    for each in {name for pair in FORBIDDEN for name in pair} - set(ground):
        (package / each).mkdir()
        (package / each / "__init__.py").touch()
    for importer, imported in FORBIDDEN:
        folder = package / importer
        file = folder / f"sees_{imported}.py" if folder.is_dir() else folder.with_suffix(".py")
        file.write_text(f"import warex.{imported}\n")
    (package / "report" / "sees_mitmproxy.py").write_text("import mitmproxy\n")
    testbed = tmp_path / "warex_testbed"
    testbed.mkdir()
    for name in ("__init__", "tasks", "sites"):
        (testbed / f"{name}.py").touch()
    (testbed / "sees_warex.py").write_text("import warex.errors\n")
    adapters = package / "benchmarks" / "adapters"
    adapters.mkdir(parents=True)
    for folder in (adapters.parent, adapters):
        (folder / "__init__.py").touch()
    (adapters / "sees_tasks.py").write_text("import warex_testbed.tasks\n")
    (adapters / "sees_sites.py").write_text("import warex_testbed.sites\n")
    for one, other in (("text", "tables"), ("tables", "text")):
        (package / "report" / one).mkdir()
        (package / "report" / one / "__init__.py").touch()
        (package / "report" / one / f"sees_{other}.py").write_text(f"import warex.report.{other}\n")
    (package / "trials" / "sees_tasks.py").write_text("import warex_testbed.tasks\n")
    http = package / "engine" / "http"
    http.mkdir(parents=True)
    for folder in (http.parent, http):
        (folder / "__init__.py").touch()
    (http / "sees_sockets.py").write_text("import socket\n")
    (package / "lane").mkdir()
    (package / "lane" / "__init__.py").touch()
    [of_lane] = [it for it in contracts() if it["id"] == "lane"]
    for name in of_lane["forbidden_modules"]:
        (package / "engine" / f"{name.rpartition('.')[2]}.py").touch()
    (package / "lane" / "sees_sockets.py").write_text("import warex.engine.ends\n")
    (package / "attic.py").touch()

    report = lint(config, tmp_path).stdout

    let_through = [
        pair
        for pair in FORBIDDEN
        if f"{pair[0]} is not allowed to import warex.{pair[1]}" not in report
    ]
    assert not let_through, report
    assert "warex.report.sees_mitmproxy -> mitmproxy" in report
    assert "warex.engine.http.sees_sockets -> socket" in report
    assert "warex.lane.sees_sockets -> warex.engine.ends" in report
    assert "warex_testbed.sees_warex -> warex.errors" in report
    assert "warex.benchmarks.adapters.sees_sites -> warex_testbed.sites" in report
    assert "warex.benchmarks.adapters.sees_tasks -> warex_testbed.tasks" not in report
    assert "warex.trials.sees_tasks -> warex_testbed.tasks" in report
    assert "No cycles are allowed in warex.report" in report
    assert "attic" in report, "a package that no contract places went unnoticed"


def test_the_architecture_page_lists_the_imports_as_they_are() -> None:
    command = [sys.executable, "scripts/packages.py"]
    table = subprocess.check_output(command, cwd=ROOT, text=True, timeout=60)

    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert table in page, "python scripts/packages.py --write rewrites it"


def contracts() -> list[dict[str, Any]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    result: list[dict[str, Any]] = project["tool"]["importlinter"]["contracts"]
    return result


def copy_of_the_contracts(folder: Path) -> Path:
    """Write the contracts alone, so that nothing else of pyproject.toml can matter."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    start = text.index("[tool.importlinter]")
    assert set(tomllib.loads(text[start:])["tool"]) == {"importlinter"}
    config = folder / "contracts.toml"
    config.write_text(text[start:], encoding="utf-8")
    return config
