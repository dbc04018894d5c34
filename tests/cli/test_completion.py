"""A shell completes commands, options and the names of what there is."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from warex.cli import cli

WAREX = Path(sys.executable).with_name("warex")


def completed(*words: str) -> list[tuple[str, str]]:
    """Return the type and value of all that fits the last word."""
    *before, incomplete = words
    shell = ShellComplete(cli, {}, "warex", "_WAREX_COMPLETE")
    return [(it.type, it.value) for it in shell.get_completions(before, incomplete)]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("sce",), ["scenarios"]),
        (("exec", "--scenario", "paper/s"), ["paper/server-error"]),
        (("proxy", "--scenario", "slow"), ["slow/scripts"]),
        (("proxy", "--defence", "ref"), ["refresh"]),
        (("scenarios", "show", "connection/d"), ["connection/dns"]),
        (("run", "pa"), ["paper"]),
        (("run", "paper", "--benchmark", "webarena-"), ["webarena-infinity"]),
        (("init", "--from", "pa"), ["paper"]),
        (("init", "--benchmark", "tes"), ["testbed"]),
        (("doctor", "--benchmark", "rea"), ["real"]),
        (("benchmarks", "setup", "rea"), ["real"]),
        (("faults", "show", "http"), ["http_error"]),
        (("defences", "show", "ref"), ["refresh"]),
    ],
)
def test_names_are_completed(words: tuple[str, ...], names: list[str]) -> None:
    assert completed(*words) == [("plain", name) for name in names]


@pytest.mark.parametrize(
    "words",
    [
        ("exec", "--scenario", "./mine"),
        ("scenarios", "check", "mine.y"),
        ("run", "mine"),
        ("compare", "runs/"),
        ("exec", "pyth"),
    ],
)
def test_where_a_file_may_stand_files_are_completed_too(words: tuple[str, ...]) -> None:
    assert completed(*words) == [("file", words[-1])]


def test_a_shell_asks_by_a_variable() -> None:
    asked = {"COMP_WORDS": "warex exec --scenario paper/n", "COMP_CWORD": "3"}
    done = subprocess.run(
        [sys.executable, "-m", "warex.cli"],
        env={**os.environ, **asked, "_WAREX_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "plain,paper/network-error\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_understands_what_it_is_given(shell: str) -> None:
    given = subprocess.run(
        [WAREX],
        env={**os.environ, "_WAREX_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "warex" in given
    if shell == "bash":
        typed = f"""{given}
        COMP_WORDS=(warex run pap); COMP_CWORD=2
        _warex_completion {WAREX}; printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(
            [shutil.which("bash") or "bash", "-c", typed],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "paper\n"
