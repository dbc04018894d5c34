"""What `warex exec` expects of a command, and the verdict."""

import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from warex.cli.intercept.scoring import Scoring
from warex.errors import InputError, TrialVoid
from warex.traffic import TrafficOptions

NONE: dict[str, Any] = {
    **dict.fromkeys(("expect_text", "expect_regex", "expect_url", "expect_check", "reset", "out")),
    "traffic": TrafficOptions(),
}


def taken(**options: Any) -> Scoring:
    return Scoring.from_options({**NONE, **options})


def test_scoring_options_are_not_the_proxys() -> None:
    options = {**NONE, "expect_text": "a"}

    Scoring.from_options(options)

    assert options == {"out": None, "traffic": TrafficOptions()}


def test_where_nothing_is_expected_there_is_no_verdict() -> None:
    assert taken().verdict(0, None) is None
    assert taken(reset="true").verdict(0, None) is None


def test_what_a_command_prints_is_passed_on_and_looked_at(
    capfd: pytest.CaptureFixture[str],
) -> None:
    judging = taken(expect_text="order placed", expect_regex="^No 7$")
    with judging.capturing_output():
        pid = os.posix_spawn("/bin/echo", ["echo", "Order  placed\nNo 7"], dict(os.environ))
    os.waitpid(pid, 0)
    judging.finish()

    verdict = judging.verdict(0, None)

    assert capfd.readouterr().out == "Order  placed\nNo 7\n"
    assert verdict is not None
    assert verdict.solved


@pytest.mark.parametrize("stream", [1, 2])
def test_the_expected_text_may_be_in_either_stream(
    capfd: pytest.CaptureFixture[str], stream: int
) -> None:
    judging = taken(expect_text="order placed")
    says = ["sh", "-c", f"echo order placed >&{stream}"]
    with judging.capturing_output():
        pid = os.posix_spawn("/bin/sh", says, dict(os.environ))
    os.waitpid(pid, 0)
    judging.finish()

    verdict = judging.verdict(0, None)

    # Each goes on to where it would have gone.
    assert capfd.readouterr()[stream - 1] == "order placed\n"
    assert verdict is not None
    assert verdict.solved
    assert "in the answer (all that the command printed)" in verdict.reasons[0]


def test_a_command_that_fails_has_not_done_its_task_and_is_not_checked() -> None:
    judging = taken(expect_check=f"{shlex.quote(sys.executable)} -c 'import sys; sys.exit(9)'")

    verdict = judging.verdict(3, None)

    assert verdict is not None
    assert (verdict.solved, verdict.reasons) == (False, ("the command ended with code 3",))
    with pytest.raises(TrialVoid, match="the check cannot tell: it ended with code 9"):
        judging.verdict(0, None)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"expect_url": "*"}, "--expect-url is read from the trace; give --out, too"),
        (
            {"expect_url": "*", "out": Path("x"), "traffic": TrafficOptions(record="concerned")},
            "--expect-url needs all traffic read",
        ),
        ({"expect_url": "/thanks", "out": Path("x")}, "`/thanks` matches no URL"),
        ({"expect_regex": "("}, "--expect-regex: "),
        ({"expect_text": ""}, "--expect: "),
        (
            {"expect_check": "no-such-program-of-warex"},
            "--check: 'no-such-program-of-warex' is not a prog",
        ),
        ({"reset": ""}, "--reset: the command is empty"),
        ({"reset": "http://s.example/reset"}, "--reset: 'http://s.example/reset' is a URL"),
    ],
)
def test_an_impossible_value_is_reported_with_its_option(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as caught:
        taken(**fields)

    assert says in str(caught.value)
