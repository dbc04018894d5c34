"""Runs a campaign's attempts on a Ray cluster, each as a Ray task on a free node.

Results are written whole or not at all into the one run folder here: nodes need no shared disk, and
a run on Ray is resumed like any other. Attempts on a lost node are repeated under new numbers.
"""

import multiprocessing
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from warex.campaigns.ray.gateway import (
    LOCAL,
    AttemptLost,
    AttemptRequest,
    AttemptReturned,
    Connected,
    GatewayMessage,
    Unreachable,
)
from warex.campaigns.ray.node import AttemptResult, CampaignPayload, unpack_folder
from warex.campaigns.run.schedule import AttemptDone, PlannedAttempt, TrialQueue
from warex.campaigns.run.spending import Spending
from warex.clock import Clock
from warex.errors import MAX_DEATHS_IN_A_ROW, MachineError, ProcessDied, WarexError
from warex.files.private import make_private_dir
from warex.text.english import count_noun
from warex.traces import attempt_dir, shared_answers_dir, write_atomic, write_error

_POLL_S = 0.2
"""Seconds between two checks for attempts that can start."""
_END_SECONDS = 20.0
_START = "import sys; from warex.campaigns.ray.gateway import main; main(*sys.argv[1:])"


def run_on_ray(
    schedule: TrialQueue,
    work: CampaignPayload,
    run: Path,
    address: str,
    *,
    lanes: int | None,
    cache: Path | None,
    spent_in: Callable[[Path], Spending],
    report: Callable[[AttemptDone], None] = lambda done: None,
    notice: Callable[[str], None] = lambda sentence: None,
) -> None:
    """Run the attempts of a queue until it is finished.

    ``address`` is the cluster head's, or ``local``; ``lanes`` limits the concurrent trials below
    the cluster's CPUs; ``cache`` is the folder of the run's LLM cache.
    Raises MachineError if the cluster cannot be reached, is lost, or a node lacks something;
    CampaignStopped after repeated voids for one reason.
    """
    driver: Driver | None = None
    in_a_row = had = 0
    while True:
        with _gateway(address, lanes, work) as (pipe, process):
            if driver is None:
                driver = Driver(
                    schedule, run, address, lanes, cache, pipe, spent_in, report, notice
                )
            driver.pipe = pipe
            try:
                driver.drive()
                return
            except _ClusterLost as lost:
                death = _death(process)
                if death is None:
                    raise  # Ray itself ends its drivers when their cluster is lost.
                in_a_row, had = in_a_row + 1 if driver.returned == had else 1, driver.returned
                if in_a_row == MAX_DEATHS_IN_A_ROW:
                    raise MachineError(f"{death}, {in_a_row} times in a row; {lost}") from None
                driver.requeue_all(f"{death}; it is started again")


def _death(process: "subprocess.Popen[bytes]") -> ProcessDied | None:
    """Return how a signal ended the gateway, or None."""
    with suppress(subprocess.TimeoutExpired):
        code = process.wait(_END_SECONDS)
        # Ray turns SIGTERM into an exit code.
        code = -code if code == signal.SIGTERM else code
        if code < 0:
            return ProcessDied.with_code("the process that speaks with Ray", code)
    return None


class _ClusterLost(MachineError):
    """The gateway's connection was closed."""


