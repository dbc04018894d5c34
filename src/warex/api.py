"""WAREX from Python: a proxy with a scenario for the duration of a ``with`` block.

    with warex.intercept("paper/server-error", seed=1) as proxy:
        browser = playwright.chromium.launch(**proxy.playwright)
        …
        assert [injection.state for injection in proxy.ledger] == ["delivered"]

``async with`` takes the same object. The proxy is a separate process: neither form needs an event
loop, and both work inside a running one.
"""

import asyncio
import atexit
import logging
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import msgspec
from pydantic import JsonValue, ValidationError
from pydantic_core import to_jsonable_python

from warex.errors import InputError, MachineError, ScenarioError, TrialVoid, WarexError
from warex.extras import install_package
from warex.lane.config import ProxyConfig
from warex.lane.record.injections import Injection as Injection
from warex.lane.record.injections import injections_of
from warex.lane.tasks import TASK_NAME, task_name
from warex.llm.defences import Defence, find_defence
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.proxy.process.client import Proxy, ProxyEpisode, start_proxy
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.chromium import QUIET_FLAGS, spki_flag
from warex.sandbox.env_mode.ca_bundle import combined_bundles, write_wgetrc
from warex.sandbox.env_mode.prepare import browser_flags
from warex.sandbox.environment import proxied_environment
from warex.scenarios import Scenario
from warex.scenarios.load import load_scenario
from warex.scenarios.mistakes import format_errors, validate_document
from warex.scenarios.paper_config import is_paper_config, read_paper_config
from warex.text.arguments import checks_arguments, made_by, read_path, read_texts
from warex.text.english import did_you_mean
from warex.traces import (
    EVENTS,
    Event,
    LlmCall,
    RequestSeen,
    Trace,
    Unscored,
    leave_outcome,
    read_trace,
)
from warex.traces.manifest import require_no_run
from warex.traffic import OptionError, TrafficKeywords, TrafficOptions, read_origin

if TYPE_CHECKING:
    from playwright.sync_api import ProxySettings
    from selenium.webdriver import ChromeOptions

_LOG = logging.getLogger("warex")

_OWN_OPTIONS = ("scenario", "seed", "out", "sites", "defence")
"""Options of ``intercept`` beside those about traffic."""

type AnyScenario = str | os.PathLike[str] | Scenario | Mapping[str, object]
"""A preset's name or a file, a Scenario, or a scenario as a dict."""


class PlaywrightLaunch(TypedDict):
    """Keywords of Playwright's ``chromium.launch``."""

    proxy: "ProxySettings"
    args: list[str]


