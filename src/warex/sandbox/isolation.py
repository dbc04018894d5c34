"""Runs commands behind a proxy of their own, in the way that this machine allows.

``namespace``: a network namespace whose connections all lead to the proxy. ``environment``:
variables and browser flags that name the proxy. ``none``: the proxy runs; its use is optional.
"""

import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from warex.errors import InputError, MachineError, ProcessDied, WarexError, retry_if_process_died
from warex.sandbox.cleanup.process_tree import ProcessTree
from warex.sandbox.cleanup.reaper import Reaper, start_reaper
from warex.sandbox.direct import DirectProcess, start_direct
from warex.sandbox.env_mode.browser_shims import STARTED_FILE
from warex.sandbox.job_control import signals_blocked
from warex.traffic import Capture

if TYPE_CHECKING:
    from warex.proxy.certificates.ca import CertificateAuthority
    from warex.proxy.process.client import Proxy
    from warex.proxy.process.forkserver import Forkserver
    from warex.proxy.process.unvalidated_config import ConfigLike
    from warex.proxy.transparent.passed_sockets import PassedSockets
    from warex.sandbox.command import CompletedCommand
    from warex.sandbox.environment import Environment
    from warex.sandbox.namespace.early_lookups import EarlyLookups
    from warex.sandbox.namespace.launcher import Namespace, NamespaceProcess

_BROWSER_NAMES = frozenset({"chrome", "chromium", "headless_shell", "chrome-headless", "firefox"})
"""Process names of browsers (comm, at most 15 characters)."""

WAREX_VARIABLES = ("WAREX_PROXY", "WAREX_CA_CERT", "WAREX_CA_BUNDLE")
"""Variables that give a command without isolation the proxy's URL, the CA and the bundle."""

type Isolation = Literal["namespace", "environment", "none"]
type RequestedIsolation = Isolation | Literal["auto"]
type Child = DirectProcess | NamespaceProcess


@dataclass(frozen=True, slots=True)
class ProxyCallbacks:
    """Callbacks of a running proxy; both are called from another thread."""

    on_notice: Callable[[str], None] = lambda sentence: None
    """Called with each notice for the user."""
    on_end: Callable[[], None] = lambda: None
    """Called when the proxy has ended, for whatever reason."""


