"""The files that other programs read: those of GitHub, GitLab, pre-commit and citation managers."""

import os
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from scripts.check_forms import FORMS, mistakes

ROOT = Path(__file__).parents[1]


def parsed(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_every_form_is_checked_against_its_schema(tmp_path: Path) -> None:
    for name in (name for names in FORMS.values() for name in names):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    citation = tmp_path / "CITATION.cff"
    citation.write_text(citation.read_text().replace("license:", "licence:"))

    broken = mistakes(tmp_path)

    assert list(broken) == ["vendor.citation-file-format"]
    assert "'licence' was unexpected" in broken["vendor.citation-file-format"]
    existing = {str(path.relative_to(ROOT)) for path in (ROOT / ".github").rglob("*.yml")}
    assert existing <= {name for names in FORMS.values() for name in names}


def test_the_citation_names_the_version() -> None:
    version = re.search(r'VERSION = "(.+)"', (ROOT / "src/warex/version.py").read_text())
    testbed = tomllib.loads((ROOT / "testbed/pyproject.toml").read_text())["project"]["version"]

    assert version
    assert parsed("CITATION.cff")["version"] == version[1] == testbed


def test_the_continuous_integration_runs_each_python_that_is_said_to_work() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    message = {
        line.rpartition(" ")[2]
        for line in project["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", line)
    }
    matrix = parsed(".github/workflows/ci.yml")["jobs"]["quick"]["strategy"]["matrix"]

    assert set(matrix["python"]) == message
    assert project["requires-python"] == f">={min(message)}"


def test_workflows_and_hooks_start_what_is_there() -> None:
    lines = [
        line.strip()
        for name in FORMS["vendor.github-workflows"]
        for job in parsed(name)["jobs"].values()
        for step in job["steps"]
        for line in step.get("run", "").splitlines()
    ]
    targets = {word for line in lines if line.startswith("make ") for word in line.split()[1:]}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    hooks = [hook for repo in parsed(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]

    assert {"setup", "check", "test", "release-check"} <= targets
    assert [it for it in targets if not re.search(rf"^{it}:", makefile, re.MULTILINE)] == []
    for hook in hooks:
        program, *_ = shlex.split(hook["entry"])
        assert (ROOT / program).exists(), hook["id"]
        re.compile(hook.get("files", ""))


RECORDER = """#!/bin/sh
printf '%s\\n' "$@" >>"$LOG"
exit ${CODE:-0}
"""


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """A folder with a ``warex`` that writes each word it is given into ``log``."""
    program = tmp_path / "warex" / "bin" / "warex"
    program.parent.mkdir(parents=True)
    program.write_text(RECORDER)
    program.chmod(0o755)
    return tmp_path


def step(runner: Path, name: str, inputs: dict[str, str], code: int = 0) -> list[str]:
    """Run a step of the Action as its runner would; return the words that warex was given."""
    action = parsed("action.yml")
    values = {key: field["default"] for key, field in action["inputs"].items()} | inputs
    (results,) = (it for it in action["runs"]["steps"] if it.get("name") == name)
    variables = {
        key: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda named: values[named[1]], text)
        for key, text in results["env"].items()
    }
    log = runner / "log"
    log.write_text("")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", results["run"]],
        env={
            "PATH": os.environ["PATH"],
            "RUNNER_TEMP": str(runner),
            "LOG": str(log),
            "CODE": str(code),
            **variables,
        },
        cwd=runner,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return log.read_text().splitlines()


def test_the_action_passes_its_inputs_and_exit_code_unchanged(runner: Path) -> None:
    hostile = "recovery>=0.8 and $(touch broken).success>=`id`"

    plain = step(runner, "Run the campaign", {})
    asked = step(
        runner,
        "Run the campaign",
        {"fail-under": hostile, "arguments": "--option\ncheckout=a b\n", "campaign": "a b.toml"},
        code=1,
    )

    assert plain == ["run", "campaign.toml", "--out", "runs/warex"]
    assert asked == [
        *("run", "a b.toml", "--out", "runs/warex", "--option", "checkout=a b"),
        *("--fail-under", hostile, "--on-unclear", "pass"),
    ]
    assert not (runner / "broken").exists()


def test_the_action_compares_with_an_existing_run(runner: Path) -> None:
    assert step(runner, "Compare with the earlier run", {"compare-with": "before"}) == []

    (runner / "before").mkdir()
    (runner / "before" / "manifest.json").touch()
    assert step(runner, "Compare with the earlier run", {"compare-with": "before"}) == [
        *("compare", "before", "runs/warex", "--fail-if-worse", "--on-unclear", "pass")
    ]


def test_the_template_for_gitlab_names_what_it_lacks_before_it_installs() -> None:
    first, *rest = parsed("examples/ci/gitlab-ci.yml")["warex"]["before_script"]
    done = subprocess.run(["sh", "-c", first], capture_output=True, text=True, env={}, check=False)

    assert done.returncode
    assert "WAREX_SOURCE: is not set; it is the address of the repository" in done.stderr
    assert any("$WAREX_SOURCE#subdirectory=testbed" in line for line in rest)