@made_by("entering the block of warex.intercept(…)")
class Interception:
    """A running proxy and its records, which can still be read after it ends."""

    def __init__(
        self,
        proxy: Proxy | ProxyEpisode,
        ca: CertificateAuthority,
        scratch: Path,
        out: Path,
        notices: list[str],
    ) -> None:
        self._proxy = proxy
        self._ca = ca
        self._scratch = scratch
        self._ended = False
        self.out = out
        """Folder of the trial's events.jsonl; deleted with this object unless ``out`` is given."""
        self.notices = notices
        """Messages of the proxy, which the logger ``warex`` also receives."""
        weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)

    @property
    def url(self) -> str:
        """The proxy's URL."""
        return self._proxy.url

    @property
    def ca(self) -> Path:
        """The CA certificate that clients must trust, PEM."""
        return self._ca.certificate

    @cached_property
    def bundle(self) -> Path:
        """The system's trusted certificates and WAREX's CA in one PEM file."""
        return self._ca.bundle(self._scratch / "bundle.pem")

    @property
    def env(self) -> dict[str, str]:
        """This process's environment, changed so that programs use the proxy."""
        behind = proxied_environment(os.environ, self.url, self._ca, self.bundle, self._own_bundles)
        wget = write_wgetrc(os.environ, self.url, self.bundle, self._scratch)
        return {**behind.variables, "WGETRC": str(wget)}

    @property
    def playwright(self) -> PlaywrightLaunch:
        """Keywords for Playwright's ``chromium.launch``, sync or async."""
        return {
            # Loopback is proxied too: a page on localhost is a site like any other.
            "proxy": {"server": self.url, "bypass": "<-loopback>"},
            "args": [*QUIET_FLAGS, spki_flag(self._ca)],
        }

    @property
    def selenium_options(self) -> "ChromeOptions":
        """Options for ``webdriver.Chrome(options=…)``. Raises MachineError without Selenium."""
        try:
            from selenium.webdriver import ChromeOptions
        except ImportError:
            raise MachineError(
                "Selenium is not installed, so there are no options for it:"
                f" {install_package('selenium')}"
            ) from None
        options = ChromeOptions()
        for argument in browser_flags(self.url, self._ca):
            options.add_argument(argument)
        return options

    @property
    def ledger(self) -> list[Injection]:
        """The injections so far, in planning order."""
        if self._ended:
            return injections_of(entry.event for entry in self.trace.entries)
        ledger = self._proxy.call("GET", "/ledger")
        return injections_of(msgspec.convert(event, Event.__value__) for event in ledger)

    @property
    def requests(self) -> list[RequestSeen]:
        """The requests so far."""
        return list(self.trace.events(RequestSeen))

    @property
    def llm_calls(self) -> list[LlmCall]:
        """The agent's calls to its model so far."""
        return list(self.trace.events(LlmCall))

    @property
    def trace(self) -> Trace:
        """All events so far, read from the file at each access."""
        if not self._ended:
            # The answer arrives after all events that were pending are written.
            self._proxy.call("GET", "/status")
        return read_trace(self.out / EVENTS)

    @property
    def broken(self) -> str | None:
        """Why this trial is void, or None; leaving the block raises TrialVoid with it."""
        return self._proxy.broken

    @checks_arguments
    def arm(self) -> None:
        """Start to inject and count."""
        self._call("arm()", "/arm")

    @checks_arguments
    def disarm(self) -> None:
        """Stop injecting and counting."""
        self._call("disarm()", "/disarm")

    @checks_arguments
    def plan(
        self,
        fault: Mapping[str, object],
        match: Mapping[str, object] | None = None,
        *,
        name: str | None = None,
    ) -> None:
        """Apply one fault to the next exchange that matches.

        Both are written as in a scenario: ``plan({"kind": "http_error"}, {"url": "*/cart"})``.
        """
        for what, argument in (("fault", fault), ("match", match or {})):
            if not isinstance(argument, Mapping):
                raise InputError(
                    f"plan(…): the {what} {argument!r} is not a dict; write it as in a scenario,"
                    ' such as plan({"kind": "http_error"}, {"url": "*/cart"})'
                )
        body: dict[str, object] = {"fault": dict(fault), "match": dict(match or {})}
        if name is not None:
            body["name"] = name
        self._call("plan(…)", "/faults", _json("the fault", body))

    @checks_arguments
    @contextmanager
    def task(self, name: str, *, seed: int | None = None) -> Iterator[None]:
        """Reset every rule with the task's seed; after the block no request is hit."""
        if not isinstance(name, str) or task_name(name) is None:
            raise InputError(f"task({name!a}): a task's name is {TASK_NAME}")
        body: dict[str, JsonValue] = {"task": name}
        self._call("task(…)", "/task/begin", body if seed is None else {**body, "seed": seed})
        try:
            yield
        finally:
            # A proxy that ended must not hide an exception of the block.
            with suppress(TrialVoid):
                self._proxy.call("POST", "/task/end", {})

    @checks_arguments
    def episode(
        self,
        name: str,
        scenario: AnyScenario | None = None,
        *,
        seed: int | None = None,
        intensity: float | None = None,
        sites: str | Sequence[str] = (),
        maps: str | Sequence[str] = (),
        out: str | os.PathLike[str] | None = None,
    ) -> "Interceptor":
        """Return a context manager, sync and async, that runs a further trial in this process.

        It has a port, a scenario, a seed and a trace of its own; clients of this proxy that name it
        as their user, or in the header ``X-Warex-Task``, are its, too. ``intensity`` multiplies the
        size of its faults; ``maps`` are added to this proxy's; ``out`` is a folder beside this
        trace by default. Leaving the block raises TrialVoid if the episode broke.
        """
        loaded = read_scenario(scenario)
        body: dict[str, object] = {"task": name, "port": 0}
        body["scenario"] = None if loaded is None else loaded.model_dump(mode="json")
        wanted = {
            "seed": seed,
            "intensity": intensity,
            "sites": list(_origins(sites)) or None,
            "maps": list(read_texts(maps)) or None,
            "out": None if out is None else str(read_path("episode(…, out=", out).absolute()),
        }
        body |= {key: value for key, value in wanted.items() if value is not None}
        return Interceptor(lambda: self._running_episode(name, _json("the episode", body)))

    @contextmanager
    def _running_episode(self, name: str, body: JsonValue) -> Iterator["Interception"]:
        scratch = _scratch()
        begun = self._call("episode(…)", "/task/begin", body)
        episode = ProxyEpisode(self._proxy, name, begun["port"])
        out = Path(begun["trace"])
        trial = Interception(episode, self._ca, scratch, out, self.notices)
        with _ending(trial, episode.end):
            yield trial

    def _call(self, what: str, path: str, body: JsonValue = None) -> Any:
        if self._ended:
            raise InputError(
                f"{what}: this interception has ended; call it inside its with block. The ledger"
                " and the trace can still be read"
            )
        return self._proxy.call("POST", path, body)

    @cached_property
    def _own_bundles(self) -> dict[str, Path]:
        return combined_bundles(os.environ, self._ca, self._scratch)


