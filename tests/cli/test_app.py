"""What holds for every command: help at once, exit codes, pipes, signals."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.cli.conftest import Warex
from tests.cli.process import WAREX, finished
from tests.cli.reference import commands
from warex.cli import cli

HEAVY = (
    *("mitmproxy", "pydantic", "playwright", "rich", "jinja2", "openai", "cryptography", "yaml"),
    *("numpy", "polars"),
)

NAMES = [name.removeprefix("warex").split() for name, _ in commands()]


@pytest.mark.parametrize("words", NAMES, ids=" ".join)
def test_help_is_there_for_every_command(warex: Warex, words: list[str]) -> None:
    result = warex(*words, "--help")

    assert result.code == 0
    assert result.out.startswith("Usage: warex")


def test_help_loads_nothing_that_takes_time() -> None:
    # What is loaded is the same on every machine; how long it takes is not.
    program = (
        "import sys; from warex.cli import cli\n"
        f"for words in {NAMES!r}: cli.main([*words, '--help'], standalone_mode=False)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stderr == "[]\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("faults", "--json"),
        ("faults", "show", "http_error", "--json"),
        ("scenarios", "--json"),
        ("scenarios", "show", "paper/server-error", "--json"),
        ("scenarios", "check", "paper/server-error", "--json"),
        ("benchmarks", "--json"),
        ("benchmarks", "show", "testbed", "--json"),
        ("schema", "scenario"),
        ("schema", "campaign"),
    ],
    ids=" ".join,
)
def test_what_a_program_reads_is_json(warex: Warex, arguments: tuple[str, ...]) -> None:
    result = warex(*arguments)

    assert result.code == 0
    assert json.loads(result.out)
    assert result.err == ""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["faults"], r"^http_error +\S"),
        (["faults", "show", "http_error"], r"^  retry_after +optional"),
        (["scenarios"], r"^paper/server-error +\S"),
        (["scenarios", "show", "paper/server-error"], r"^name: paper/server-error$"),
        (["scenarios", "check", "paper/server-error"], r"The browser meets:"),
        (["benchmarks"], r"^testbed +\S"),
        (["benchmarks", "show", "testbed"], r"^  recover +reload"),
        (["run", "demo", "--dry-run", "--limit", "1"], r"^80 trials$"),
        (["ca"], r"mitmproxy-ca-cert\.pem$"),
        (["ca", "--spki"], r"^[\w+/]{43}=$"),
        (["ca", "--pem"], r"^-----BEGIN CERTIFICATE-----$"),
        (["--version"], r"^warex, version \d"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_a_person_reads(
    warex: Warex,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    expected: str,
) -> None:
    monkeypatch.setenv("WAREX_CA_DIR", str(tmp_path / "ca"))
    result = warex(*arguments)

    assert result.code == 0
    assert re.search(expected, result.out, re.MULTILINE)


def test_the_bundle_trusts_our_ca_beside_the_others(
    warex: Warex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAREX_CA_DIR", str(tmp_path / "ca"))
    ours, bundle = warex("ca", "--pem").out, warex("ca", "--bundle").out

    assert bundle.endswith(ours)
    assert bundle.count("BEGIN CERTIFICATE") > 10


def test_a_closed_pipe_is_not_an_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)  # As `| head` does, only surely before the first write.
    try:
        done = subprocess.run(
            [*WAREX, "faults"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writer)

    assert (done.returncode, done.stderr) == (0, "")


def test_output_that_cannot_be_written_is_a_sentence() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*WAREX, "faults"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )

    assert done.returncode == 3
    assert done.stderr == "warex: No space left on device\n"


@pytest.mark.parametrize(
    "closed",
    [
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("<&-", ">&-", "2>&-")),
        "<&- >&- 2>&-",
    ],
)
def test_a_closed_stream_is_as_good_as_an_empty_one(closed: str) -> None:
    words = shlex.join((*WAREX, "scenarios"))
    done = subprocess.run(
        ["sh", "-c", f"{words} {closed}"], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert ("paper/server-error" in done.stdout) == (closed[:3] != ">&-" and " >" not in closed)


def test_a_terminal_that_cannot_show_a_character_ends_nothing() -> None:
    done = finished(
        "scenarios", "check", "paper/javascript", environment={"PYTHONIOENCODING": "ascii"}
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.browser
@pytest.mark.slow
def test_an_interrupted_campaign_keeps_its_trials_and_cleans_up(
    tmp_path: Path,
) -> None:
    process = subprocess.Popen(
        [*WAREX, "run", "demo", "--jobs", "1", "--out", "run"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        ended = (line for line in process.stderr if line.startswith(("solved ", "failed ")))
        assert next(ended, None), "no trial has ended"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()

    assert process.returncode == 130
    assert [line for line in err.splitlines() if line][-2:] == [
        "warex: run keeps 1 of 80 trials; go on with: warex run demo --jobs 1 --out run --resume",
        "interrupted",
    ]
    assert len(list((tmp_path / "run").rglob("outcome.json"))) == 1
    assert finished("report", "run", folder=tmp_path).returncode == 0


def test_the_help_of_each_command_ends_with_an_example_that_is_understood(warex: Warex) -> None:
    root = Path(__file__).parents[2]
    names = cli.list_commands(click.Context(cli))
    wrong = []
    for name in names:
        command = cli.get_command(click.Context(cli), name)
        assert command
        assert command.epilog
        _, example, more = command.epilog.splitlines()
        words = shlex.split(example.partition(" > ")[0].removeprefix("Example: warex "))
        known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        if isinstance(command, click.Group) and len(words) > 1:
            child = command.get_command(click.Context(command), words[1])
            assert child, example
            known |= {option for each in child.params for option in each.opts}
        own = words[: words.index("--")] if "--" in words else words
        if words[0] != name or {word for word in own if word.startswith("-")} - known:
            wrong.append(example)
        if not (root / more.removeprefix("More:    ")).is_file():
            wrong.append(more)
    listed = [line.split()[0] for line in warex("--help").out.splitlines() if line[:2] == "  "]

    assert wrong == []
    assert {*names} <= {*listed}


def test_a_list_has_a_short_line_for_each_entry(warex: Warex) -> None:
    for name in ("scenarios", "faults"):
        lines = warex(name).out.splitlines()
        assert len(lines) > 40
        assert [line for line in lines if len(line) > 120] == []


def test_a_word_that_is_nearly_right_is_not_followed_by_all_others(warex: Warex) -> None:
    for words in (("scenarios", "show", "papr/server-error"), ("reprt",), ("faults", "shw")):
        (line,) = [each for each in warex(*words).err.splitlines() if "did you mean" in each]
        assert len(line) < 200


@pytest.mark.parametrize(
    ("option", "guess"),
    [("--scenario", "."), ("--fail-udner", "; did you mean '--fail-under'?")],
)
def test_an_unknown_option_is_told_with_a_near_one_only(
    warex: Warex, option: str, guess: str
) -> None:
    assert warex("run", "demo", option, "x").err.endswith(f"No such option '{option}'{guess}\n")
