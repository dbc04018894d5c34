"""The testbed's tasks for a session factory: each episode has a fresh instance of its site."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

from warex.benchmarks.adapters.testbed import TestbedBenchmark
from warex.benchmarks.adapters.testbed_pool import TestbedPool
from warex.benchmarks.artifacts import last_output, read_json_or_empty
from warex.benchmarks.job import TaskEnvironment
from warex.errors import InputError, TrialVoid
from warex.files.reading import path_exists
from warex.rl.session import Episode, EpisodeTask
from warex.text.english import did_you_mean
from warex.traces.paths import AGENT_LOG

MODEL_ORIGIN: Final = "http://model.warex.test"
"""Where an agent finds the trainer's model: behind the proxy, by name, so that it is recorded."""
RESULT: Final = "result.json"
"""The agent's answer, as the reference agent writes it: ``{"answer": …}``."""
_UNUSABLE: Final = (3, 4)
"""Exit codes of the reference agent without a browser or a model: no fault of the policy."""

type TestbedCommand = Callable[[Episode, str, str], Sequence[str]]
"""Returns an agent's command for an episode, its goal and its first URL; empty for none."""


@dataclass(frozen=True, slots=True)
class TestbedAgent:
    """The agent of an episode."""

    __test__ = False  # Not a test class.

    command: TestbedCommand
    needs_model: bool = False
    unusable: tuple[int, ...] = ()
    """Exit codes after which an episode has no reward, since the machine lacks something."""


class TestbedTasks:
    """Starts an episode of the testbed for a prompt: a task's name, its goal, or messages with it.

    ``model`` is the base URL of the trainer's model server. ``command`` makes the agent's command;
    by default the reference agent's. Such an agent leaves its answer in ``result.json`` of the
    episode's folder. Use it as a context manager: its exit ends the sites. Raises MachineError if
    the testbed is not installed.
    """

    __test__ = False  # Not a test class.

    def __init__(
        self,
        model: str | None = None,
        *,
        model_name: str = "policy",
        max_steps: int = 15,
        command: TestbedCommand | None = None,
    ) -> None:
        self._benchmark = TestbedBenchmark()
        self._pool = TestbedPool()
        self._model = None if model is None else model.rstrip("/").removesuffix("/v1")
        self._agent = TestbedAgent(command) if command else reference_agent(model_name, max_steps)
        self._names = {self._benchmark.task(it).goal: it for it in self._benchmark.tasks()}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._pool.close()

    def name(self, prompt: object) -> str:
        """Return the name of a prompt's task. Raises InputError if there is none."""
        text = _last_text(prompt)
        if text in self._benchmark.tasks():
            return text
        named = next((name for goal, name in self._names.items() if goal in text), None)
        if named is None:
            near = did_you_mean(text, self._benchmark.tasks())
            raise InputError(
                f"the prompt {text[:80]!r} names nothing in the testbed{near}; give a task's name"
                " or its goal (`warex benchmarks show testbed` lists them)"
            )
        return named

    def __call__(self, prompt: object, seed: int) -> AbstractContextManager[EpisodeTask]:
        """Start a task's site. Raises InputError if no task has this name or goal."""
        key = f"episode-{seed}"
        return self.start(self.name(prompt), self._agent, model=self._model, api_key=key)

    @contextmanager
    def start(
        self, name: str, agent: TestbedAgent, *, model: str | None, api_key: str
    ) -> Iterator[EpisodeTask]:
        """Start the site of a task, for an agent that asks the model at this URL with this key.

        Raises InputError if the agent needs a model and has none.
        """
        if model is None and agent.needs_model:
            raise InputError(
                "TestbedTasks(): the reference agent needs model=URL of a model server"
            )
        task = self._benchmark.task(name)
        with self._pool.acquire(None) as ports:
            environment = TaskEnvironment(
                maps=(f"https://{task.host}=http://127.0.0.1:{ports['port']}",),
                direct_hosts={},
                port=ports["admin_port"],
            )

            def score(episode: Episode) -> float:
                if episode.exit_code in agent.unusable:
                    why = last_output(episode.folder / AGENT_LOG)
                    raise TrialVoid(f"the agent ended with code {episode.exit_code}{why}")
                path = episode.folder / RESULT
                result = read_json_or_empty(path) if path_exists(path) else {}
                answer = result.get("answer")
                text = answer if isinstance(answer, str) else None
                return self._benchmark.judge(name, environment, text).score

            yield EpisodeTask(
                score,
                command=lambda episode: agent.command(episode, task.goal, task.start_url()),
                maps=(*environment.maps, *(() if model is None else (f"{MODEL_ORIGIN}={model}",))),
                sites=self._benchmark.sites(name),
                variables={"OPENAI_BASE_URL": f"{MODEL_ORIGIN}/v1", "OPENAI_API_KEY": api_key},
            )


def reference_agent(model: str = "policy", max_steps: int = 15) -> TestbedAgent:
    """Return the reference agent, which asks for a model of this name."""

    def command(episode: Episode, goal: str, start_url: str) -> Sequence[str]:
        return (
            *(sys.executable, "-m", "warex.agents.reference", "--goal", goal),
            *("--start-url", start_url, "--model", model, "--max-steps", str(max_steps)),
            *("--base-url", f"{MODEL_ORIGIN}/v1", "--result", str(episode.folder / RESULT)),
            *(f"--browser-arg={it}" for it in episode.browser_arguments),
        )

    return TestbedAgent(command, needs_model=True, unusable=_UNUSABLE)


def _last_text(prompt: object) -> str:
    """Return a prompt's text; of messages, the text of the last one that has any."""
    if isinstance(prompt, str):
        return prompt
    if isinstance(prompt, Sequence):
        texts = [_content(it) for it in prompt if isinstance(it, Mapping)]
        return next((text for text in reversed(texts) if text), "")
    return ""


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    return content.strip() if isinstance(content, str) else ""
