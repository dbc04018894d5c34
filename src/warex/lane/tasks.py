"""The tasks of one trial, and how clients name them.

A marker, a detection rule and the control API set the main task, to which all later exchanges
belong. A header and a proxy user name set the task of one request or connection, so that several
tasks can run concurrently, each with its own rules, counts and steps.
"""

import binascii
from base64 import b64decode
from collections.abc import Mapping
from typing import Final, Protocol, Self
from urllib.parse import unquote

from msgspec import Struct, field

from warex.exchange import BROWSER, Request
from warex.scenarios import Injector

TASK_HEADER: Final = "x-warex-task"
_MARKER: Final = "/task/"
_END: Final = "/end"
_LONGEST: Final = 200
TASK_NAME: Final = f"1 to {_LONGEST} printable characters"
"""What a task's name is, in words."""
_MAX_PARALLEL: Final = 10_000
"""Concurrent tasks at most, to limit the memory that a client can use."""

_BROWSER_HEADERS: Final = (
    "origin",
    "referer",
    "sec-fetch-site",
    "upgrade-insecure-requests",
    "sec-ch-ua",
)
"""Headers that browsers send and other programs do not."""


class TaskCalls(Protocol):
    """The calls of a task to its model."""

    def begin_task(self) -> None:
        """Forget the previous task."""

    def for_parallel_task(self, injector: Injector) -> Self:
        """Return the calls of a concurrent task."""
        ...


class Task[C: TaskCalls](Struct):
    """A running task."""

    name: str
    """Empty before the first task begins and after a task ends."""
    injector: Injector
    llm_calls: C
    armed: bool = False
    """Whether the trace has its ``armed`` event."""


class Tasks[C: TaskCalls](Struct):
    """The running tasks: the main one, and the concurrent ones by name."""

    main: Task[C]
    parallel: dict[str, Task[C]] = field(default_factory=dict)

    def named(self, name: str) -> Task[C] | None:
        """Return the running task of a name, if any."""
        return self.main if name == self.main.name else self.parallel.get(name)

    def all(self) -> tuple[Task[C], ...]:
        """Return all running tasks."""
        return (self.main, *self.parallel.values())

    def begin(self, name: str) -> None:
        """Set the name of the main task."""
        self.parallel.pop(name, None)
        self.main.name = name

    def begin_parallel(self, name: str, seed: int) -> Task[C] | None:
        """Begin a concurrent task; return None if there are too many."""
        if len(self.parallel) >= _MAX_PARALLEL:
            return None
        injector = self.main.injector.for_concurrent_task(seed)
        calls = self.main.llm_calls.for_parallel_task(injector)
        task = Task(name, injector, calls, armed=injector.arming.armed)
        self.parallel[name] = task
        return task


class MarkerReply(Struct, frozen=True):
    """The response to a request to WAREX's own host, and its effect."""

    status: int
    text: str
    begin: str | None = None
    """The task that begins."""
    ends: bool = False
    """Whether the task ends."""


def read_marker(request: Request) -> MarkerReply:
    """Read a request to WAREX's own host."""
    if request.is_preflight or (sign := browser_header(request.headers)) is not None:
        sign = "a preflight" if request.is_preflight else f"its {sign}"
        return MarkerReply(
            403,
            f"a browser asks ({sign}), and a page must not move the tasks; ask from the program"
            " that runs them",
        )
    path = request.parts.path
    if path == _END:
        return MarkerReply(200, "the task has ended", ends=True)
    if not path.startswith(_MARKER):
        return MarkerReply(404, f"there is nothing at {path}; ask for {_MARKER}NAME or {_END}")
    name = task_name(unquote(path.removeprefix(_MARKER)))
    if name is None:
        return MarkerReply(400, f"a task's name is {TASK_NAME}; write {_MARKER}NAME")
    return MarkerReply(200, f"task {name} has begun", begin=name)


def browser_header(headers: Mapping[str, str]) -> str | None:
    """Return the header that shows that a browser sent the request; None if there is none.

    A page can omit ``Referer``, and over plain HTTP browsers send no Fetch Metadata, but they
    always send ``User-Agent``.
    """
    if headers.get("user-agent", "").startswith(BROWSER):
        return "User-Agent"
    return next((name for name in _BROWSER_HEADERS if name in headers), None)


def task_name(text: str) -> str | None:
    """Return a task's name as in the trace; None if it is invalid."""
    name = text.strip()
    return name if 0 < len(name) <= _LONGEST and name.isprintable() else None


def user_name(authorization: str | None) -> str | None:
    """Return the task that a proxy user name names (Basic, RFC 7617); None if it names none."""
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

    A page's script may set any header on its own requests, but not on a navigation.
    """
    return browser_header(request.headers) is None or resource == "document"
