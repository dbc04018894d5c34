"""One rollout: an agent that runs in an episode, until its reward is known.

A session has the methods that loop-owning trainers call: OpenEnv's ``ResourceSession`` and
``LoopOwningSession``, and so TRL's ``HarnessRolloutWorker``.
"""

import logging
import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from traceback import walk_tb
from typing import Any, SupportsFloat

from warex.api import Injection, Interception
from warex.errors import InputError, TrialVoid, WarexError
from warex.llm.tokens import CallTokens
from warex.plugins import describe
from warex.rl.curriculum import EpisodePlan, ScoredEpisode
from warex.rl.trace_entries import trace_entries
from warex.rl.training_trace import TrainingTrace, training_trace
from warex.sandbox.cleanup.process_tree import ProcessTree
from warex.sandbox.cleanup.reaper import Reaper
from warex.sandbox.command import CompletedCommand, run_command
from warex.traces import LlmCall, Trace
from warex.traces.blobs import BlobStore
from warex.traces.paths import AGENT_LOG, BLOBS

_LOG = logging.getLogger("warex")


@dataclass(frozen=True, slots=True)
class Episode:
    """A running or finished episode, as a task sees it."""

    id: str
    prompt: object
    seed: int
    plan: EpisodePlan
    folder: Path
    """Of its trace, the agent's log and whatever the agent leaves."""
    proxy_url: str
    """The proxy of this episode alone."""
    environment: Mapping[str, str] = field(repr=False, default_factory=dict)
    """Variables by which a program uses that proxy."""
    browser_arguments: tuple[str, ...] = ()
    """Of a Chromium that uses that proxy."""
    exit_code: int | None = None
    """The command's; None before its end, or if it has none."""


@dataclass(frozen=True, slots=True)
class EpisodeTask:
    """What one episode needs, made for each."""

    score: Callable[[Episode], float | None]
    """Returns the reward once the agent has ended; with None, or an exception, there is none."""
    command: Callable[[Episode], Sequence[str]] | Sequence[str] = ()
    """The agent's; empty if the caller acts through the episode's proxy itself."""
    maps: tuple[str, ...] = ()
    """As ``--map``: the origins of this episode's own site."""
    sites: tuple[str, ...] = ()
    """Origins of the task's sites."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Further environment variables of the command."""


type StartTask = Callable[[object, int], AbstractContextManager[EpisodeTask]]
"""Starts what an episode of a prompt and seed needs, such as a fresh instance of its site."""


@dataclass(frozen=True, slots=True)
class Verification:
    """How an episode ended, with the fields of OpenEnv's ``VerifyResult``."""

    env_reward: float | None
    """None if the episode cannot be scored, which is not 0; ``artifacts["reason"]`` says why."""
    done: bool = True
    metrics: dict[str, Any] = field(default_factory=dict)
    """``faulted`` (0 or 1), ``intensity``, and ``delivered`` and ``missed`` faults."""
    artifacts: dict[str, Any] = field(default_factory=dict)
    """``reason`` (why there is no reward, or None) and ``trace``, the folder."""


type WhyUntrainable = Callable[[Trace, Mapping[str, CallTokens]], str | None]
"""Returns why an episode's trace and its tokens, by their exchange, teach nothing, or None."""


