"""The trial around a process."""

import os
import subprocess
import sys

import pytest

from warex.errors import InputError
from warex.sandbox.stdio.surroundings import environments_around, surroundings


def test_without_a_marker_there_is_no_surrounding_trial() -> None:
    # A proxy of the user's own is none of WAREX's.
    assert surroundings(iter([{"HTTP_PROXY": "http://proxy.test:3128"}, {"PATH": "/bin"}])) is None


def test_the_nearest_ancestor_that_a_trial_has_started_decides() -> None:
    inner = {"WAREX_COMMAND": "1", "HTTP_PROXY": "http://127.0.0.1:81"}
    outer = {"WAREX_COMMAND": "2", "HTTP_PROXY": "http://127.0.0.1:82"}
    around = surroundings(iter([{"PATH": "/bin"}, inner, outer]))
    assert around is not None
    assert around.proxy is not None
    assert around.proxy.port == 81


def test_a_marked_command_without_a_proxy_is_in_a_namespace() -> None:
    around = surroundings(iter([{}, {"WAREX_COMMAND": "1"}]))
    assert around is not None
    assert around.proxy is None


def test_what_the_client_took_away_of_the_trials_variables_is_given_back() -> None:
    theirs = {"WAREX_COMMAND": "1", "HTTP_PROXY": "http://127.0.0.1:81", "NODE_OPTIONS": "--x"}
    around = surroundings(iter([{"NODE_OPTIONS": "--own"}, {**theirs, "OPENAI_API_KEY": "secret"}]))
    assert around is not None
    assert around.variables == {"WAREX_COMMAND": "1", "HTTP_PROXY": "http://127.0.0.1:81"}


def test_a_proxy_and_a_task_may_be_named() -> None:
    named = {"WAREX_PROXY": "http://one:x@127.0.0.1:8080"}
    around = surroundings(iter([{"WAREX_TASK": "two"}, named]))
    assert around is not None
    assert around.proxy is not None
    assert (around.proxy.username, around.task) == ("one", "two")


@pytest.mark.parametrize(
    "text", ["8080", "socks5://127.0.0.1:1", "http://", "http://[::1", "http://a:0"]
)
def test_an_invalid_proxy_is_a_sentence(text: str) -> None:
    with pytest.raises(InputError, match="WAREX_PROXY"):
        surroundings(iter([{"WAREX_PROXY": text}]))


@pytest.mark.wire
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_environments_of_ancestors_are_read() -> None:
    program = (
        "from warex.sandbox.stdio.surroundings import environments_around as found;"
        " print(next(it['MARK'] for it in found() if 'MARK' in it))"
    )
    code = (
        "import subprocess, sys;"
        f" subprocess.run([sys.executable, '-c', {program!r}], env={{'PATH': '/bin'}})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "MARK": "theirs"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "theirs", done.stderr
    assert next(environments_around()) == dict(os.environ)
