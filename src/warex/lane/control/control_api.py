"""The calls of a running proxy's control API; ``control_server`` serves them.

    GET  /ledger        the injection events so far
    GET  /status        whether the rules are armed, the agent's steps, counts
    POST /task/begin    {"task": NAME, "seed": N}     every rule starts anew
    POST /task/end      {}                            no fault is applied any more
    POST /arm, /disarm  {}
    POST /faults        {"fault": {…}, "match": {…}}  one fault, into the next matching exchange

Each call is recorded as a ``control`` event and repeated by a replay.
"""

import json
from itertools import count
from typing import Protocol

from pydantic import BaseModel, JsonValue

from warex.errors import ScenarioError
from warex.faults import AnyFault
from warex.lane.config import ProxyConfig
from warex.lane.record.recorder import Recorder
from warex.lane.tasks import TASK_NAME, task_name
from warex.scenarios import Injector, Match, Rule
from warex.scenarios.mistakes import validate_document
from warex.scenarios.namespace_only import require_namespace
from warex.seeds import derive_seed
from warex.traces import Control, ToldBy


class _Begin(BaseModel, extra="forbid"):
    task: str
    seed: int | None = None


class _EmptyBody(BaseModel, extra="forbid"):
    pass


class _OneShotFault(BaseModel, extra="forbid"):
    fault: AnyFault
    match: Match = Match()
    name: str | None = None


class _Named(Protocol):
    @property
    def name(self) -> str:
        """Its name."""


class _MainTask(Protocol):
    @property
    def main(self) -> _Named:
        """The main task."""


class _Rechecked(Protocol):
    def check(self) -> None:
        """Check which rules are in force."""


class ControlledTrial(Protocol):
    """What the calls ask of a trial."""

    @property
    def config(self) -> ProxyConfig:
        """Its configuration."""

    @property
    def injector(self) -> Injector:
        """Decides which faults are injected."""

    @property
    def recorder(self) -> Recorder:
        """Keeps the ledger."""

    @property
    def tasks(self) -> _MainTask:
        """The running tasks."""

    @property
    def idle_connections(self) -> _Rechecked:
        """The connections that new rules may close."""

    def begin_task(self, name: str, seed: int, told_by: ToldBy) -> None:
        """Begin the main task."""

    def end_task(self) -> None:
        """End the main task."""

    def arm(self) -> None:
        """Apply faults and count from here on."""

    def disarm(self) -> None:
        """Apply no faults from here on."""

    def fail(self, data: None, error: Exception) -> None:
        """Void the trial, since WAREX itself has failed."""


class ControlApi:
    """The calls on one trial."""

    def __init__(self, trial: ControlledTrial) -> None:
        self._trial = trial

    def ledger(self, body: _EmptyBody) -> JsonValue:
        """Return the injection events so far."""
        recorder = self._trial.recorder
        return [json.loads(recorder.as_json(event)) for event in recorder.ledger]

    def status(self, body: _EmptyBody) -> JsonValue:
        """Return the state of the trial."""
        injector, recorder = self._trial.injector, self._trial.recorder
        return {
            "task": self._trial.tasks.main.name,
            "armed": injector.armed,
            "steps": injector.steps,
            "exchanges": recorder.exchanges,
            "delivered": recorder.delivered,
            "missed": recorder.missed,
            "broken": recorder.broken,
        }

    def begin_task(self, body: _Begin) -> JsonValue:
        """Begin a task: every rule starts anew, under the task's own seed."""
        if task_name(body.task) is None:
            raise ValueError(f"task: {body.task!a} is no name; a task's name is {TASK_NAME}")
        seed = body.seed
        if seed is None:
            seed = derive_seed(self._trial.config.seed, body.task)
        self._trial.begin_task(body.task, seed, "control")
        return {"task": body.task, "seed": seed}

    def end_task(self, body: _EmptyBody) -> JsonValue:
        """End the task: no fault is applied any more."""
        name = self._trial.tasks.main.name
        self._trial.end_task()
        return {"task": name}

    def arm(self, body: _EmptyBody) -> JsonValue:
        """Apply faults and count from here on."""
        self._trial.arm()
        return {"armed": True}

    def disarm(self, body: _EmptyBody) -> JsonValue:
        """Apply no faults from here on."""
        self._trial.disarm()
        return {"armed": False}

    def plan_fault(self, body: _OneShotFault) -> JsonValue:
        """Plan one fault for the next exchange that matches."""
        data: dict[str, JsonValue] = {
            "name": "one-shot" if body.name is None else body.name,
            "match": body.match.model_dump(mode="json"),
            "trigger": {"always": True},
            "per": "url",
            "fault": body.fault.model_dump(mode="json"),
        }
        rule = _validated(Rule, data)
        require_namespace([rule], in_namespace=self._trial.config.capture == "namespace")
        injector = self._trial.injector
        if body.name is None:
            numbered = (rule.model_copy(update={"name": f"one-shot-{n}"}) for n in count(1))
            rule = next(filter(injector.accepts_one_shot, numbered))
        injector.add_one_shot(rule)
        self._trial.idle_connections.check()
        return {"rule": rule.model_dump(mode="json")}

    def record(self, call: str, body: BaseModel, result: JsonValue) -> None:
        """Record a completed call in the trace."""
        trial = self._trial
        arguments = body.model_dump(mode="json", exclude_none=True)
        if isinstance(result, dict) and call == "plan_fault":
            arguments = dict(result)
            rule = Rule.model_validate(result["rule"])
            if earlier := trial.injector.earlier_tries(rule.name):
                arguments["earlier"] = dict(earlier)
        if call in ("arm", "plan_fault"):
            arguments["passed"] = trial.injector.unarmed_counts()
            if straddled := trial.injector.straddled(trial.recorder.clock.now()):
                arguments["straddled"] = list(straddled)
        trial.recorder.write(Control(call=call, arguments=arguments))


def dispatch(api: ControlApi, method: str, name: str, sent: bytes) -> tuple[int, JsonValue]:
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
        result: JsonValue = getattr(api, attribute)(body)
    except (ValueError, ScenarioError) as error:
        return 400, {"error": str(error)}
    api.record(attribute, body, result)
    return 200, result


METHODS = ("GET", "POST")
_READS: dict[str, tuple[str, type[BaseModel]]] = {
    "ledger": ("ledger", _EmptyBody),
    "status": ("status", _EmptyBody),
}
_CALLS: dict[str, tuple[str, type[BaseModel]]] = {
    "task/begin": ("begin_task", _Begin),
    "task/end": ("end_task", _EmptyBody),
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
