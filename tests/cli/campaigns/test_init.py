import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Warex
from warex.analysis.run.load import load_run
from warex.benchmarks import BENCHMARKS, Benchmark
from warex.traces import Counted


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_is_written_can_be_run(warex: Warex, tmp_path: Path) -> None:
    result = warex("init", "mine")

    assert result.code == 0
    assert "warex run mine.toml" in result.out
    assert "30 trials" in warex("run", "mine.toml", "--dry-run").out


@pytest.mark.parametrize("kind", BENCHMARKS, ids=lambda kind: kind.name)
def test_what_is_written_can_be_run_or_says_as_run_does_why_not_yet(
    warex: Warex, kind: type[Benchmark], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    result = warex("init", "mine", "--benchmark", kind.name)
    ran = warex("run", "mine.toml", "--dry-run")

    assert result.code == 0
    _, mark, lacks = result.out.partition("\nIt cannot run yet. ")
    assert bool(mark) == (ran.code != 0) == (kind.name not in ("testbed", "command"))
    if mark:
        assert ran.err == f"warex: {lacks.splitlines()[0]}\n"
        # Nothing that would fail is proposed.
        assert result.out.endswith("\n  warex doctor mine.toml\n")
        assert "warex run" not in result.out


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("benchmark", ["testbed", "command"])
def test_what_is_written_runs_as_it_is(benchmark: str, tmp_path: Path) -> None:
    for words in (("init", "mine", "--benchmark", benchmark), ("run", "mine.toml", "--limit", "5")):
        done = subprocess.run(
            [sys.executable, "-m", "warex.cli", *words],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    trials = load_run(tmp_path / "runs" / "mine").trials
    assert {type(trial.outcome) for trial in trials} == {Counted}
    assert {trial.solved for trial in trials if trial.key.condition == "clean"} == {True}
    if benchmark == "command":
        assert {trial.recovered for trial in trials} == {None, True}


def test_your_own_agent_gets_instructions_and_no_example_files(
    warex: Warex, tmp_path: Path
) -> None:
    inputs = ("--from", "paper", "--benchmark", "command", "--agent", "true --goal '{task}'")
    result = warex("init", *inputs)

    file = tmp_path / "paper-command.toml"
    assert list(tmp_path.iterdir()) == [file]
    assert "It cannot run yet. paper-command.toml: benchmark.options.tasks holds no task." in (
        result.out
    )
    assert "warex run" not in result.out
    assert warex("run", "paper", *inputs[2:]).code == 2
    text = file.read_text()
    assert "# Write what the command is to do: " in text

    file.write_text(text.replace("\ntasks = []\n", '\ntasks = ["a", "b"]\n'))
    assert "14 trials" in warex("run", "paper-command.toml", "--dry-run").out


def test_your_own_model_keeps_the_example_agent_without_its_playbook(
    warex: Warex, tmp_path: Path
) -> None:
    warex("init", "--from", "paper", "--benchmark", "command", "--agent", "gpt-4o")

    assert (tmp_path / "my_agent.py").exists()
    assert (tmp_path / "site" / "index.html").exists()
    assert not (tmp_path / "playbook.yaml").exists()


def test_a_model_without_its_key_cannot_run_yet(
    warex: Warex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    result = warex("init", "--from", "paper", "--agent", "gpt-4o")

    assert "It cannot run yet. agent 'gpt-4o': its model 'gpt-4o' is behind an API" in result.out


def test_files_beside_the_campaign_that_are_there_already_stay(
    warex: Warex, tmp_path: Path
) -> None:
    (tmp_path / "my_agent.py").write_text("mine")

    result = warex("init", "--benchmark", "command")

    assert "my_agent.py is there already and stays as it is\n" in result.out
    assert (tmp_path / "my_agent.py").read_text() == "mine"
    assert (tmp_path / "site" / "index.html").exists()


def test_an_existing_file_is_never_overwritten(warex: Warex, tmp_path: Path) -> None:
    (tmp_path / "my-agent.toml").write_text("mine")

    result = warex("init")

    assert result.code == 2
    assert result.err == "warex: my-agent.toml is there already; give another name, or remove it\n"
    assert (tmp_path / "my-agent.toml").read_text() == "mine"


def test_a_name_may_be_the_files(warex: Warex, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()

    assert warex("init", "sub/mine.toml", "--benchmark", "command").code == 0

    assert 'name = "mine"' in (tmp_path / "sub/mine.toml").read_text()


def test_the_papers_conditions_are_written_for_a_benchmark(warex: Warex, tmp_path: Path) -> None:
    result = warex("init", "--from", "paper", "--benchmark", "step", "--agent", "gpt-4o")

    assert result.out.startswith("wrote paper-step.toml\n")
    assert "max_steps = 20" in (tmp_path / "paper-step.toml").read_text()


def test_a_dash_prints_the_file(warex: Warex, tmp_path: Path) -> None:
    printed = warex("init", "-", "--from", "paper", "--benchmark", "real").out
    warex("init", "mine", "--from", "paper", "--benchmark", "real")

    assert 'name = "paper-real"\n' in printed
    mine = printed.replace("paper-real", "mine").replace("campaign.toml", "mine.toml")
    assert (tmp_path / "mine.toml").read_text() == mine


def test_what_is_written_from_a_built_in_campaign_is_what_run_runs(warex: Warex) -> None:
    options = ("--benchmark", "testbed", "--agent", "p=scripted:patient")
    warex("init", "paper", "--from", "paper", *options)

    same = warex("run", "paper.toml", "--dry-run")

    assert same.code == 0
    assert same.out == warex("run", "paper", *options, "--dry-run").out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--benchmark", "tesbed"), "there is no benchmark 'tesbed'; did you mean 'testbed'?"),
        (("none/mine",), "none is not a folder; make it first"),
        (("--agent", "gpt-4o"), "--agent, --base-url, --dir, --option, --site"),
        (("--from", "papr"), "there is no built-in campaign 'papr'; did you mean 'paper'?"),
        (("--from", "../x"), "there is no built-in campaign '../x'"),
        (("--from", "paper", "--option", "x"), "--option 'x' is not a KEY=VALUE"),
    ],
)
def test_what_cannot_be_written_is_a_sentence(
    warex: Warex, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    result = warex("init", *arguments)

    assert result.code == 2
    assert result.err.startswith(f"warex: {says}")
    assert not list(tmp_path.glob("**/*.toml"))
