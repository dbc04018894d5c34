"""The calls of a running proxy's control API; ``control_server`` serves them.

    GET  /ledger        the injection events so far
    GET  /status        whether the rules are armed, the agent's steps, counts
    POST /task/begin    {"task": NAME, "seed": N}     every rule starts again
    POST /task/end      {}                            no fault is applied any more
    POST /arm, /disarm  {}
    POST /faults        {"fault": {…}, "match": {…}}  one fault, into the next matching exchange

Each call is recorded as a ``control`` event and repeated by a replay.
"""

import asyncio
import json
from itertools import count
from pathlib import Path
from typing import Annotated, Protocol

from pydantic import BaseModel, Field, JsonValue, field_validator

from warex.errors import InputError, MachineError
from warex.faults import AnyFault
from warex.lane.config import ProxyConfig
from warex.lane.episodes.episodes import Episode, EpisodeOptions, Episodes
from warex.lane.record.recorder import Recorder
from warex.lane.tasks import TASK_NAME, task_name
from warex.scenarios import Injector, Match, Rule, Scenario
from warex.scenarios.load import load_scenario
from warex.scenarios.mistakes import validate_document
from warex.scenarios.namespace_only import require_namespace
from warex.seeds import derive_seed
from warex.traces import Control, ToldBy
from warex.traffic import read_map, read_origin


