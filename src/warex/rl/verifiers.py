"""The testbed as a taskset of ``verifiers`` v1, with a harness that plays it on a flaky web.

Only who loads it needs ``verifiers``: nothing in WAREX imports this module but
``warex_testbed_v1``.
"""

import asyncio
import os
import shlex
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import verifiers.v1 as vf
from pydantic import AfterValidator, Field

from warex.benchmarks.adapters.testbed import TestbedBenchmark
from warex.benchmarks.command.options import PLACEHOLDER, fill_placeholders
from warex.errors import InputError, WarexError
from warex.rl.curriculum import EpisodePlan
from warex.rl.factory import SessionFactory
from warex.rl.session import Episode, EpisodeTask, Session
from warex.rl.testbed import MODEL_ORIGIN, TestbedAgent, TestbedTasks, reference_agent
from warex.scenarios.load import load_scenario
from warex.scenarios.mistakes import unknown_name

ID: Final = "warex-testbed-v1"
"""By which ``verifiers`` loads the taskset and its harness."""
OUTCOME: Final = "warex"
"""Where in a trace's ``info`` the outcome of its episode stands."""
_MOST_EPISODES: Final = 1024
"""That run at the same time in one process."""
_PLACEHOLDERS: Final = ("task", "task_id", "start_url", "model", "base_url", "proxy", "out")

type Condition = Literal["clean", "faulted", "mixed"]


class UnscorableEpisode(Exception):
    """An episode has no reward, which is not 0."""


def _loadable(scenario: str) -> str:
    try:
        load_scenario(scenario)
    except WarexError as error:
        raise ValueError(str(error)) from error
    return scenario


def _known(task: str) -> str:
    names = TestbedBenchmark().tasks()
    if task not in names:
        raise ValueError(unknown_name("the testbed has no task", task, names))
    return task


def _fillable(command: str) -> str:
    for _, name in PLACEHOLDER.findall(command):
        if name and name not in _PLACEHOLDERS:
            raise ValueError(unknown_name("there is no placeholder", name, _PLACEHOLDERS))
    shlex.split(command)
    return command


class TestbedData(vf.TaskData):
    """A task of the testbed and what its rollouts meet."""

    __test__ = False  # Not a test class.

    testbed_task: str
    condition: Condition
    scenario: str | None
    """Of the faulted rollouts; None if there are none."""
    intensity: float
    """Of the faulted rollouts; 1 if there are none."""
    seed: int


class TestbedTask(vf.Task[TestbedData]):
    """Rewards what the task's own check accepts."""

    __test__ = False  # Not a test class.

    @vf.reward
    async def solved(self, trace: vf.Trace) -> float:
        """Return the score of the task's own check.

        Raises UnscorableEpisode if the episode has none, so that ``trace.ok`` is false.
        """
        outcome = trace.info.get(OUTCOME)
        if outcome is None:
            raise UnscorableEpisode(
                "a task of the testbed is played by its own harness: leave"
                " --env.agent.harness.id out, and name the agent by --env.agent.harness.command"
            )
        if outcome["reward"] is None:
            raise UnscorableEpisode(outcome["reason"])
        return float(outcome["reward"])

    @vf.metric
    async def episode(self, trace: vf.Trace) -> dict[str, float]:
        """Return ``faulted`` (0 or 1), ``intensity``, and ``delivered`` and ``missed`` faults."""
        return dict(trace.info.get(OUTCOME, {}).get("metrics", {}))


class TestbedConfig(vf.TasksetConfig):
    """Which tasks there are; each combination is a task, and so a group of a trainer."""

    __test__ = False  # Not a test class.

    tasks: list[Annotated[str, AfterValidator(_known)]] = Field([])
    """Names of the testbed's tasks; empty: all."""
    conditions: list[Condition] = Field(["clean", "faulted"], min_length=1)
    """``mixed``: every second rollout of the group is faulted."""
    scenarios: list[Annotated[str, AfterValidator(_loadable)]] = Field(
        ["paper/server-error"], min_length=1
    )
    """Presets or files, of the faulted rollouts."""
    intensities: list[Annotated[float, Field(gt=0, le=100)]] = Field([1.0], min_length=1)
    """Times the size of the scenarios' faults, of the faulted rollouts."""
    seeds: list[int] = Field([0], min_length=1)
    """Of the faults' schedules."""