@dataclass(slots=True)
class Sandbox:
    """A proxy and a way to run commands behind it, also several at once."""

    isolation: Isolation
    environment: "Environment"
    """The commands' default environment."""
    _serving: "Future[Proxy]"
    _go: threading.Event
    """Set when the proxy may start."""
    _namespace: "Namespace | None" = None
    _early: "EarlyLookups | None" = None
    _reaper: Reaper | None = None
    _process_trees: list[ProcessTree] = field(default_factory=list)

    @property
    def scratch(self) -> Path | None:
        """Scratch folder of the command; None in a namespace."""
        return None if self._reaper is None else self._reaper.scratch

    def wait_for_proxy(self) -> None:
        """Wait until the proxy serves; raise what kept it from starting."""
        self._go.set()
        self._serving.result()

    @property
    def proxy(self) -> "Proxy":
        """The proxy, once it serves; in a namespace, commands may start earlier.

        Raises InputError or MachineError if it could not start.
        """
        self._go.set()
        return self._serving.result()

    def is_serving(self) -> bool:
        """Return whether the proxy serves or has failed to start."""
        return self._serving.done()

    def needs_proxy(self) -> bool:
        """Return whether the proxy serves, has failed to start, or was asked for before."""
        return self.is_serving() or (self._early is not None and self._early.were_asked())

    def failure(self) -> WarexError | None:
        """Return why the proxy could not start, if that is known."""
        if not self._serving.done():
            return None
        error = self._serving.exception()
        return error if isinstance(error, WarexError) else None

    def broken(self) -> str | None:
        """Return why the trial is void, if it is."""
        if not self._serving.done() or self._serving.exception() is not None:
            return None
        return self._serving.result().broken

    def died(self) -> ProcessDied | None:
        """Return the error if the namespace has ended."""
        return None if self._namespace is None else self._namespace.died()

    def loopback_messages(self, *, over: bool = False) -> Iterator[str]:
        """Yield new notices about the namespace's loopback, each once.

        Call it several times a second while commands run, and with ``over`` after they have ended.
        """
        if self._namespace is not None:
            yield from self._namespace.loopback.poll(over=over)

    def refused_ports(self) -> tuple[int, ...]:
        """Return the ports of this machine's loopback that the commands were refused."""
        return () if self._namespace is None else self._namespace.loopback.refused_ports()

    def own_services(self) -> str | None:
        """Return a notice about services that the commands started in the namespace, or None."""
        return None if self._namespace is None else self._namespace.loopback.own_services()

    @property
    def reaper_died(self) -> ProcessDied | None:
        """How the reaper was ended, if it was; it has been restarted."""
        return None if self._reaper is None else self._reaper.died

    def start(self, arguments: Sequence[str], *, mask: set[int] | None = None) -> Child:
        """Start a command with this process's streams.

        ``mask``: the signals that it blocks, outside a namespace. Its process tree ends with the
        sandbox, also if WAREX is killed. Raises MachineError if it cannot be started.
        """
        process_tree = ProcessTree()
        marked = process_tree.marked(self.environment.variables)
        self._watch(process_tree)
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
        """Run a command whose output goes to a file until it ends, times out or ``stop()`` is true.

        Its process tree ends with it. Raises MachineError as ``run_command`` does, and the proxy's
        start error.
        """
        from warex.sandbox.command import run_command

        # The time limit begins when all is ready.
        self.wait_for_proxy()
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
        """Return the names of the running programs."""
        return {name for process_tree in self._process_trees for name in process_tree.programs()}

    def browsers(self, programs: Collection[str]) -> set[str]:
        """Return which of these programs are browsers, and "Chromium" if a shim started one."""
        browsers = {name for name in programs if name in _BROWSER_NAMES}
        if not browsers and self.scratch is not None and (self.scratch / STARTED_FILE).exists():
            browsers.add("Chromium")
        return browsers

    def end(self) -> None:
        """End the process trees of all commands."""
        for process_tree in self._process_trees:
            process_tree.end()

    def _watch(self, process_tree: ProcessTree) -> None:
        self._process_trees.append(process_tree)
        if self._reaper is not None:
            self._reaper.watch_processes(process_tree)

    def _start_logged(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        output: IO[bytes],
        cwd: Path | None,
    ) -> "NamespaceProcess":
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
    requested: RequestedIsolation, ca: "CertificateAuthority"
) -> tuple[Isolation, str | None]:
    """Return the isolation that this machine allows and, for ``auto``, why it is not a namespace.

    Raises MachineError, with the remedy, if a namespace is requested and cannot be made.
    """
    if requested == "environment" or requested == "none":
        return requested, None
    from warex.sandbox.namespace.launcher import open_namespace

    def tried() -> None:
        with open_namespace(ca):
            pass

    try:
        retry_if_process_died(tried)
    except ProcessDied:
        raise  # This does not show what the machine allows.
    except MachineError as error:
        if requested == "namespace":
            raise
        return "environment", f"without a namespace, by environment variables: {error}"
    return "namespace", None