@contextmanager
def _gateway(
    address: str, lanes: int | None, work: CampaignPayload
) -> "Iterator[tuple[Connection, subprocess.Popen[bytes]]]":
    ours, theirs = multiprocessing.Pipe()
    arguments = (str(theirs.fileno()), address, str(lanes or 0))
    # multiprocessing would run the caller's own script again. A new session, so that a Ctrl-C only
    # reaches the campaign, which then closes the pipe.
    with subprocess.Popen(
        [sys.executable, "-c", _START, *arguments],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        theirs.close()
        try:
            with suppress(BrokenPipeError):
                ours.send(work)
            yield ours, process
        finally:
            ours.close()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


@dataclass(slots=True)
class Driver:
    """Keeps a queue and a run folder in step with the gateway's messages."""

    schedule: TrialQueue
    run: Path
    address: str
    lanes: int | None
    cache: Path | None
    pipe: Connection
    spent_in: Callable[[Path], Spending]
    report: Callable[[AttemptDone], None]
    notice: Callable[[str], None]
    clock: Clock = field(default_factory=Clock)
    running: dict[int, PlannedAttempt] = field(default_factory=dict)
    asked: int = 0
    capacity: int = 0
    """Number of trials for which the cluster has CPUs."""
    reached: bool = False
    returned: int = 0

    def drive(self) -> None:
        """Send attempts and store their results until the queue is finished."""
        try:
            while not self.schedule.is_finished:
                self._ask()
                while self.pipe.poll(_POLL_S):
                    self._handle(self.pipe.recv())
                    self._ask()
        except (EOFError, ConnectionError):
            if not self.reached:
                raise _ClusterLost(f"no Ray cluster {self._described_address}") from None
            raise _ClusterLost(
                f"the Ray cluster at {self.address} is lost, with "
                f"{count_noun(len(self.running), 'trial')} under way; what"
                " had come back is kept: start Ray again and go on with --resume"
            ) from None

    def requeue_all(self, why: str) -> None:
        """Queue all running attempts again: their results are lost."""
        self.notice(f"{why}, and so are the attempts under way: {len(self.running)}")
        for turn in self.running.values():
            self.schedule.lost(turn)
        self.running.clear()
        self.capacity = 0

    def _ask(self) -> None:
        """Send attempts while the cluster has room."""
        while len(self.running) < min(self.capacity, self.lanes or self.capacity):
            turn = self.schedule.take(self.clock.now())
            if turn is None:
                return
            self.asked += 1
            # Recorded before it is sent: an attempt that cannot be sent is lost too.
            self.running[self.asked] = turn
            self.pipe.send(AttemptRequest(self.asked, turn.key, turn.attempt, self._answers(turn)))

    def _handle(self, message: GatewayMessage) -> None:
        match message:
            case Connected(trials_at_once=room):
                if not room:
                    self.notice(
                        f"the Ray cluster at {self.address} has no CPU left; waiting for nodes"
                    )
                self.reached, self.capacity = True, room
            case AttemptReturned(number=number, result=AttemptResult() as result):
                self.returned += 1
                self._take_in(self.running.pop(number), result)
            case AttemptReturned(result=WarexError() as error):
                raise error
            case AttemptLost(number=number, why=why):
                turn = self.running.pop(number)
                self.notice(f"an attempt at {turn.key.task} is lost and made again: {why}")
                self.schedule.lost(turn)
            case Unreachable(why=why):
                raise MachineError(f"no Ray cluster {self._described_address}: {why}")

    @property
    def _described_address(self) -> str:
        local = self.address == LOCAL
        return "could be started here" if local else f"answers at {self.address}"

    def _take_in(self, turn: PlannedAttempt, result: AttemptResult) -> None:
        folder = attempt_dir(self.run, turn.key, turn.attempt)
        try:
            unpack_folder(result.files, folder)
            if self.cache is not None and result.answers:
                shared = shared_answers_dir(self.cache, turn.key)
                make_private_dir(shared)
                for name, content in result.answers.items():
                    if not (shared / name).exists():
                        write_atomic(shared / name, content)
        except OSError as error:
            raise write_error(folder, error) from None
        self.report(AttemptDone(turn.key, turn.attempt, result.outcome))
        self.schedule.done(turn, result.outcome, self.spent_in(folder))

    def _answers(self, turn: PlannedAttempt) -> dict[str, bytes]:
        shared = shared_answers_dir(self.cache, turn.key) if self.cache is not None else None
        if shared is None or not shared.is_dir():
            return {}
        return {path.name: path.read_bytes() for path in shared.iterdir()}