class TestbedTaskset(vf.Taskset[TestbedTask, TestbedConfig]):
    """The testbed's tasks, clean and faulted."""

    __test__ = False  # Not a test class.

    def load(self) -> Iterable[TestbedTask]:
        """Yield the tasks. Raises MachineError if the testbed is not installed."""
        config, benchmark = self.config, TestbedBenchmark()
        for name, seed in product(config.tasks or benchmark.tasks(), config.seeds):
            for condition, scenario, intensity in self._conditions():
                strength = f"intensity {intensity:g}" if intensity != 1 else None
                parts = (name, condition, scenario, strength, f"seed {seed}")
                data = TestbedData(
                    name=" ".join(part for part in parts if part),
                    prompt=benchmark.task(name).goal,
                    testbed_task=name,
                    condition=condition,
                    scenario=scenario,
                    intensity=intensity,
                    seed=seed,
                )
                yield TestbedTask(data, config.task)

    def _conditions(self) -> Iterator[tuple[Condition, str | None, float]]:
        for condition in self.config.conditions:
            if condition == "clean":
                yield condition, None, 1.0
            else:
                faults = product(self.config.scenarios, self.config.intensities)
                yield from ((condition, *fault) for fault in faults)


class TestbedHarnessConfig(vf.HarnessConfig):
    """The agent, and where its episodes are recorded."""

    __test__ = False  # Not a test class.

    command: Annotated[str, AfterValidator(_fillable)] = ""
    """The agent's, split as a shell would, with ``{task}`` (the goal), ``{task_id}``,
    ``{start_url}``, ``{model}``, ``{base_url}``, ``{proxy}`` and ``{out}``, the episode's folder,
    in which it leaves ``result.json`` with ``{"answer": …}``. Empty: the reference agent."""
    max_steps: int = Field(15, ge=1)
    """Of the reference agent."""
    timeout_s: float = Field(300.0, gt=0, allow_inf_nan=False)
    """Seconds after which an agent is ended; its episode then has no reward."""
    out: Path = Path("runs/verifiers")
    """Folder of the traces, which has a folder for each process."""


class TestbedHarness(vf.Harness[TestbedHarnessConfig]):
    """Runs the agent of an episode on this machine, behind the episode's own proxy."""

    __test__ = False  # Not a test class.

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def setup(self, runtime: vf.Runtime) -> None:
        """Start the process's proxy, before the first agent's time begins."""
        if runtime.info.type != "subprocess":
            raise InputError(
                f"the agent runs on this machine, beside its proxy, and not in {runtime.info.type}:"
                " use --env.agent.runtime.type subprocess"
            )
        await asyncio.to_thread(_episodes, self.config)

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: TestbedData,
    ) -> vf.ProgramResult:
        """Play an episode to its end and leave the outcome in the trace's ``info``.

        Its exit code is 0: whether the agent's is a failure is for the task's check to say.
        """
        episodes = _episodes(self.config)
        rollout = Rollout(
            data.testbed_task,
            data.condition,
            data.scenario,
            data.intensity,
            self._agent(ctx.model, data),
            endpoint.removesuffix("/v1"),
            secret,
        )
        creating = episodes.create(rollout, data.seed, trace.id)
        try:
            session = await asyncio.shield(creating)
            with suppress(TimeoutError):  # Its verification says so.
                await episodes.wait(session)
        finally:  # A thread cannot be cancelled: whatever it began is ended.
            trace.info[OUTCOME] = await episodes.finish(await creating)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")

    def _agent(self, model: str, data: TestbedData) -> TestbedAgent:
        if not self.config.command:
            return reference_agent(model, self.config.max_steps)

        def command(episode: Episode, goal: str, start_url: str) -> Sequence[str]:
            values = {
                "task": goal,
                "task_id": data.testbed_task,
                "start_url": start_url,
                "model": model,
                "base_url": f"{MODEL_ORIGIN}/v1",
                "proxy": episode.proxy_url,
                "out": str(episode.folder),
            }
            parts = shlex.split(self.config.command)
            return [fill_placeholders(part, values) for part in parts]

        return TestbedAgent(command, needs_model=True)


