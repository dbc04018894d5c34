"""Attributes exchanges to tasks, and begins and ends tasks."""

from collections.abc import Callable
from typing import Final, Literal
from urllib.parse import unquote

from warex.engine.handler import Exchange as WireExchange
from warex.exchange import Exchange, Request, Resource
from warex.lane.config import ProxyConfig
from warex.lane.record.fault_events import skipped
from warex.lane.record.recorder import Recorder
from warex.lane.state import ExchangeState
from warex.lane.tasks import Task, Tasks, may_begin_task, read_marker, task_name, user_name
from warex.lane.traffic.llm import LlmCalls
from warex.lane.whole_response import WholeResponse
from warex.llm import LlmRequest
from warex.scenarios import Injector
from warex.scenarios.task_detection import TaskChange, TaskDetector
from warex.seeds import derive_seed
from warex.traces import Armed, ArmedBy, Disarmed, TaskBegan, TaskEnded, ToldBy

_MARKER_HEADERS: Final = {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
}

type EndedBy = Literal["terminal_action", "harness", "control"]


class Attribution:
    """The tasks of a trial, and to which one an exchange belongs."""

    def __init__(self, config: ProxyConfig, injector: Injector, recorder: Recorder) -> None:
        self._seed = config.seed
        self._recorder = recorder
        calls = LlmCalls(config, injector, recorder)
        self.tasks = Tasks(Task("", injector, calls, armed=injector.arming.armed))
        self._detector = None if config.tasks is None else TaskDetector(config.tasks)
        self.before_llm_call: Callable[[], None] = lambda: None
        """Called before an LLM request is forwarded; raises to prevent it."""
        self.episode = ""
        """The name of the trial itself; a client that gives it names no task."""
        self.on_notice: Callable[[str], None] = lambda sentence: None
        self.on_rules_changed: Callable[[], None] = lambda: None
        """Called when the rules in force may have changed: armed, disarmed, the next step."""
        self.on_task_began: Callable[[], None] = lambda: None
        """Called when another main task has begun, whose rules come into force again."""
        if injector.arming.armed:
            recorder.write(Armed(by="start"))

    @property
    def main(self) -> Task[LlmCalls]:
        """The task to which unattributed exchanges belong."""
        return self.tasks.main

    # ---- tasks named by a client

    def task_of(
        self, request: Request, resource: Resource, header: str | None, user: str | None
    ) -> tuple[Task[LlmCalls], str]:
        """Return the task that counts an exchange, and the name of the task it belongs to.

        ``header``: the value of the request's task header, if any; ``user``: the task that the
        proxy user name of its client names, if any.
        """
        told_by: ToldBy = "header"
        name = None if header is None else task_name(unquote(header))
        if name is None and user is not None:
            told_by, name = "user_name", user
        main = self.tasks.main
        if name is not None and name == self.episode:
            return main, main.name
        if name is None:
            # With an invalid name in its header, it belongs to no task.
            return main, main.name if header is None else ""
        task = self.tasks.named(name)
        if task is None and (told_by == "user_name" or may_begin_task(request, resource)):
            task = self._begin_parallel(name, told_by)
        return (main, "") if task is None else (task, name)

    def _begin_parallel(self, name: str, told_by: ToldBy) -> Task[LlmCalls] | None:
        seed = derive_seed(self._seed, name)
        task = self.tasks.begin_parallel(name, seed)
        if task is not None:
            self._recorder.write(TaskBegan(task=name, seed=seed, told_by=told_by, beside=True))
            if task.armed:
                self._recorder.write(Armed(by="start", task=name))
        return task

    # ---- tasks detected by the traffic

    def detect_by_request(self, state: ExchangeState) -> None:
        """Check whether a request begins or ends a task by the detection rule, if any."""
        if self._detector is not None and state.task is self.tasks.main:
            request = state.request
            self._turn(state, self._detector.request(request.method, request.url))

    def detect_by_llm_call(self, state: ExchangeState, call: LlmRequest) -> None:
        """Check whether an LLM call begins or ends a task by the detection rule, if any."""
        if self._detector is not None and state.task is self.main:
            self._turn(state, self._detector.call(call))

    def model_asked(self, task: Task[LlmCalls]) -> None:
        """Note that a task's LLM call is forwarded; raise to prevent it."""
        self.before_llm_call()
        self.record_arming(task, "first_llm_call")
        self.on_rules_changed()  # The call may begin the next step.

    def task_ended(self, task: Task[LlmCalls]) -> None:
        """Disarm a task that the agent has ended; later exchanges belong to no detected task."""
        self.disarm_task(task, "terminal_action")
        if self._detector is not None and task is self.main and self._detector.over():
            self._end_main("terminal_action")

    def _turn(self, state: ExchangeState, turn: TaskChange | None) -> None:
        main = self.main
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
            known = self.tasks.parallel.get(turn.task)
            state.task = known or self._begin_parallel(turn.task, turn.told_by) or main
        elif turn.begins:
            self.begin_task(turn.task, derive_seed(self._seed, turn.task), turn.told_by)
        state.task_name = state.task.name

    def _end_main(self, by: Literal["terminal_action", "harness"]) -> None:
        main = self.main
        self.disarm_task(main, by)
        if main.name:
            self._recorder.write(TaskEnded(task=main.name))
            main.name = ""

    def answer_marker(self, exchange: Exchange) -> tuple[WholeResponse, bool]:
        """Begin or end the task as requested at WAREX's own host.

        Returns the answer, and whether the request was in order.
        """
        marker = read_marker(exchange.request)
        answer = WholeResponse.make(
            marker.status, _MARKER_HEADERS, f"{marker.text}\n".encode(), to=exchange.request.method
        )
        if marker.begin is not None:
            self.begin_task(marker.begin, derive_seed(self._seed, marker.begin), "marker")
        elif marker.ends:
            self.end_task()
        else:
            return answer, False
        return answer, True

    # ---- begin and end

    def begin_task(self, name: str, seed: int, told_by: ToldBy) -> None:
        """Begin the main task: every rule starts again; unattributed exchanges belong to it."""
        main = self.main
        for event in skipped(main.injector):
            self._recorder.write(event)
        main.injector.begin_task(seed)
        main.armed = False
        main.llm_calls.begin_task()
        self.tasks.begin(name)
        self.on_task_began()
        self.record_arming(main, "start")
        self.on_rules_changed()
        self._recorder.write(TaskBegan(task=name, seed=seed, told_by=told_by))

    def end_task(self) -> None:
        """End the main task: unattributed exchanges are not hit and belong to no task."""
        main = self.main
        self.disarm_task(main, "control")
        self._recorder.write(TaskEnded(task=main.name))
        main.name = ""

    def record_arming(self, task: Task[LlmCalls], by: ArmedBy) -> None:
        """Record that a task's rules are armed, once."""
        if task.injector.arming.armed and not task.armed:
            task.armed = True
            self._recorder.write(Armed(by=by, task=self._beside(task)))
            self.on_rules_changed()

    def disarm_task(self, task: Task[LlmCalls], by: EndedBy) -> None:
        """Apply no faults to a task from here on."""
        if not task.injector.arming.task_ended:
            task.injector.arming.disarm()
            task.armed = False
            self._recorder.write(Disarmed(by=by, task=self._beside(task)))
            self.on_rules_changed()

    def _beside(self, task: Task[LlmCalls]) -> str:
        return "" if task is self.main else task.name


def task_of_user(wire: WireExchange) -> str | None:
    """Return the task that a client's proxy user name names: its CONNECT's or the request's."""
    connection = wire.connection
    if connection.is_redirected:
        return None
    if connection.destination is None:
        return user_name(wire.request.headers.by_name.get("proxy-authorization"))
    return task_name(unquote(connection.proxy_user)) if connection.proxy_user else None
