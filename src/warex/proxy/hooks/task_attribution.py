"""Attributes exchanges to tasks, and begins and ends tasks."""

from collections.abc import Callable
from typing import Final, Literal, override
from urllib.parse import unquote

import msgspec
from mitmproxy import http

from warex.exchange import Request
from warex.lane.config import ProxyConfig
from warex.lane.host_routing import CANARY_HEADERS, canary_page
from warex.lane.own_hosts import CANARY_HOST
from warex.lane.record.fault_events import skipped
from warex.lane.record.recorder import Recorder
from warex.lane.tasks import (
    TASK_HEADER,
    Task,
    Tasks,
    may_begin_task,
    read_marker,
    task_name,
    user_name,
)
from warex.lane.traffic.llm import LlmCalls
from warex.llm import LlmRequest
from warex.proxy.exchange.state import ExchangeState
from warex.proxy.hooks.base import fail_closed
from warex.proxy.hooks.connection import ConnectionHooks
from warex.scenarios import Injector
from warex.scenarios.task_detection import TaskChange, TaskDetector
from warex.seeds import derive_seed
from warex.traces import Armed, Canary, Disarmed, TaskBegan, TaskEnded, ToldBy

_HEADERS: Final = {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
}
_TASK_METADATA: Final = "warex_task"
"""The key of a flow's metadata with the value of its task header."""