class TestbedEnvConfig(vf.SingleAgentEnvConfig):
    """As of every single agent, by default on this machine."""

    __test__ = False  # Not a test class.

    # Validated, the harness would load the module that is being loaded; unnamed, options of the
    # harness would be read as those of `bash`.
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig()).model_copy(
        update={"harness": TestbedHarnessConfig(id=ID)}
    )


class TestbedEnv(vf.SingleAgentEnv, vf.Env[TestbedEnvConfig]):
    """Ends the proxies and the sites with the last environment of the process."""

    __test__ = False  # Not a test class.

    async def start(self) -> None:
        """Count this environment."""
        _environments.add(id(self))

    async def stop(self) -> None:
        """End all that runs for episodes in this process, unless another environment is there."""
        _environments.discard(id(self))
        if not _environments:
            await asyncio.to_thread(_end_all)


@dataclass(frozen=True, slots=True)
class Rollout:
    """What the session factory is asked for; rollouts that look alike are a group."""

    task: str
    condition: Condition
    scenario: str | None
    intensity: float
    agent: TestbedAgent = field(repr=False)
    model: str = field(repr=False)
    """URL of the model server of this rollout alone."""
    secret: str = field(repr=False)
    """The key that it wants."""

    def plan(self, place: int) -> EpisodePlan:
        """Return the plan of the group's episode, from 0."""
        if self.condition == "clean" or (self.condition == "mixed" and place % 2 == 0):
            return EpisodePlan(is_faulted=False)
        return EpisodePlan(True, self.intensity, self.scenario)


class _Episodes:
    """The episodes of this process, in one proxy."""

    def __init__(self, out: Path, timeout_s: float) -> None:
        folder = _own_folder(out)
        with ExitStack() as stack:
            self._threads = stack.enter_context(ThreadPoolExecutor(_MOST_EPISODES))
            tasks = stack.enter_context(TestbedTasks())

            def start(rollout: object, seed: int) -> AbstractContextManager[EpisodeTask]:
                assert isinstance(rollout, Rollout)
                return tasks.start(
                    rollout.task, rollout.agent, model=rollout.model, api_key=rollout.secret
                )

            def plan(rollout: object, seed: int, place: int) -> EpisodePlan:
                assert isinstance(rollout, Rollout)
                return rollout.plan(place)

            factory = SessionFactory(start, None, out=folder, plan=plan, timeout_s=timeout_s)
            self._factory = stack.enter_context(factory)
            self._stack = stack.pop_all()

    def create(self, rollout: Rollout, seed: int, name: str) -> asyncio.Future[Session]:
        """Begin an episode and start its agent. Raises what ``SessionFactory.create`` raises."""
        return asyncio.wrap_future(self._threads.submit(self._factory.create, rollout, seed, name))

    async def wait(self, session: Session) -> None:
        """Wait for the agent's end. Raises what ``Session.wait_for_completion`` raises."""
        await asyncio.wrap_future(self._threads.submit(session.wait_for_completion))

    async def finish(self, session: Session) -> dict[str, Any]:
        """End an episode with its agent and return its outcome."""

        def finish() -> dict[str, Any]:
            try:
                result = session.verify()
            finally:
                session.close()
            return {"reward": result.env_reward, "metrics": result.metrics, **result.artifacts}

        return await asyncio.shield(asyncio.wrap_future(self._threads.submit(finish)))

    def close(self) -> None:
        """End the episodes, the proxy and the sites."""
        self._stack.close()


def _own_folder(out: Path) -> Path:
    """Return a fresh folder of this process. Raises InputError if it cannot be made."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f"process-{os.getpid()}-", dir=out))
    except OSError as error:
        raise InputError(
            f"--env.agent.harness.out {out}: {error.strerror or error}; name a folder that can be"
            " written to"
        ) from error


_running: dict[tuple[Path, float], _Episodes] = {}
_starting = threading.Lock()
_environments: set[int] = set()
"""Those that have started and not stopped."""


def _episodes(config: TestbedHarnessConfig) -> _Episodes:
    """Return the episodes of this process, whose proxy is started for the first."""
    key = config.out, config.timeout_s
    with _starting:
        if key not in _running:
            _running[key] = _Episodes(*key)
        return _running[key]


def _end_all() -> None:
    with _starting:
        while _running:
            _running.popitem()[1].close()
