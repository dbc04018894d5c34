"""`warex proxy`, from what it says at its start to its end."""

import json
import signal
import stat
import subprocess
import urllib.request
from pathlib import Path

import pytest

from tests.cli.process import WAREX, finished, proxy
from warex.traces import TrialBegan, TrialEnded, Unscored, read_outcome, read_trace


@pytest.mark.wire
@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM]
)
def test_a_signal_ends_the_proxy_which_names_its_trace(tmp_path: Path, number: int) -> None:
    with proxy("--out", tmp_path / "out") as running:
        running.process.send_signal(number)
        code, err = running.end()

    out = tmp_path / "out"
    counts = "0 exchanges, 0 LLM calls, 0 faults delivered, 0 missed"
    assert (code, err) == (
        0,
        f"warex: trace in {out}: {counts}; look at it: warex inspect {out}\n",
    )
    (ended,) = read_trace(out / "events.jsonl").events(TrialEnded)
    assert ended.exchanges == 0
    assert read_outcome(out) == Unscored()


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.wire
def test_one_json_line_gives_the_addresses_once_the_proxy_serves(tmp_path: Path) -> None:
    ready, out = tmp_path / "ready.json", tmp_path / "out"
    ready.write_text("of a proxy that was killed")
    with subprocess.Popen(
        [*WAREX, "proxy", "--port", "0", "--out", out, "--ready-file", ready, "--json"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        heading = json.loads(process.stdout.readline())
        assert json.loads(ready.read_text()) == heading
        assert stat.S_IMODE(ready.stat().st_mode) == 0o600
        request = urllib.request.Request(
            f"{heading['control']}/status",
            headers={"Authorization": f"Bearer {heading['token']}"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200
        process.terminate()

    assert process.returncode == 0
    assert heading["address"].startswith("http://127.0.0.1:")
    assert (heading["trace"], heading["scenario"]) == (str(out), None)
    assert not ready.exists()


def test_a_ready_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    done = finished("proxy", "--port", "0", "--ready-file", tmp_path)

    assert done.returncode == 2
    assert f"--ready-file {tmp_path} cannot be replaced" in done.stderr
