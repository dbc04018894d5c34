"""`warex proxy`, from what it says at its start to its end."""

import json
import signal
import urllib.request
from pathlib import Path

import pytest

from tests.cli.process import proxy
from warex.traces import TrialBegan, TrialEnded, Unscored, read_outcome, read_trace


@pytest.mark.wire
@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM]
)
def test_the_proxy_ends_cleanly_when_it_is_told_to(tmp_path: Path, number: int) -> None:
    with proxy("--out", tmp_path / "out") as running:
        running.process.send_signal(number)
        code, err = running.end()

    assert (code, err) == (0, "")
    (ended,) = read_trace(tmp_path / "out" / "events.jsonl").events(TrialEnded)
    assert ended.exchanges == 0
    assert read_outcome(tmp_path / "out") == Unscored()


@pytest.mark.wire
def test_the_control_api_is_where_it_says(tmp_path: Path) -> None:
    with proxy("--out", tmp_path / "out") as running:
        address, _, token = running.heading["control"].split()
        request = urllib.request.Request(
            f"{address}/status", headers={"Authorization": f"Bearer {token}"}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            status = json.loads(answer.read())
        running.interrupt()

    assert status["armed"] is True


@pytest.mark.slow
@pytest.mark.wire
def test_a_replay_brings_the_scenario_and_the_seed(tmp_path: Path) -> None:
    with proxy("--out", tmp_path / "one", "--scenario", "paper/server-error", "--seed", 7) as first:
        first.interrupt()
    with proxy("--out", tmp_path / "two", "--replay", tmp_path / "one") as second:
        assert second.heading["proxy"].endswith("(paper/server-error, seed 7)")
        second.interrupt()

    (began,) = read_trace(tmp_path / "two" / "events.jsonl").events(TrialBegan)
    assert began.seed == 7
    assert began.replay_of == str(tmp_path / "one")