class _Begin(BaseModel, extra="forbid"):
    task: str
    seed: int | None = None
    scenario: Scenario | None = None
    """As a scenario, a preset's name, or a file; None has no faults."""
    intensity: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] | None = None
    sites: tuple[str, ...] | None = None
    maps: tuple[str, ...] = ()
    out: Path | None = None
    port: Annotated[int, Field(ge=0, le=65535)] | None = None

    @property
    def is_episode(self) -> bool:
        """Whether the task is a trial of its own."""
        return bool(self.model_fields_set - {"task", "seed"})

    @field_validator("scenario", mode="before")
    @classmethod
    def _load_scenario(cls, value: object) -> object:
        return load_scenario(value) if isinstance(value, str) else value

    @field_validator("sites")
    @classmethod
    def _read_sites(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if value is None else tuple(map(read_origin, value))

    @field_validator("maps")
    @classmethod
    def _read_maps(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(read_map, value))


class _End(BaseModel, extra="forbid"):
    task: str | None = None
    """None: the main task."""


class _EmptyBody(BaseModel, extra="forbid"):
    pass


class _OneShotFault(BaseModel, extra="forbid"):
    fault: AnyFault
    match: Match = Match()
    name: str | None = None


class _Named(Protocol):
    @property
    def name(self) -> str:
        """The task's name."""


class _MainTask(Protocol):
    @property
    def main(self) -> _Named:
        """The main task."""


class ControlledTrial(Protocol):
    """What the calls ask of a trial."""

    @property
    def config(self) -> ProxyConfig:
        """The trial's configuration."""

    @property
    def injector(self) -> Injector:
        """Decides which faults are injected."""

    @property
    def recorder(self) -> Recorder:
        """Keeps the ledger."""

    @property
    def tasks(self) -> _MainTask:
        """The running tasks."""

    def begin_task(self, name: str, seed: int, told_by: ToldBy) -> None:
        """Begin the main task."""

    def end_task(self) -> None:
        """End the main task."""

    def rules_changed(self) -> None:
        """Note that the rules in force may have changed."""

    def arm(self) -> None:
        """Apply faults and count from here on."""

    def disarm(self) -> None:
        """Apply no faults from here on."""

    def broke(self, error: Exception) -> None:
        """Void the trial, since WAREX itself has failed."""


class ControlApi:
    """The calls on one trial of a process."""

    def __init__(self, trial: ControlledTrial, episodes: Episodes | None = None) -> None:
        """``episodes`` of the process, if the trial is its own."""
        self.trial, self._episodes = trial, episodes

    def of(self, name: str) -> "ControlApi | None":
        """Return the calls on a running episode."""
        episode = self._episode(name)
        return None if episode is None else ControlApi(episode.lane)

    def _episode(self, name: str | None) -> Episode | None:
        return None if self._episodes is None or name is None else self._episodes.get(name)

    async def episodes(self, body: _EmptyBody) -> JsonValue:
        """Return the running episodes."""
        return [] if self._episodes is None else list(map(_described, self._episodes.running()))

    async def ledger(self, body: _EmptyBody) -> JsonValue:
        """Return the injection events so far."""
        recorder = self.trial.recorder
        return [json.loads(recorder.as_json(event)) for event in recorder.ledger]

    async def status(self, body: _EmptyBody) -> JsonValue:
        """Return the state of the trial."""
        injector, recorder = self.trial.injector, self.trial.recorder
        return {
            "task": self.trial.tasks.main.name,
            "armed": injector.arming.armed,
            "steps": injector.arming.steps,
            "exchanges": recorder.exchanges,
            "delivered": recorder.delivered,
            "missed": recorder.missed,
            "broken": recorder.broken,
        }

    async def begin_task(self, body: _Begin) -> JsonValue:
        """Begin a task: every rule starts again, under the task's own seed; or an episode."""
        if task_name(body.task) is None:
            raise ValueError(f"task: {body.task!a} is not a name; a task's name is {TASK_NAME}")
        if body.is_episode:
            return self._begin_episode(body)
        if self._episode(body.task) is not None:
            raise ValueError(f"task: the episode {body.task!a} is running; end it first")
        seed = body.seed
        if seed is None:
            seed = derive_seed(self.trial.config.seed, body.task)
        self.trial.begin_task(body.task, seed, "control")
        return {"task": body.task, "seed": seed}

    def _begin_episode(self, body: _Begin) -> JsonValue:
        if self._episodes is None:
            raise ValueError("an episode is a trial beside the process's own: leave ?task= out")
        options = EpisodeOptions(
            body.task,
            seed=body.seed,
            scenario=body.scenario,
            no_faults="scenario" in body.model_fields_set and body.scenario is None,
            intensity=body.intensity,
            sites=body.sites,
            maps=body.maps,
            out=None if body.out is None else body.out.absolute(),
            port=body.port,
        )
        try:
            return _described(self._episodes.begin(options))
        except MachineError as error:  # The process's own trial goes on.
            raise InputError(str(error)) from None

    async def end_task(self, body: _End) -> JsonValue:
        """End the task: no fault is applied any more. An episode ends with its trace."""
        if self._episodes is not None and self._episode(body.task) is not None:
            assert body.task is not None
            # It is ended even if its client does not wait.
            ending = asyncio.ensure_future(self._episodes.end(body.task))
            return _described(await asyncio.shield(ending))
        if body.task not in (None, self.trial.tasks.main.name):
            raise ValueError(f"task: no episode {body.task!a} is running, nor is it the main task")
        name = self.trial.tasks.main.name
        self.trial.end_task()
        return {"task": name}

    async def arm(self, body: _EmptyBody) -> JsonValue:
        """Apply faults and count from here on."""
        self.trial.arm()
        return {"armed": True}

    async def disarm(self, body: _EmptyBody) -> JsonValue:
        """Apply no faults from here on."""
        self.trial.disarm()
        return {"armed": False}

    async def plan_fault(self, body: _OneShotFault) -> JsonValue:
        """Plan one fault for the next exchange that matches."""
        data: dict[str, JsonValue] = {
            "name": "one-shot" if body.name is None else body.name,
            "match": body.match.model_dump(mode="json"),
            "trigger": {"always": True},
            "per": "url",
            "fault": body.fault.model_dump(mode="json"),
        }
        rule = _validated(Rule, data)
        require_namespace([rule], in_namespace=self.trial.config.capture == "namespace")
        injector = self.trial.injector
        if body.name is None:
            numbered = (rule.model_copy(update={"name": f"one-shot-{n}"}) for n in count(1))
            rule = next(filter(injector.accepts_one_shot, numbered))
        injector.add_one_shot(rule)
        self.trial.rules_changed()
        return {"rule": rule.model_dump(mode="json")}

    def record(self, call: str, body: BaseModel, result: JsonValue) -> None:
        """Record a completed call in the trace."""
        trial = self.trial
        arguments = body.model_dump(mode="json", exclude_none=True)
        if isinstance(result, dict) and "trace" in result:
            call = call.replace("task", "episode")
            arguments = {key: result[key] for key in ("task", "seed", "port", "trace")}
        elif isinstance(result, dict) and call == "plan_fault":
            arguments = dict(result)
            rule = Rule.model_validate(result["rule"])
            if earlier := trial.injector.earlier_tries(rule.name):
                arguments["earlier"] = dict(earlier)
        if call in ("arm", "plan_fault"):
            arguments["passed"] = trial.injector.unarmed_counts()
            tries, now = trial.injector.connections, trial.recorder.clock.now()
            if skipped := tries.rules_with_unarmed_occurrence(now):
                arguments["straddled"] = list(skipped)
        trial.recorder.write(Control(call=call, arguments=arguments))


def _described(episode: Episode) -> dict[str, JsonValue]:
    """Return what a client needs to know of an episode, and its counts so far."""
    recorder, out = episode.lane.recorder, episode.lane.config.out
    return {
        "task": episode.name,
        "seed": episode.seed,
        "port": episode.port,
        "trace": None if out is None else str(out),
        "exchanges": recorder.exchanges,
        "delivered": recorder.delivered,
        "missed": recorder.missed,
        "broken": recorder.broken,
    }


async def dispatch(api: ControlApi, method: str, name: str, sent: bytes) -> tuple[int, JsonValue]:
    """Carry out one authorized call; return its status and body.

    An error of the caller is a status and a sentence; an error of WAREX itself is raised.
    """
    calls = {"GET": _READS, "POST": _CALLS}.get(method)
    if calls is None:
        return 405, {"error": f"{method} is not allowed here; use {' or '.join(METHODS)}"}
    if name not in calls:
        known = ", ".join([*(f"GET /{read}" for read in _READS), *(f"POST /{c}" for c in _CALLS)])
        return 404, {"error": f"there is no call {method} /{name}; there are: {known}"}
    attribute, shape = calls[name]
    try:
        body = _body(shape, sent)
        result: JsonValue = await getattr(api, attribute)(body)
    except (ValueError, InputError) as error:
        return 400, {"error": str(error)}
    api.record(attribute, body, result)
    return 200, result


METHODS = ("GET", "POST")
_READS: dict[str, tuple[str, type[BaseModel]]] = {
    "ledger": ("ledger", _EmptyBody),
    "status": ("status", _EmptyBody),
    "episodes": ("episodes", _EmptyBody),
}
_CALLS: dict[str, tuple[str, type[BaseModel]]] = {
    "task/begin": ("begin_task", _Begin),
    "task/end": ("end_task", _End),
    "arm": ("arm", _EmptyBody),
    "disarm": ("disarm", _EmptyBody),
    "faults": ("plan_fault", _OneShotFault),
}


def _body[M: BaseModel](shape: type[M], sent: bytes) -> M:
    """Return the body that was sent; raise ValueError, in sentences, if it is invalid."""
    try:
        data = json.loads(sent or b"{}")
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the body is not JSON: {error}") from None
    if not shape.model_fields and data != {}:
        raise ValueError("this call takes nothing: leave the body out, or give {}")
    return _validated(shape, data)


def _validated[M: BaseModel](model: type[M], data: JsonValue) -> M:
    made, mistakes = validate_document(model, data)
    if made is None:
        raise ValueError("\n".join(mistakes))
    return made
