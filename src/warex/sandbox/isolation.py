"""Puts commands behind a proxy of their own, in the way that this machine allows.

``namespace``: a network of its own, whose every connection leads to the proxy. ``environment``:
variables and flags that programs heed. ``none``: the proxy runs, and whoever wants to may use it.
"""

import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, Protocol

from warex.errors import InputError, MachineError, ProcessDied, WarexError, retry_if_process_died
from warex.sandbox.cleanup.process_tree import ProcessTree
from warex.sandbox.cleanup.reaper import Reaper, start_reaper
from warex.sandbox.direct import start_direct
from warex.sandbox.env_mode.browser_shims import STARTED_FILE
from warex.sandbox.job_control import signals_blocked

if TYPE_CHECKING:
    from warex.proxy.certificates.ca import CertificateAuthority
    from warex.proxy.process.client import Proxy
    from warex.proxy.process.forkserver import Forkserver
    from warex.proxy.process.unvalidated_config import ConfigLike
    from warex.proxy.transparent.passed_sockets import PassedSockets
    from warex.sandbox.command import CompletedCommand
    from warex.sandbox.environment import Environment
    from warex.sandbox.namespace.launcher import Namespace

_BROWSER_NAMES = frozenset({"chrome", "chromium", "headless_shell", "chrome-headless", "firefox"})
"""Names of browsers as the kernel keeps them, of at most 15 letters."""

WAREX_VARIABLES = ("WAREX_PROXY", "WAREX_CA_CERT", "WAREX_CA_BUNDLE")
"""Variables by which a command without isolation is told where the proxy is, and whom to trust."""

type Isolation = Literal["namespace", "environment", "none"]
type RequestedIsolation = Isolation | Literal["auto"]
type Capture = Literal["forward", "handed"]


class Child(Protocol):
    """A command that was started."""

    @property
    def pid(self) -> int:
        """Its process id, as this process sees it."""

    def wait(self) -> int:
        """Wait for its end; return its exit code, negative for a signal."""

    def signal(self, number: int) -> None:
        """Send it a signal; nothing if it has ended."""


@dataclass(frozen=True, slots=True)
class ProxyCallbacks:
    """Whom a proxy tells what happens while it runs; both are called from another thread."""

    on_notice: Callable[[str], None] = lambda sentence: None
    """What the user should know."""
    on_end: Callable[[], None] = lambda: None
    """The proxy has ended, by itself or not."""