class Session:
    """A running episode with its agent."""

    def __init__(
        self,
        episode: Episode,
        task: EpisodeTask,
        trial: Interception,
        *,
        timeout_s: float,
        reaper: Reaper,
        why_untrainable: WhyUntrainable | None,
        end_trial: ExitStack,
        end_task: ExitStack,
        on_scored: Callable[[ScoredEpisode], None],
        on_closed: Callable[[str], None],
    ) -> None:
        self.episode = episode
        self.trial = trial
        """The episode's proxy, ledger and trace."""
        self._task = task
        self._timeout_s = timeout_s
        self._reaper = reaper
        """Ends the agent if this process is killed."""
        self._why_untrainable = why_untrainable
        self._end_trial = end_trial
        self._end_task = end_task
        self._on_scored = on_scored
        self._on_closed = on_closed
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._result: Verification | None = None
        self._completed: CompletedCommand | None = None
        self._error: WarexError | None = None
        self._agent: threading.Thread | None = None
        self._is_closed = False

    def start(self) -> None:
        """Start the agent's command, if the task has one.

        Raises InputError if it is not a list of texts.
        """
        command = self._task.command
        arguments = command(self.episode) if callable(command) else command
        is_list = isinstance(arguments, Sequence) and not isinstance(arguments, str)
        if not is_list or not all(isinstance(it, str) for it in arguments):
            raise InputError(
                f"the command {arguments!r} of the episode {self.episode.id!a} is not a list of"
                " texts, such as ['python', 'agent.py']"
            )
        if not arguments:
            return
        environment = {**self.episode.environment, **self._task.variables}
        process_trees: list[ProcessTree] = []

        def watch(process_tree: ProcessTree) -> None:
            process_trees.append(process_tree)
            self._reaper.watch_processes(process_tree)

        def run() -> None:
            try:
                self._completed = run_command(
                    arguments,
                    environment,
                    self.episode.folder / AGENT_LOG,
                    timeout_s=self._timeout_s,
                    stop=self._stop.is_set,
                    watch=watch,
                )
            except WarexError as error:
                self._error = error
            except (TypeError, ValueError) as error:  # Of an argument or a variable.
                self._error = InputError(
                    f"the agent of the episode {self.episode.id!a} cannot be started: {error}"
                )
            finally:
                for process_tree in process_trees:
                    self._reaper.forget_processes(process_tree)

        name = f"agent of {self.episode.id}"
        self._agent = threading.Thread(target=run, name=name, daemon=True)
        self._agent.start()

    # ---- what trainers call

    def initial_messages(self) -> list[dict[str, Any]]:
        """Return the prompt as messages."""
        prompt = self.episode.prompt
        if isinstance(prompt, Sequence) and not isinstance(prompt, str):
            return [dict(message) for message in prompt if isinstance(message, Mapping)]
        return [{"role": "user", "content": str(prompt)}]

    def list_tools(self) -> list[Any]:
        """Return nothing: the agent has its own tools."""
        return []

    def call_tool(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Raise InputError: the agent owns its loop and its tools."""
        raise InputError(
            f"the session has no tool {name!r}: its agent calls its own; wait for it with"
            " wait_for_completion()"
        )

    def wait_for_completion(self, timeout_s: float | None = None) -> int:
        """Wait for the agent's end and return its exit code.

        Raises TimeoutError if it does not end within the session's time limit, or ``timeout_s`` if
        that is sooner; MachineError if it could not be started. What it did is kept.
        """
        if self._agent is None:
            return 0
        self._agent.join(timeout_s)
        if self._agent.is_alive():
            self._end_agent()
        if self._error is not None:
            raise self._error
        completed = self._completed
        if completed is None or completed.code is None:
            raise TimeoutError(self._unended())
        return completed.code

    def fetch_proxy_trace(self) -> list[dict[str, Any]]:
        """Return the agent's calls to its model, in order, as OpenEnv's ``TraceEntry``.

        An entry has ``request``, ``response`` and ``metadata``, and where they were captured the
        answer's tokens. Raises TraceError if the trace is damaged.
        """
        calls = self.trial.llm_calls
        return trace_entries(calls, self._tokens(calls))

    def fetch_training_trace(self) -> TrainingTrace:
        """Return the calls of which token ids were captured, as OpenEnv's ``TrainingTrace``.

        Raises TraceError if the trace is damaged.
        """
        calls = self.trial.llm_calls
        return training_trace(calls, self._tokens(calls))

    def verify(
        self, transcript: Sequence[Mapping[str, Any]] = (), final_state: object = None
    ) -> Verification:
        """End the episode and return its reward; a second call returns the same.

        The reward is None, with the reason, if the trial is void, a planned fault did not reach the
        agent, the agent did not end, or tokens that were to be captured were not.
        """
        with self._lock:
            if self._result is None:
                self._result = self._verified()
                reward = self._result.env_reward
                self._on_scored(ScoredEpisode(self.episode.plan, reward))
            return self._result

    def close(self) -> None:
        """End the agent and the episode and release its site; a second call does nothing.

        A task that fails as it ends is logged: it disturbs no other episode.
        """
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            try:
                self._end_agent()
                self._end_episode()
            finally:
                try:
                    self._end_task.close()
                except Exception as error:  # noqa: BLE001 - the task's code
                    _LOG.warning(
                        "the task of the episode %a failed as it ended: %s",
                        self.episode.id,
                        _describe(error, self._task.score),
                    )
                finally:
                    self._on_closed(self.episode.id)

    # ---- how it is scored

    def _verified(self) -> Verification:
        was_running = self._agent is not None and self._agent.is_alive()
        self._end_agent()
        void = self._end_episode()
        reward, reason, ledger = None, void, list[Injection]()
        untrainable: str | None = None
        try:
            ledger = self.trial.ledger
            if self._why_untrainable is not None:
                trace = self.trial.trace
                tokens = self._tokens(trace.events(LlmCall))
                untrainable = self._why_untrainable(trace, tokens)
        except WarexError as error:
            reason = reason or f"its trace cannot be read: {error}"
        missed = [it for it in ledger if it.state != "delivered"]
        completed = self._completed
        if reason is None and self._error is not None:
            reason = str(self._error)
        if reason is None and (was_running or (completed is not None and completed.code is None)):
            reason = self._unended()
        if reason is None and missed:
            first = missed[0]
            why = f": {first.reason}" if first.reason else ""
            reason = (
                f"the fault {first.kind} of the rule {first.rule!r} was planned for {first.url} and"
                f" not delivered{why}"
            )
        reason = reason or untrainable
        if reason is None:
            code = None if completed is None else completed.code
            try:
                score = self._task.score(replace(self.episode, exit_code=code))
            except Exception as error:  # noqa: BLE001 - the task's code
                reason = f"the task's check failed: {_describe(error, self._task.score)}"
            else:
                reward = _finite(score)
                if reward is None:
                    reason = f"the task's check returned {score!r}, which is not a finite number"
        return Verification(
            reward,
            metrics={
                "faulted": int(self.episode.plan.is_faulted),
                "intensity": self.episode.plan.intensity,
                "delivered": len(ledger) - len(missed),
                "missed": len(missed),
            },
            artifacts={"reason": reason, "trace": str(self.trial.out)},
        )

    def _tokens(self, calls: Iterable[LlmCall]) -> dict[str, CallTokens]:
        """Return the captured tokens of calls, by their exchange."""
        store = BlobStore(self.trial.out / BLOBS)
        blobs = {it.exchange: it.tokens_blob for it in calls if it.tokens_blob}
        return {exchange: CallTokens.read(store.get(blob)) for exchange, blob in blobs.items()}

    def _unended(self) -> str:
        return f"the agent of the episode {self.episode.id!a} did not end within its time"

    def _end_agent(self) -> None:
        self._stop.set()
        if self._agent is not None:
            self._agent.join()

    def _end_episode(self) -> str | None:
        """End the episode; return why it is void, or None."""
        try:
            self._end_trial.close()
        except TrialVoid as error:
            return str(error)
        return None if self.trial.broken is None else f"the trial is void: {self.trial.broken}"


def _describe(error: Exception, check: object) -> str:
    """Return an error of a task's code: the sentence of WAREX's own, else with file and line.

    They are those of the innermost call in the module of the task's check.
    """
    if isinstance(error, WarexError):
        return str(error)
    module = getattr(check, "__module__", None)
    for frame, line in reversed(list(walk_tb(error.__traceback__))):
        if frame.f_globals.get("__name__") == module:
            where = f"{Path(frame.f_code.co_filename).name}, line {line}"
            return f"{describe(error)} ({where})"
    return describe(error)


def _finite(score: object) -> float | None:
    """Return a score as a number; None if it is not a finite one."""
    try:
        number = float(score) if isinstance(score, SupportsFloat) else math.nan
    except (TypeError, ValueError, OverflowError):  # An array, or an integer beyond all floats.
        return None
    return number if math.isfinite(number) else None
