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
        (("metrics", "show", "premat"), ["premature_stop"]),
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
def test_arguments_that_may_be_files_complete_to_files(words: tuple[str, ...]) -> None:
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


def source(shell: str) -> str:
    """Return what a shell is told to read, as docs/how-to/install.md says."""
    return subprocess.run(
        [WAREX],
        env={**os.environ, "_WAREX_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def in_shell(shell: str, script: str) -> str:
    """Run a script in a shell without its user's settings; return what it prints."""
    options = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}
    program = shutil.which(shell)
    assert program, f"{shell} is not installed: make programs"
    return subprocess.run(
        [program, *options[shell], "-c", script],
        env={**os.environ, "PATH": f"{WAREX.parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


BASH = """
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_warex_completion warex; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
compdef() { }
_describe() { print -l -- "${(@)completions_with_descriptions}" }
compadd() { print -l -- "${(@)completions}" }
"""
"""Zsh's own parts of completion, which need a terminal, replaced by their output."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "name"),
    [("warex run pap", "paper"), ("warex exec --scenario llm/ov", "llm/overloaded")],
)
def test_each_shell_completes_a_name(words: str, name: str) -> None:
    assert in_shell("bash", source("bash") + BASH.format(words=words)) == f"{name}\n"
    asked = f"words=({words}); CURRENT=${{#words}}; _warex_completion\n"
    assert in_shell("zsh", ZSH + source("zsh") + asked) == f"{name}\n"
    assert in_shell("fish", f"{source('fish')}\ncomplete -C '{words}'") == f"{name}\n"


@pytest.mark.slow
def test_each_shell_completes_a_command_with_its_meaning() -> None:
    asked = "words=(warex sce); CURRENT=2; _warex_completion\n"

    assert in_shell("bash", source("bash") + BASH.format(words="warex sce")) == "scenarios\n"
    assert in_shell("zsh", ZSH + source("zsh") + asked).startswith("scenarios:List the")
    assert in_shell("fish", f"{source('fish')}\ncomplete -C 'warex sce'").startswith(
        "scenarios\tList the"
    )


def test_names_of_scenarios_are_completed_without_reading_one() -> None:
    program = (
        "import sys; from warex.scenarios.presets import preset_names; assert preset_names();"
        " print([name for name in ('pydantic', 'yaml', 'asyncio') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n"