@dataclass(slots=True)
class Sandbox:
    """A proxy, and a way to run commands behind it, one after the other or side by side."""

    isolation: Isolation
    environment: "Environment"
    """What commands are started with, unless told otherwise."""
    _serving: "Future[Proxy]"
    _go: threading.Event
    """Set when the proxy may start: nothing is to keep a command from starting."""
    _namespace: "Namespace | None" = None
    _guard: Reaper | None = None
    _process_trees: list[ProcessTree] = field(default_factory=list)

    @property
    def scratch(self) -> Path | None:
        """Folder of what was made for the command; None where all lies in its namespace."""
        return None if self._guard is None else self._guard.scratch

    @property
    def proxy(self) -> "Proxy":
        """The proxy, once it serves; in a namespace, commands may start before and wait for it.

        Raises InputError or MachineError where it could not start, in its own words.
        """
        self._go.set()
        return self._serving.result()

    def is_serving(self) -> bool:
        """Whether the proxy serves, or could not be started, by now."""
        return self._serving.done()

    def failure(self) -> WarexError | None:
        """Return why the proxy could not start, if that is known by now."""
        if not self._serving.done():
            return None
        found = self._serving.exception()
        return found if isinstance(found, WarexError) else None

    def broken(self) -> str | None:
        """Return why the trial is void, if it is by now."""
        if not self._serving.done() or self._serving.exception() is not None:
            return None
        return self._serving.result().broken

    def died(self) -> ProcessDied | None:
        """Return what was ended of what holds commands behind the proxy, if anything was."""
        return None if self._namespace is None else self._namespace.died()

    def loopback_messages(self, *, over: bool = False) -> Iterator[str]:
        """Give what there is to say by now of the loopback of a namespace, each sentence once.

        ``over``: the commands have ended. To be called several times a second while they run.
        """
        if self._namespace is not None:
            yield from self._namespace.loopback.poll(over=over)

    def own_services(self) -> str | None:
        """Return what to say of services that the commands started in their own network."""
        return None if self._namespace is None else self._namespace.loopback.own_services()

    @property
    def reaper_died(self) -> ProcessDied | None:
        """How the guard was ended, if it was; another one has taken its place."""
        return None if self._guard is None else self._guard.died

    def start(
        self,
        arguments: Sequence[str],
        *,
        mask: set[int] | None = None,
    ) -> Child:
        """Start a command with this process's own streams.

        ``mask`` are the signals that it holds back, outside of a namespace. All that it starts ends
        with the block, also if WAREX is killed. Raises MachineError where it cannot be started.
        """
        family = ProcessTree()
        marked = family.marked(self.environment.variables)
        self._watch(family)
        try:
            if self._namespace is None:
                return start_direct(arguments, marked, mask=mask)
            return self._namespace.start(
                arguments, marked, stdin=0, stdout=1, stderr=2, pass_fds=_inheritable_fds()
            )
        finally:
            self._go.set()

    def run(
        self,
        arguments: Sequence[str],
        log: Path,
        *,
        variables: Mapping[str, str] | None = None,
        timeout_s: float,
        stop: Callable[[], bool] | None = None,
        cwd: Path | None = None,
    ) -> "CompletedCommand":
        """Run a command with its words in a file, until it ends, its time is up or ``stop``.

        All that it has started is ended with it. Raises MachineError as ``run_command`` does, and
        what the proxy could not start for.
        """
        from warex.sandbox.command import run_command

        # A trial's time begins when all is ready: a name that is asked for waits some seconds only.
        _ = self.proxy
        return run_command(
            arguments,
            self.environment.variables if variables is None else variables,
            log,
            timeout_s=timeout_s,
            stop=stop,
            cwd=cwd,
            start=None if self._namespace is None else self._start_logged,
            watch=self._watch,
        )

    def programs(self) -> set[str]:
        """Return the names of what runs now."""
        return {name for family in self._process_trees for name in family.programs()}

    def browsers(self, programs: Collection[str]) -> set[str]:
        """Return which of these programs are browsers, and whether a shim has started one."""
        found = {name for name in programs if name in _BROWSER_NAMES}
        if not found and self.scratch is not None and (self.scratch / STARTED_FILE).exists():
            found.add("Chromium")
        return found

    def end(self) -> None:
        """End all commands, and what they have started."""
        for family in self._process_trees:
            family.end()

    def _watch(self, family: ProcessTree) -> None:
        self._process_trees.append(family)
        if self._guard is not None:
            self._guard.watch_processes(family)

    def _start_logged(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        output: IO[bytes],
        cwd: Path | None,
    ) -> Child:
        if self._namespace is None:
            raise MachineError("there is no namespace")
        with open("/dev/null", "rb") as nothing:
            return self._namespace.start(
                arguments,
                environment,
                stdin=nothing.fileno(),
                stdout=output.fileno(),
                stderr=output.fileno(),
                cwd=cwd,
            )


def available_isolation(
    wish: RequestedIsolation, ca: "CertificateAuthority"
) -> tuple[Isolation, str | None]:
    """Return the way in which this machine puts commands behind the proxy.

    Beside it, for ``auto``, why it is not the namespace. Raises MachineError, with the remedy,
    where a namespace is asked for and cannot be made.
    """
    if wish == "environment" or wish == "none":
        return wish, None
    from warex.sandbox.namespace.launcher import open_namespace

    def tried() -> None:
        with open_namespace(ca):
            pass

    try:
        retry_if_process_died(tried)
    except ProcessDied:
        raise  # That says nothing of what this machine allows.
    except MachineError as error:
        if wish == "namespace":
            raise
        return "environment", f"without a namespace, by environment variables: {error}"
    return "namespace", None


