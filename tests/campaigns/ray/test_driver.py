"""The campaign's side of a run on Ray; the cluster itself is in slow/test_ray.py."""

import multiprocessing
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from warex.campaigns.ray import driver
from warex.campaigns.ray.driver import Driver
from warex.campaigns.ray.gateway import (
    AttemptLost,
    AttemptRequest,
    AttemptReturned,
    Connected,
    GatewayMessage,
    Unreachable,
)
from warex.campaigns.ray.node import AttemptResult, pack_folder
from warex.campaigns.run.schedule import AttemptDone, TrialQueue
from warex.campaigns.run.spending import Spending
from warex.errors import MachineError
from warex.traces import Counted, Outcome, TrialKey, Void, find_trials, read_outcome, write_outcome

KEYS = [TrialKey("testbed", "patient", "clean", f"task-{n}", 1) for n in range(3)]
SOLVED = Counted(ending="answered", score=1, latency_s=1.0)

type Cluster = Callable[[AttemptRequest], GatewayMessage]


@pytest.fixture
def pipe() -> Iterator[tuple[Connection, Connection]]:
    ours, theirs = multiprocessing.Pipe()
    yield ours, theirs
    ours.close()
    theirs.close()


def drive(
    pipe: tuple[Connection, Connection],
    run: Path,
    cluster: Cluster,
    room: int = 2,
    lanes: int | None = None,
    keys: list[TrialKey] = KEYS,
) -> tuple[list[AttemptDone], list[str]]:
    """Run the keys on a cluster of one's own making; return what was reported and noticed."""
    ours, theirs = pipe
    done: list[AttemptDone] = []
    noticed: list[str] = []

    def serve() -> None:
        try:
            theirs.send(Connected(room))
            while True:
                theirs.send(cluster(theirs.recv()))
        except (EOFError, OSError):
            theirs.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        Driver(
            TrialQueue(keys),
            run,
            "ray.example:6379",
            lanes,
            None,
            ours,
            lambda folder: Spending(),
            done.append,
            noticed.append,
        ).drive()
    finally:
        ours.close()
        thread.join(10)
    return done, noticed


def attempted(scratch: Path, outcome: Outcome = SOLVED) -> AttemptResult:
    folder = scratch / "made"
    folder.mkdir(exist_ok=True)
    write_outcome(folder, outcome)
    return AttemptResult(outcome, pack_folder(folder), {})


def test_returned_attempts_are_in_the_run_folder(
    pipe: tuple[Connection, Connection], tmp_path: Path
) -> None:
    done, _ = drive(
        pipe, tmp_path / "run", lambda it: AttemptReturned(it.number, attempted(tmp_path))
    )

    result = list(find_trials(tmp_path / "run"))
    assert [key for key, _, _ in result] == KEYS
    assert {read_outcome(folder) for _, _, folder in result} == {SOLVED}
    assert {each.key for each in done} == set(KEYS)


def test_a_lost_attempt_is_made_again_under_a_new_number(
    pipe: tuple[Connection, Connection], tmp_path: Path
) -> None:
    def cluster(asked: AttemptRequest) -> GatewayMessage:
        if asked.key == KEYS[1] and asked.attempt == 1:
            return AttemptLost(asked.number, "the node died")
        return AttemptReturned(asked.number, attempted(tmp_path))

    _, noticed = drive(pipe, tmp_path / "run", cluster)

    assert [(key, number) for key, number, _ in find_trials(tmp_path / "run")] == [
        (KEYS[0], 1),
        (KEYS[1], 2),
        (KEYS[2], 1),
    ]
    assert noticed == ["an attempt at task-1 is lost and made again: the node died"]


def test_a_void_that_comes_back_is_tried_again(
    pipe: tuple[Connection, Connection], tmp_path: Path
) -> None:
    def cluster(asked: AttemptRequest) -> GatewayMessage:
        outcome = SOLVED if asked.attempt > 1 else Void(reason=f"no luck with {asked.key.task}")
        return AttemptReturned(asked.number, attempted(tmp_path, outcome))

    drive(pipe, tmp_path / "run", cluster, keys=KEYS[:1])

    numbers = [number for _, number, _ in find_trials(tmp_path / "run")]
    assert numbers == [1, 2]