class TaskHooks(ConnectionHooks):
    """Attributes each exchange of a trial to its task."""

    def __init__(self, config: ProxyConfig, injector: Injector, recorder: Recorder) -> None:
        super().__init__(config, injector, recorder)
        self.config = config
        self.injector = injector
        models = LlmCalls(config, injector, recorder)
        self.tasks = Tasks(Task("", injector, models, armed=injector.armed))
        self._users: dict[str, str] = {}
        """The clients' proxy user names, by the ids of their connections."""
        self.finder = None if config.tasks is None else TaskDetector(config.tasks)
        self.before_llm_call: Callable[[], None] = lambda: None
        """Called before an LLM request is forwarded; raises to prevent it."""
        if injector.armed:
            recorder.write(Armed(by="start"))

    # ---- tasks named by a client

    @fail_closed
    def http_connect(self, flow: http.HTTPFlow) -> None:
        """Note the user name of a client that requests a tunnel."""
        self.take_user_name(flow)

    @override
    def is_passed_through(self, flow: http.HTTPFlow) -> bool:
        """Prepare a plain HTTP request; return whether its exchange is passed through."""
        self.take_user_name(flow)
        return super().is_passed_through(flow)

    def take_user_name(self, flow: http.HTTPFlow) -> None:
        """Note a client's proxy user name, and remove it from the request."""
        if self.config.capture != "forward":
            return  # The header of a captured client is for another proxy.
        name = user_name(flow.request.headers.pop("proxy-authorization", None))
        if name is None:
            self._users.pop(flow.client_conn.id, None)
        else:
            self._users[flow.client_conn.id] = name

    def take_header(self, flow: http.HTTPFlow) -> None:
        """Note a request's task header, and remove it from the request."""
        named = flow.request.headers.pop(TASK_HEADER, None)
        if named is not None:
            flow.metadata[_TASK_METADATA] = named

    def forget_client(self, client_id: str) -> None:
        """Forget a closed connection."""
        self._users.pop(client_id, None)

    def task_of(
        self, flow: http.HTTPFlow, request: Request, resource: str
    ) -> tuple[Task[LlmCalls], str]:
        """Return the task that counts an exchange, and the name of the task it belongs to."""
        told_by: ToldBy = "header"
        named: str | None = flow.metadata.get(_TASK_METADATA)
        name = None if named is None else task_name(unquote(named))
        may_begin = may_begin_task(request, resource)
        if name is None and (user := self._users.get(flow.client_conn.id)) is not None:
            told_by, name, may_begin = "user_name", user, True
        main = self.tasks.main
        if name is None:
            # With an invalid name in its header, it belongs to no task.
            return main, main.name if named is None else ""
        task = self.tasks.named(name)
        if task is None and may_begin:
            task = self._begin_parallel(name, told_by)
        return (main, "") if task is None else (task, name)

    def _begin_parallel(self, name: str, told_by: ToldBy) -> Task[LlmCalls] | None:
        seed = derive_seed(self.config.seed, name)
        task = self.tasks.begin_parallel(name, seed)
        if task is not None:
            self.recorder.write(TaskBegan(task=name, seed=seed, told_by=told_by, beside=True))
            if task.armed:
                self.recorder.write(Armed(by="start", task=name))
        return task

    # ---- tasks detected by the traffic

    def detect_task_by_request(self, state: ExchangeState) -> None:
        """Check whether a request begins or ends a task by the detection rule, if any."""
        if self.finder is not None and state.task is self.tasks.main:
            request = state.exchange.request
            self._turn(state, self.finder.request(request.method, request.url))

    def detect_task_by_llm_call(self, state: ExchangeState, call: LlmRequest) -> None:
        """Check whether an LLM call begins or ends a task by the detection rule, if any."""
        if self.finder is not None and state.task is self.tasks.main:
            self._turn(state, self.finder.call(call))

    def model_asked(self, task: Task[LlmCalls]) -> None:
        """Note that a task's LLM call is forwarded; raise to prevent it."""
        self.before_llm_call()
        self.record_arming(task, "first_llm_call")

    def task_ended(self, task: Task[LlmCalls]) -> None:
        """Disarm a task that the agent has ended; later exchanges belong to no detected task."""
        self.disarm_task(task, "terminal_action")
        if self.finder is not None and task is self.tasks.main and self.finder.over():
            self._end_main("terminal_action")

    def _turn(self, state: ExchangeState, turn: TaskChange | None) -> None:
        main = self.tasks.main
        if turn is None:
            return
        if turn.task is None:
            self._end_main("harness")
        elif turn.alone:
            if main.name:
                self.on_notice(
                    f"several tasks run at the same time (seen at {turn.task!r}): each call to the"
                    " model belongs to the task that it names, but the task of a page is unknown;"
                    " mark the pages' requests with the header X-Warex-Task"
                )
                self._end_main("harness")
            found = self.tasks.parallel.get(turn.task)
            state.task = found or self._begin_parallel(turn.task, turn.told_by) or main
        elif turn.begins:
            seed = derive_seed(self.config.seed, turn.task)
            self.begin_task(turn.task, seed, turn.told_by)
        state.task_name = state.task.name

    def _end_main(self, by: Literal["terminal_action", "harness"]) -> None:
        main = self.tasks.main
        self.disarm_task(main, by)
        if main.name:
            self.recorder.write(TaskEnded(task=main.name))
            main.name = ""

    def answer_marker(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Begin or end the task as requested at WAREX's own host."""
        request = state.exchange.request
        said = read_marker(request)
        state.by_warex = True
        flow.response = http.Response.make(said.status, f"{said.text}\n", _HEADERS)
        if said.begin is not None:
            self.begin_task(said.begin, derive_seed(self.config.seed, said.begin), "marker")
        elif said.ends:
            self.end_task()
        else:
            line = f"{request.method} {request.url}"
            self.record_rejected_request(state.connection, said.status, line, said.text)

    def answer_canary(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Answer with the requested nonce, which proves that the client uses the proxy."""
        nonce = state.exchange.request.parts.path.strip("/")
        state.by_warex = True
        flow.response = http.Response.make(200, canary_page(nonce), CANARY_HEADERS)
        if nonce == self.config.agent_ended:
            self.disarm_task(self.tasks.main, "harness")
        elif state.resource in ("document", "other"):
            self.recorder.write(Canary(passed=True, detail=f"{CANARY_HOST}/{nonce} was asked for"))

    # ---- begin and end

    def begin_task(self, name: str, seed: int, told_by: ToldBy) -> None:
        """Begin the main task: every rule starts anew; unattributed exchanges belong to it."""
        main = self.tasks.main
        for event in skipped(main.injector):
            self.recorder.write(event)
        main.injector.begin_task(seed)
        main.armed = False
        main.llm_calls.begin_task()
        self.tasks.begin(name)
        self.idle_connections.reset()
        self.record_arming(main, "start")
        self.recorder.write(TaskBegan(task=name, seed=seed, told_by=told_by))

    def end_task(self) -> None:
        """End the main task: unattributed exchanges are not hit and belong to no task."""
        main = self.tasks.main
        self.disarm_task(main, "control")
        self.recorder.write(TaskEnded(task=main.name))
        main.name = ""

    def record_arming(self, task: Task[LlmCalls], by: str) -> None:
        """Record that a task's rules are armed, once."""
        self.idle_connections.check()
        if task.injector.armed and not task.armed:
            task.armed = True
            self.recorder.write(msgspec.convert({"by": by, "task": self._beside(task)}, Armed))
        self.on_rules_changed()

    def disarm_task(
        self, task: Task[LlmCalls], by: Literal["terminal_action", "harness", "control"]
    ) -> None:
        """Apply no faults to a task from here on."""
        if not task.injector.task_ended:
            task.injector.disarm()
            task.armed = False
            self.recorder.write(Disarmed(by=by, task=self._beside(task)))
            self.on_rules_changed()

    def _beside(self, task: Task[LlmCalls]) -> str:
        return "" if task is self.tasks.main else task.name
