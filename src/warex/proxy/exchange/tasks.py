"""The tasks of one trial: how a client tells of them, and what is counted for each.

A marker, a rule and the control API tell of *the* task: all that comes from then on belongs to it.
A header and a proxy's user name tell of one request's or connection's task, so that several can run
at the same time; each has rules, counts and steps of its own.
"""

import binascii
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from warex.exchange import BROWSER, Request
from warex.seeds import derive_seed

if TYPE_CHECKING:
    from warex.proxy.exchange.llm_calls import LlmCalls
    from warex.scenarios import Injector

TASK_HOST: Final = "warex.invalid"
"""WAREX answers this host itself; the name can be nobody's (RFC 6761 §6.4)."""
TASK_HEADER: Final = "x-warex-task"
_MARKER: Final = "/task/"
_END: Final = "/end"
_LONGEST: Final = 200
_MAX_PARALLEL: Final = 10_000
"""Tasks that may run at the same time: a client that names ever new ones fills no memory."""

_BROWSER_HEADERS: Final = (
    "origin",
    "referer",
    "sec-fetch-site",
    "upgrade-insecure-requests",
    "sec-ch-ua",
)
"""What a browser sends, and what a program that asks for the marker does not."""


@dataclass(slots=True)
class Task:
    """What is known of a task while it runs."""

    name: str
    """Empty until somebody tells of a task, and after its end."""
    injector: "Injector"
    llm_calls: "LlmCalls"
    armed: bool = False
    """Whether the trace says that it is."""


@dataclass(slots=True)
class Tasks:
    """The tasks that run: the one that is told for all, and those that run beside it."""

    main: Task
    parallel: dict[str, Task] = field(default_factory=dict)

    def named(self, name: str) -> Task | None:
        """Return the task of a name, if it runs."""
        return self.main if name == self.main.name else self.parallel.get(name)

    def all(self) -> tuple[Task, ...]:
        """Return every task that runs."""
        return (self.main, *self.parallel.values())

    def begin(self, name: str) -> None:
        """Let a task be the one of all that names no other."""
        self.parallel.pop(name, None)
        self.main.name = name

    def begin_parallel(self, name: str, seed: int) -> Task | None:
        """Begin a task that runs beside the others; None where there are too many."""
        if len(self.parallel) >= _MAX_PARALLEL:
            return None
        injector = self.main.injector.for_concurrent_task(seed)
        task = Task(
            name, injector, self.main.llm_calls.for_parallel_task(injector), armed=injector.armed
        )
        self.parallel[name] = task
        return task


@dataclass(frozen=True, slots=True)
class MarkerReply:
    """What a request to WAREX's own host asks for."""

    status: int
    text: str
    """What it is answered."""
    begin: str | None = None
    """The task that begins."""
    ends: bool = False
    """Whether the task ends."""


def read_marker(request: Request) -> MarkerReply:
    """Read a request to ``TASK_HOST``."""
    if request.is_preflight or (sign := browser_header(request.headers)) is not None:
        told_by = "a preflight" if request.is_preflight else f"its {sign}"
        return MarkerReply(
            403,
            f"a browser asks ({told_by}), and a page must not move the tasks; ask from the program"
            " that runs them",
        )
    path = request.parts.path
    if path == _END:
        return MarkerReply(200, "the task has ended", ends=True)
    if not path.startswith(_MARKER):
        return MarkerReply(404, f"there is nothing at {path}; ask for {_MARKER}NAME or {_END}")
    name = task_name(unquote(path.removeprefix(_MARKER)))
    if name is None:
        return MarkerReply(400, _flaw())
    return MarkerReply(200, f"task {name} has begun", begin=name)


def browser_header(headers: Mapping[str, str]) -> str | None:
    """Return the header by which one knows that a browser asks; None where none does.

    A page can leave out ``Referer``, and over plain HTTP no browser sends Fetch Metadata; the name
    of the browser is always there.
    """
    if headers.get("user-agent", "").startswith(BROWSER):
        return "User-Agent"
    return next((name for name in _BROWSER_HEADERS if name in headers), None)


def task_name(text: str) -> str | None:
    """Return a task's name as the trace has it; None for what can be none."""
    name = text.strip()
    return name if 0 < len(name) <= _LONGEST and name.isprintable() else None


def _flaw() -> str:
    return f"a task's name is 1 to {_LONGEST} printable characters; write {_MARKER}NAME"


def user_name(authorization: str | None) -> str | None:
    """Return the task that a proxy's user name tells of (Basic, RFC 7617); None if it does not."""
    scheme, _, credentials = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        pair = b64decode(credentials.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    return task_name(unquote(pair.partition(":")[0]))


def may_begin_task(request: Request, resource: str) -> bool:
    """Whether a request may begin the task that its header names.

    The script of a page may put any header on what it asks for, but not on a navigation.
    """
    return browser_header(request.headers) is None or resource == "document"


def seed_of(seed: int, name: str) -> int:
    """Return the seed of a task: the same name under the same seed meets the same faults."""
    return derive_seed(seed, name)