def test_no_more_trials_are_requested_than_there_are_lanes(
    pipe: tuple[Connection, Connection], tmp_path: Path
) -> None:
    more_came: list[bool] = []

    def cluster(asked: AttemptRequest) -> GatewayMessage:
        more_came.append(pipe[1].poll(0.05))
        return AttemptReturned(asked.number, attempted(tmp_path))

    drive(pipe, tmp_path / "run", cluster, room=8, lanes=1)

    assert more_came == [False, False, False]


def test_a_cluster_that_is_lost_is_a_sentence_and_loses_nothing(
    pipe: tuple[Connection, Connection], tmp_path: Path
) -> None:
    def cluster(asked: AttemptRequest) -> GatewayMessage:
        if asked.number == 2:
            raise EOFError
        return AttemptReturned(asked.number, attempted(tmp_path))

    with pytest.raises(MachineError, match=r"ray\.example:6379 is lost.*--resume"):
        drive(pipe, tmp_path / "run", cluster, room=1)

    assert [key for key, _, _ in find_trials(tmp_path / "run")] == KEYS[:1]


def test_what_a_node_lacks_stops_the_campaign_with_its_sentence(
    pipe: tuple[Connection, Connection], tmp_path: Path
) -> None:
    with pytest.raises(MachineError, match="no Chromium"):
        drive(
            pipe,
            tmp_path / "run",
            lambda it: AttemptReturned(it.number, MachineError("no Chromium there")),
        )


def test_a_cluster_that_does_not_exist_is_named(
    pipe: tuple[Connection, Connection], tmp_path: Path
) -> None:
    with pytest.raises(MachineError, match=r"no Ray cluster answers at ray\.example:6379: refused"):
        drive(pipe, tmp_path / "run", lambda it: Unreachable("refused"))


GATEWAY = """
import os, sys
from multiprocessing.connection import Connection
from pathlib import Path
from warex.campaigns.ray.gateway import AttemptReturned, Connected
pipe = Connection(int(sys.argv[1]))
scratch, deaths, made = pipe.recv()
pipe.send(Connected(2))
while True:
    asked = pipe.recv()
    if (number := len(os.listdir(scratch))) < deaths:
        Path(scratch, str(number)).touch()
        os.kill(os.getpid(), 9)
    pipe.send(AttemptReturned(asked.number, made))
"""


@pytest.mark.wire
@pytest.mark.parametrize("deaths", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_killed_gateway_is_restarted_at_most_twice_in_a_row(
    deaths: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "_START", GATEWAY)
    (tmp_path / "deaths").mkdir()
    work: Any = (str(tmp_path / "deaths"), deaths, attempted(tmp_path))
    noticed: list[str] = []

    def run() -> None:
        driver.run_on_ray(
            TrialQueue(KEYS),
            work,
            tmp_path / "run",
            "ray.example:6379",
            lanes=None,
            cache=None,
            spent_in=lambda folder: Spending(),
            notice=noticed.append,
        )

    if deaths == 1:
        run()
        assert {key for key, _, _ in find_trials(tmp_path / "run")} == set(KEYS)
    else:
        with pytest.raises(MachineError, match=r"SIGKILL.*3 times in a row.*--resume"):
            run()
    assert len(noticed) == min(deaths, 2)
    assert "the process that speaks with Ray was ended by SIGKILL" in noticed[0]


def test_a_driver_ended_while_connecting_means_an_unreachable_cluster(
    pipe: tuple[Connection, Connection], tmp_path: Path
) -> None:
    ours, theirs = pipe
    theirs.close()
    with pytest.raises(MachineError, match=r"^no Ray cluster answers at ray\.example:6379$"):
        Driver(
            TrialQueue(KEYS),
            tmp_path / "run",
            "ray.example:6379",
            None,
            None,
            ours,
            lambda folder: Spending(),
            lambda done: None,
            lambda sentence: None,
        ).drive()