@made_by("warex.intercept(…)")
class Interceptor:
    """Starts the proxy when its ``with`` or ``async with`` block is entered; used once."""

    def __init__(self, begin: Callable[[], AbstractContextManager[Interception]]) -> None:
        if not callable(begin):
            raise InputError(f"Interceptor({begin!r}): call warex.intercept({begin!r}) instead")
        self._begin = begin
        self._running: AbstractContextManager[Interception] | None = None

    def __enter__(self) -> Interception:
        if self._running is not None:
            raise InputError(
                "this interception was started before: call warex.intercept(…) for each block"
            )
        self._running = self._begin()
        return self._running.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._running is not None:
            self._running.__exit__(kind, value, traceback)

    async def __aenter__(self) -> Interception:
        entering = asyncio.ensure_future(asyncio.to_thread(self.__enter__))
        try:
            return await asyncio.shield(entering)
        except asyncio.CancelledError:
            # The thread cannot be cancelled: wait until the proxy has started, then stop it.
            with suppress(WarexError):
                await entering
                await asyncio.to_thread(self.__exit__, None, None, None)
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, value, traceback)


@checks_arguments
def intercept(
    scenario: AnyScenario | None = None,
    *,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    sites: str | Sequence[str] = (),
    defence: str | Defence | None = None,
    **traffic: Unpack[TrafficKeywords],
) -> Interceptor:
    """Return a context manager, sync and async, that runs a proxy with a scenario.

    ``scenario`` is a preset's name, a file, a Scenario, a dict, or None for no faults.
    ``defence`` is a catalogue name, a text file, or a Defence.
    ``out`` keeps the trace and must not contain one. The others are the options of ``warex proxy``:
    ``maps`` (or a dict of origins to targets), ``upstream``, ``insecure``, ``record``,
    ``pass_through``, ``llm_hosts``, ``capture_tokens``, ``arm``.

    Raises InputError for invalid arguments, and on entry MachineError if the machine lacks
    something. Leaving the block raises TrialVoid if the proxy broke, unless another exception is
    propagating: a broken proxy must not look like an agent that met no faults.
    """
    options: Mapping[str, object] = traffic
    require_known("intercept(…, {}=…)", options)
    try:
        config = ProxyConfig(
            ca=Path(),
            scenario=read_scenario(scenario),
            seed=seed,
            sites=_origins(sites),
            traffic=TrafficOptions().extended(**traffic),
            defence=find_defence(defence) if isinstance(defence, str) else defence,
        )
    except OptionError as error:
        raise InputError(
            f"intercept(…, {error.option}={options[error.option]!r}): {error.why}"
        ) from None
    except ValidationError as error:
        details = error.errors()[0]
        name = next(step for step in details["loc"] if step != "traffic")
        message = details["msg"].removeprefix("Value error, ")
        raise InputError(f"intercept(…, {name}={details['input']!r}): {message}") from None
    folder = None if out is None else read_path("intercept(…, out=", out)
    if folder is not None:
        require_no_run(folder)
    return Interceptor(lambda: _running(config, folder))