@contextmanager
def open_sandbox(
    wish: RequestedIsolation,
    forkserver: "Forkserver",
    configure: Callable[[Capture], "ConfigLike"],
    ca: "CertificateAuthority",
    base: Mapping[str, str],
    *,
    host_ports: Collection[int] = (),
    own_session: bool = True,
    check: Callable[[], None] | None = None,
    told: ProxyCallbacks | None = None,
) -> Iterator[Sandbox]:
    """Give a proxy and a way to run commands behind it; nothing is left of them at the end.

    ``configure`` is called when it is known how connections come, while the namespace is being
    made. Where ``check`` is given, that is called in its place, and the proxy is configured and
    started after the first command: what then goes wrong, ``proxy`` tells. ``base`` is the
    environment that commands would have without WAREX, and ``host_ports`` are ports of this
    machine's loopback that they need. ``own_session``: whether commands leave this process's
    session, and so its terminal.

    Raises InputError or MachineError; of the proxy's own failures, in a namespace, ``proxy`` tells.
    """
    told = told or ProxyCallbacks()
    with ExitStack() as stack:
        namespace = refused = None
        if wish in ("namespace", "auto"):
            try:
                namespace = _entered(stack, configure, check, ca, host_ports, own_session)
            except MachineError as error:
                if wish == "namespace" or isinstance(error, ProcessDied):
                    raise
                refused = str(error)
                told.on_notice(f"without a namespace, by environment variables: {error}")
        if namespace is not None:
            space, ready = namespace
            for sentence in space.notices:
                told.on_notice(sentence)
            go = threading.Event()
            if check is None:
                go.set()
            serving = stack.enter_context(_serving(forkserver, ready, told, go, space.passed))
            yield Sandbox("namespace", space.environment(base), serving, go, space)
            return
        isolation: Isolation = "none" if wish == "none" else "environment"
        try:
            config = configure("forward")
            guard = stack.enter_context(start_reaper())
            go = threading.Event()
            go.set()
            serving = stack.enter_context(_serving(forkserver, lambda: config, told, go))
            proxy = serving.result()
        except InputError as error:
            if refused is None:
                raise
            # It may be that nothing but the namespace is missing.
            raise type(error)(f"{error}. But {refused}") from None
        environment = _environment_for(isolation, base, proxy, ca, guard)
        yield Sandbox(isolation, environment, serving, go, None, guard)


def _entered(
    stack: ExitStack,
    configure: Callable[[Capture], "ConfigLike"],
    check: Callable[[], None] | None,
    ca: "CertificateAuthority",
    host_ports: Collection[int],
    own_session: bool,
) -> "tuple[Namespace, Callable[[], ConfigLike]]":
    """Make the namespace; make the configuration at the same time, or check what it is made of."""
    from warex.sandbox.namespace.launcher import open_namespace

    with ExitStack() as inner:
        manager = open_namespace(ca, host_ports=host_ports, own_session=own_session)
        making = inner.enter_context(_entered_in_thread(lambda: manager))
        config = None
        if check is None:
            config = configure("handed")
        else:
            check()
        space = making.result()
        stack.push(inner.pop_all())
        return space, lambda: config or configure("handed")


def _inheritable_fds() -> list[int]:
    """Return the handles that the caller passes on; those of this process are its own alone."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        # The listing's own is closed again by now.
        with suppress(OSError):
            if (handle := int(name)) > 2 and os.get_inheritable(handle):
                found.append(handle)
    return found


@contextmanager
def _serving(
    forkserver: "Forkserver",
    configured: Callable[[], "ConfigLike"],
    told: ProxyCallbacks,
    go: threading.Event,
    passed: "PassedSockets | None" = None,
) -> "Iterator[Future[Proxy]]":
    """Start the proxy as soon as it may; end it."""

    def start() -> "AbstractContextManager[Proxy]":
        go.wait()
        from warex.proxy.process.client import start_proxy

        return start_proxy(forkserver, configured(), told.on_notice, told.on_end, passed)

    with _entered_in_thread(start) as serving:
        try:
            yield serving
        finally:
            go.set()


@contextmanager
def _entered_in_thread[T](make: Callable[[], AbstractContextManager[T]]) -> "Iterator[Future[T]]":
    """Enter a context in a thread of its own; leave it at the end, if it was entered."""
    entered: Future[T] = Future()
    made: list[AbstractContextManager[T]] = []

    def enter() -> None:
        try:
            made.append(make())
            entered.set_result(made[0].__enter__())
        except BaseException as error:  # noqa: BLE001 - for whoever asks for the result
            entered.set_exception(error)

    thread = threading.Thread(target=enter, name="entering", daemon=True)
    with signals_blocked():
        thread.start()
    try:
        yield entered
    finally:
        thread.join()
        if entered.exception() is None:
            made[0].__exit__(None, None, None)


def _environment_for(
    isolation: Isolation,
    base: Mapping[str, str],
    proxy: "Proxy",
    ca: "CertificateAuthority",
    guard: Reaper,
) -> "Environment":
    from warex.sandbox.environment import Environment

    if isolation == "environment":
        from warex.sandbox.env_mode.prepare import prepare_environment

        return prepare_environment(base, proxy.url, ca, guard)
    bundle = ca.bundle(guard.scratch / "bundle.pem")
    told = (proxy.url, str(ca.certificate), str(bundle))
    return Environment({**base, **dict(zip(WAREX_VARIABLES, told, strict=True))})