@contextmanager
def open_sandbox(
    requested: RequestedIsolation,
    forkserver: "Forkserver",
    configure: Callable[[Capture], "ConfigLike"],
    ca: "CertificateAuthority",
    base: Mapping[str, str],
    *,
    host_ports: Collection[int] = (),
    own_session: bool = True,
    check: Callable[[], None] | None = None,
    callbacks: ProxyCallbacks | None = None,
) -> Iterator[Sandbox]:
    """Yield a proxy with a way to run commands behind it; clean up at the end.

    ``configure`` is called while the namespace is being made. If ``check`` is given, it is called
    instead, and the proxy is configured and started after the first command. ``base`` is the
    environment without WAREX, and ``host_ports`` are ports of this machine's loopback that the
    commands need. ``own_session``: whether commands leave this process's session and terminal.

    Raises InputError or MachineError; in a namespace, ``Sandbox.proxy`` raises the proxy's errors.
    """
    from warex.sandbox.namespace.early_lookups import answered_early

    callbacks = callbacks or ProxyCallbacks()
    with ExitStack() as stack:
        namespace = refused = None
        if requested in ("namespace", "auto"):
            try:
                namespace = _entered(stack, configure, check, ca, host_ports, own_session)
            except MachineError as error:
                if requested == "namespace" or isinstance(error, ProcessDied):
                    raise
                refused = str(error)
                callbacks.on_notice(f"without a namespace, by environment variables: {error}")
        go = threading.Event()
        if namespace is None or check is None:
            go.set()
        if namespace is not None:
            space, ready = namespace
            for sentence in space.notices:
                callbacks.on_notice(sentence)
            early = stack.enter_context(answered_early(space.passed))
            serving = stack.enter_context(_serving(forkserver, ready, callbacks, go, space.passed))
            serving.add_done_callback(lambda _: early.served())
            yield Sandbox("namespace", space.environment(base), serving, go, space, early)
            return
        isolation: Isolation = "none" if requested == "none" else "environment"
        try:
            config = configure("forward")
            reaper = stack.enter_context(start_reaper())
            serving = stack.enter_context(_serving(forkserver, lambda: config, callbacks, go))
            proxy = serving.result()
        except InputError as error:
            if refused is None:
                raise
            # The failed namespace may be the actual cause.
            raise type(error)(f"{error}. But {refused}") from None
        environment = _environment_for(isolation, base, proxy, ca, reaper)
        yield Sandbox(isolation, environment, serving, go, _reaper=reaper)


def _entered(
    stack: ExitStack,
    configure: Callable[[Capture], "ConfigLike"],
    check: Callable[[], None] | None,
    ca: "CertificateAuthority",
    host_ports: Collection[int],
    own_session: bool,
) -> "tuple[Namespace, Callable[[], ConfigLike]]":
    """Make the namespace and, at the same time, the configuration or its check."""
    from warex.sandbox.namespace.launcher import open_namespace

    with ExitStack() as inner:
        manager = open_namespace(ca, host_ports=host_ports, own_session=own_session)
        making = inner.enter_context(_entered_in_thread(lambda: manager))
        config = None
        if check is None:
            config = configure("namespace")
        else:
            check()
        space = making.result()
        stack.push(inner.pop_all())
        return space, lambda: config or configure("namespace")


def _inheritable_fds() -> list[int]:
    """Return the inheritable file descriptors above 2."""
    handles = []
    for name in os.listdir("/proc/self/fd"):
        # The descriptor of the listing itself is already closed.
        with suppress(OSError):
            if (handle := int(name)) > 2 and os.get_inheritable(handle):
                handles.append(handle)
    return handles


@contextmanager
def _serving(
    forkserver: "Forkserver",
    configured: Callable[[], "ConfigLike"],
    callbacks: ProxyCallbacks,
    go: threading.Event,
    passed: "PassedSockets | None" = None,
) -> "Iterator[Future[Proxy]]":
    """Start the proxy once ``go`` is set; end it with the block."""

    def start() -> "AbstractContextManager[Proxy]":
        go.wait()
        from warex.proxy.process.client import start_proxy

        return start_proxy(forkserver, configured(), callbacks.on_notice, callbacks.on_end, passed)

    with _entered_in_thread(start) as serving:
        try:
            yield serving
        finally:
            go.set()


@contextmanager
def _entered_in_thread[T](make: Callable[[], AbstractContextManager[T]]) -> "Iterator[Future[T]]":
    """Enter a context in a thread; exit it at the end, if it was entered."""
    entered: Future[T] = Future()
    made: list[AbstractContextManager[T]] = []

    def enter() -> None:
        try:
            made.append(make())
            entered.set_result(made[0].__enter__())
        except BaseException as error:  # noqa: BLE001 - raised by ``result``
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
    reaper: Reaper,
) -> "Environment":
    from warex.sandbox.environment import Environment

    if isolation == "environment":
        from warex.sandbox.env_mode.prepare import prepare_environment

        return prepare_environment(base, proxy.url, ca, reaper)
    bundle = ca.bundle(reaper.scratch / "bundle.pem")
    values = (proxy.url, str(ca.certificate), str(bundle))
    return Environment({**base, **dict(zip(WAREX_VARIABLES, values, strict=True))})