def require_known(where: str, names: Iterable[str], *more: str) -> None:
    """Raise InputError if ``intercept`` has no such option; ``more``: others that the caller has.

    ``where`` is how the caller was given it, with a place for its name.
    """
    known = (*_OWN_OPTIONS, *(option.name for option in fields(TrafficOptions)), *more)
    for name in names:
        if name not in known:
            near = did_you_mean(name, known) or f"; there are {', '.join(sorted(known))}"
            raise InputError(f"{where.format(name)}: there is no option {name!r}{near}")


def read_scenario(scenario: AnyScenario | None) -> Scenario | None:
    """Return a scenario in any of its forms, checked. Raises ScenarioError if it is not valid."""
    match scenario:
        case None | Scenario():
            return scenario
        case str() | os.PathLike():
            return load_scenario(scenario)
        case Mapping():
            return _written(scenario)
    raise ScenarioError(
        f"intercept({scenario!r}): a scenario is a preset's name, a file, a Scenario, a dict,"
        " or None"
    )


def _written(document: Mapping[str, object]) -> Scenario:
    where = "the scenario given as a dict"
    data = _json(where, document)
    if is_paper_config(data):
        return read_paper_config(data, Path(where))
    made, mistakes = validate_document(Scenario, {"name": "intercept", **data})
    if made is None:
        raise ScenarioError(format_errors(where, mistakes))
    return made


def _json(what: str, value: Mapping[str, object]) -> dict[str, JsonValue]:
    """Return data as JSON would hold it: tuples as lists, faults as dicts."""
    try:
        return to_jsonable_python(dict(value))  # type: ignore[no-any-return]
    except ValueError as error:
        raise InputError(f"{what} cannot be written as JSON: {error}") from None


def _origins(sites: str | Sequence[str]) -> tuple[str, ...]:
    try:
        return tuple(map(read_origin, read_texts(sites)))
    except ValueError as error:
        raise InputError(f"intercept(…, sites=…): {error}") from None


def _scratch() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="warex-"))
    except OSError as error:
        raise MachineError(
            f"there is no place for temporary files: {error.strerror}; set TMPDIR to a folder that"
            " can be written"
        ) from None


@contextmanager
def _running(config: ProxyConfig, out: Path | None) -> Iterator[Interception]:
    ca, scratch = ensure_ca(), _scratch()
    folder = out or scratch / "trial"
    config = config.model_copy(update={"ca": ca.folder, "out": folder.absolute()})
    notices: list[str] = []

    def notify(sentence: str) -> None:
        notices.append(sentence)
        _LOG.warning("%s", sentence)

    with ExitStack() as stack:
        try:
            proxy = stack.enter_context(start_proxy(_forkserver(), config, notify))
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise

        def end() -> None:
            stack.close()
            leave_outcome(config.out, proxy.broken, Unscored())

        with _ending(Interception(proxy, ca, scratch, folder, notices), end) as interception:
            yield interception


@contextmanager
def _ending(interception: Interception, end: Callable[[], None]) -> Iterator[Interception]:
    """End a trial after a block, and raise TrialVoid if it is void."""
    try:
        try:
            yield interception
        finally:
            try:
                end()
            finally:
                interception._ended = True
    except BaseException as error:
        if interception.broken is not None and not isinstance(error, TrialVoid):
            error.add_note(f"the trial is also void: {interception.broken}")
        raise
    if interception.broken is not None:
        raise TrialVoid(f"the trial is void: {interception.broken}")


_lock = threading.Lock()
_forkservers: dict[int, Forkserver] = {}


def _forkserver() -> Forkserver:
    """Return this process's forkserver, kept between blocks because its start takes a second."""
    with _lock:
        # Keyed by process: a fork must not use its parent's channel.
        mine = _forkservers.get(os.getpid())
        if mine is None:
            mine = _forkservers[os.getpid()] = Forkserver()
            atexit.register(mine.close)
        return mine
