"""Makes the sessions of a trainer, all in one proxy process."""

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from itertools import count
from types import TracebackType
from typing import Final, Self, Unpack

from warex.api import AnyScenario, Interception, intercept, read_scenario
from warex.errors import InputError
from warex.llm.tokens import CallTokens
from warex.proxy.certificates.ca import ensure_ca
from warex.rl.curriculum import Curriculum, EpisodePlan, ScoredEpisode
from warex.rl.session import Episode, EpisodeTask, Session, StartTask
from warex.rl.training_trace import check_sampling, why_sampled_otherwise, why_without_tokens
from warex.sandbox.cleanup.reaper import Reaper, start_reaper
from warex.sandbox.env_mode.prepare import browser_flags
from warex.text.arguments import read_path
from warex.text.latest import Latest
from warex.traces import Trace
from warex.traffic import TrafficKeywords

type PlanEpisode = Callable[[object, int, int], EpisodePlan]
"""Returns the plan of an episode, by its prompt, its seed and its place in its group, from 0."""

_MOST_GROUPS: Final = 100_000
"""Groups whose places are remembered."""


class SessionFactory:
    """Creates sessions, as OpenEnv's ``ResourceSessionFactory``; used as a context manager.

    ``start_task`` starts what an episode needs. ``scenario``: of the faulted episodes, in
    any form that ``warex.intercept`` takes. ``plan``, or else ``curriculum``, says which episodes
    are faulted, and how strongly; each reward moves the curriculum on. ``scenario`` may be None
    where each faulted plan names its own. ``timeout_s`` is the time limit of an agent in seconds,
    ``out`` the folder of all traces. Other keywords are those of ``warex.intercept`` about traffic;
    with ``capture_tokens`` an episode without tokens has no reward, nor has one in which a call
    names another parameter of ``SAMPLING_DEFAULTS`` than ``sampling``, the trainer's policy.
    ``create`` may be called from several threads.

    Raises InputError for invalid arguments, ScenarioError for an invalid scenario, and when it is
    entered MachineError if the machine lacks something.
    """

    def __init__(
        self,
        start_task: StartTask,
        scenario: AnyScenario | None,
        *,
        out: str | os.PathLike[str],
        curriculum: Curriculum | None = None,
        plan: PlanEpisode | None = None,
        timeout_s: float = 300.0,
        sampling: Mapping[str, float] | None = None,
        **traffic: Unpack[TrafficKeywords],
    ) -> None:
        if not 0 < timeout_s < float("inf"):
            raise InputError(
                f"SessionFactory(timeout_s={timeout_s!r}): it is a number of seconds above 0"
            )
        self.curriculum = Curriculum() if curriculum is None else curriculum
        """The curriculum after the rewards so far."""
        self.timeout_s = timeout_s
        self.out = read_path("SessionFactory(…, out=", out)
        self._start_task = start_task
        self._scenario = read_scenario(scenario)
        self._plan = plan
        self._sampling = sampling
        self._needs_tokens = bool(traffic.get("capture_tokens"))
        if sampling is not None:
            check_sampling(sampling)
            if not self._needs_tokens:
                raise InputError(
                    "SessionFactory(sampling=…): what was sampled is known of captured tokens only;"
                    " name the model server by capture_tokens=[HOST]"
                )
        self._begin = intercept(None, out=self.out, **traffic)
        self._stack = ExitStack()
        self._running: tuple[Interception, Reaper] | None = None
        self._lock = threading.Lock()
        self._places = Latest[tuple[str, int], int](_MOST_GROUPS)
        self._sessions: dict[str, Session] = {}
        self._reserved: set[str] = set()
        self._numbers = count(1)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            reaper = stack.enter_context(start_reaper())
            self._running = stack.enter_context(self._begin), reaper
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for session in list(self._sessions.values()):
            session.close()
        self._running = None
        self._stack.__exit__(kind, value, traceback)

    def create(
        self, task: object, seed: int | None = None, episode_id: str | None = None
    ) -> Session:
        """Begin an episode of a prompt, and start its agent.

        Episodes of one prompt and seed are a group. Raises InputError if an episode of this id is
        running, which is not disturbed, or the plan, the task or its command is of another kind;
        ScenarioError if the plan's scenario is invalid; what the plan and the task's start raise.
        """
        running = self._running
        if running is None:
            raise InputError(
                "the factory has no proxy: create sessions inside `with SessionFactory(…)`"
            )
        number = 0 if seed is None else seed
        with self._lock:
            name = f"episode-{next(self._numbers)}" if episode_id is None else episode_id
            if name in self._reserved:
                raise InputError(
                    f"an episode {name!a} is running; close its session first, or give this one"
                    " another id"
                )
            self._reserved.add(name)
            group = (repr(task), number)
            place = self._places.get(group) or 0
            self._places[group] = place + 1
            plan = self.curriculum.plan(place) if self._plan is None else None
        try:
            if plan is None:
                assert self._plan is not None
                plan = self._plan(task, number, place)
            session = self._session(*running, name, task, number, plan)
        except BaseException:
            self._forget(name)
            raise
        with self._lock:
            self._sessions[name] = session
        try:
            session.start()
        except BaseException:
            session.close()
            raise
        return session

    def _session(
        self,
        proxy: Interception,
        reaper: Reaper,
        name: str,
        prompt: object,
        seed: int,
        plan: EpisodePlan,
    ) -> Session:
        if not isinstance(plan, EpisodePlan):
            raise InputError(f"the plan of the episode {name!a} is {plan!r}, not an EpisodePlan")
        scenario = self._scenario if plan.scenario is None else plan.scenario
        if plan.is_faulted and scenario is None:
            raise InputError(
                f"the plan of the episode {name!a} is faulted, and neither it nor the factory names"
                " a scenario"
            )
        with ExitStack() as end_task, ExitStack() as end_trial:
            task = end_task.enter_context(self._start_task(prompt, seed))
            if not isinstance(task, EpisodeTask):
                raise InputError(
                    f"the task of the episode {name!a} is {task!r}, not an EpisodeTask"
                )
            trial = end_trial.enter_context(
                proxy.episode(
                    name,
                    scenario if plan.is_faulted else None,
                    seed=seed,
                    intensity=plan.intensity if plan.is_faulted else None,
                    sites=task.sites,
                    maps=task.maps,
                )
            )
            episode = Episode(
                name,
                prompt,
                seed,
                plan,
                trial.out,
                trial.url,
                environment=trial.env,
                browser_arguments=browser_flags(trial.url, ensure_ca()),
            )
            return Session(
                episode,
                task,
                trial,
                timeout_s=self.timeout_s,
                reaper=reaper,
                why_untrainable=self._why_untrainable if self._needs_tokens else None,
                end_trial=end_trial.pop_all(),
                end_task=end_task.pop_all(),
                on_scored=self._note_scored,
                on_closed=self._forget,
            )

    def _why_untrainable(self, trace: Trace, tokens: Mapping[str, CallTokens]) -> str | None:
        reason = why_without_tokens(trace)
        if reason is None and self._sampling is not None:
            reason = why_sampled_otherwise(tokens, self._sampling)
        return reason

    def _note_scored(self, episode: ScoredEpisode) -> None:
        with self._lock:
            self.curriculum = self.curriculum.observed(episode)

    def _forget(self, name: str) -> None:
        with self._lock:
            self._reserved.discard(name)
            self._sessions.pop(name, None)
