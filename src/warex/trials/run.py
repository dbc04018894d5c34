"""Runs one attempt of one trial: the task's world, the proxy, the canary, the agent, the judgement.

What goes wrong on our side voids the trial, at whatever point: a void says nothing about the agent
and is run again. What the agent does badly counts.
"""

import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_hex
from typing import Protocol
from urllib.parse import urlsplit

from warex.benchmarks import AGENT_LOG, AgentSpec, Benchmark, Command, Job, Result, Stage
from warex.benchmarks.outside import ended_by
from warex.errors import InputError, MachineError, ProcessDied, TraceError, TrialVoid
from warex.llm.defences import Defence
from warex.private import make_private, private_folder
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.config import LlmCachePlace, ProxyConfig
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.canary import fetch_canary
from warex.sandbox.command import Finished, run_command
from warex.sandbox.environment import Environment, without_proxy
from warex.sandbox.isolation import Capture, Isolation, behind
from warex.scenarios import Arm, Scenario, Schedule
from warex.traces import (
    CRASHED_BEFORE_A_FAULT,
    EVENTS,
    Counted,
    FaultDelivered,
    LlmCall,
    Outcome,
    Trace,
    TrialKey,
    Unscored,
    Void,
    cannot_write,
    drop_answers,
    read_trace,
    redact_file,
    secrets_of,
    share_answers,
    shared_answers,
    write_outcome,
)
from warex.traffic import TrafficOptions, origin_of
from warex.trials.addresses import (
    AGENT_ENDED,
    ended_at,
    hosts_of,
    in_place_of,
    loopback_ports,
)
from warex.trials.defended import require_the_defence
from warex.trials.model import HOST, ScriptedModel
from warex.trials.own_proof import own_proof, require_own_proof
from warex.trials.pages import require_a_model, require_pages
from warex.trials.playbook import PLAYBOOK, Playbook, played

NO_KEY = "no-key-is-set"
"""Stands for an API key where a client insists on one and none is set."""


@dataclass(frozen=True, slots=True)
class TrialSpec:
    """One trial, as planned."""

    key: TrialKey
    agent: AgentSpec
    seed: int
    scenario: Scenario | None = None
    proxied: bool = True
    arm: Arm | None = None
    """None: the benchmark decides."""
    schedule: Schedule | None = None
    """A past ledger's places, to be hit exactly."""
    replay_of: str | None = None
    playbook: Playbook | None = None
    """By whose rules the agent's model is played."""
    defence: Defence | None = None
    """What is added to the agent's LLM requests in flight."""
    cached: bool = False
    """Whether the model's earlier answers to the same agent, task and repeat may be given again;
    never for the A/A control, which must ask anew."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What the trials of a campaign share."""

    benchmark: Benchmark
    forkserver: Forkserver
    ca: CertificateAuthority
    chromium: Path
    isolation: Isolation = "environment"
    """How the agents are put behind the proxy."""
    timeout_s: float = 300.0
    model: ScriptedModel | None = None
    """The embedded model, if a trial names it."""
    model_port: int | None = None
    """Port of what plays a trial's model, if WAREX plays it."""
    traffic: TrafficOptions = field(default_factory=TrafficOptions)
    """Its ``arm`` overrides the scenario's and the benchmark's, not a replay's."""
    llm_cache: Path | None = None
    """Folder of the run's LLM cache, made by ``begin_llm_cache``; None keeps none."""
    stop: threading.Event = field(default_factory=threading.Event)
    """Set to end the running trials; they leave no outcome."""
    base_environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


class Interrupted(Exception):
    """The trial was stopped from outside; it has no outcome and is run again."""


def run_trial(spec: TrialSpec, attempt: int, folder: Path, setting: Setting) -> Outcome:
    """Run one attempt in a folder of its own and write how it came out, last.

    Where a process of ours is ended from outside, the attempt is void. Raises MachineError where
    the machine lacks something, InputError where the configuration cannot work or the folder holds
    an attempt, Interrupted where it was stopped.
    """
    try:
        private_folder(folder)
    except OSError as error:
        raise cannot_write(folder, error) from None
    if any(folder.iterdir()):
        raise InputError(f"{folder} holds an attempt already; each needs a folder of its own")
    try:
        with ended_by(setting.stop.is_set):
            outcome = _run(spec, attempt, folder, setting)
    except TrialVoid as void:
        outcome = Void(reason=str(void), died=isinstance(void, ProcessDied))
    finally:
        make_private(folder)
    if setting.stop.is_set():
        raise Interrupted
    shared = _shared_answers(spec, setting)
    if shared is not None and isinstance(outcome, Void):
        drop_answers(folder)
    elif shared is not None:
        share_answers(folder, shared)
    write_outcome(folder, outcome)
    return outcome


def _shared_answers(spec: TrialSpec, setting: Setting) -> Path | None:
    """Return where the answers lie that this trial shares, if it may share any."""
    if setting.llm_cache is None or not (spec.cached and spec.proxied):
        return None
    return shared_answers(setting.llm_cache, spec.key)


def _run(spec: TrialSpec, attempt: int, folder: Path, setting: Setting) -> Outcome:
    stages = setting.benchmark.stage(spec.key.task, folder, setting.ca, direct=not spec.proxied)
    with stages as stage, _with_its_model(spec, setting) as setting:
        if spec.proxied:
            return _run_behind(spec, attempt, stage, folder, setting)
        environment = without_proxy(setting.base_environment, setting.ca, stage.direct_hosts)
        finished = _let_the_agent_work(
            spec, folder, setting, stage, environment, _directly, setting.stop.is_set
        )
        result = setting.benchmark.read(spec.key.task, stage, folder, finished.code)
        result = setting.benchmark.judged(spec.key.task, folder, result, None)
        return _outcome(result, finished)


@contextmanager
def _with_its_model(spec: TrialSpec, setting: Setting) -> Iterator[Setting]:
    """Play the trial's own playbook, if it has one: no other trial moves its place."""
    if spec.playbook is None:
        if setting.model is None or not spec.agent.embedded:
            yield setting
            return
        with setting.model.lend() as port:
            yield replace(setting, model_port=port)
        return
    with (
        tempfile.TemporaryDirectory(prefix="warex-playbook-") as scratch,
        played(spec.playbook, Path(scratch)) as port,
    ):
        yield replace(setting, model_port=port)


def _run_behind(
    spec: TrialSpec, attempt: int, stage: Stage, folder: Path, setting: Setting
) -> Outcome:
    # A nonce of the trial's own: no page can say in the harness's place that the agent has ended.
    ended = token_hex(16)

    def configure(capture: Capture) -> ProxyConfig:
        return _proxy_config(spec, attempt, folder, stage, setting, capture, ended)

    with behind(
        setting.isolation,
        setting.forkserver,
        configure,
        setting.ca,
        setting.base_environment,
        host_ports=_host_ports(spec, stage, setting),
    ) as place:
        proxy = place.proxy

        def died() -> ProcessDied | None:
            # Who ends the guard may have ended processes of the agent's, too.
            return place.died() or place.unguarded

        def stop() -> bool:
            # What follows a break of ours says nothing, so nobody need wait for it.
            return setting.stop.is_set() or proxy.broken is not None or died() is not None

        void = result = finished = reached = None
        try:
            if not own_proof(setting):
                fetch_canary(setting.chromium, place, stop)
            variables = {**place.environment.variables, AGENT_ENDED: ended_at(ended)}
            environment = replace(place.environment, variables=variables)
            finished = _let_the_agent_work(
                spec, folder, setting, stage, environment, place.run, stop
            )
            result = setting.benchmark.read(spec.key.task, stage, folder, finished.code)
            # An agent that opened no page at all went past nothing.
            reached = setting.benchmark.reached(stage)
        except TrialVoid as error:
            void = error
        # Whoever was ended takes others along, whose words say less.
        void = died() or void
    # Only now is it known whether the proxy held to its end; its own word says more.
    if proxy.broken is not None and not isinstance(void, ProcessDied):
        raise (ProcessDied if proxy.died else TrialVoid)(proxy.broken)
    if void is not None or finished is None or result is None:
        raise void or TrialVoid("the trial ended before its agent began")
    trace = _trace(folder)
    result = setting.benchmark.judged(spec.key.task, folder, result, trace)
    outcome = _outcome(result, finished, trace.events(FaultDelivered), trace.events(LlmCall))
    if own_proof(setting):
        require_own_proof(trace, setting.benchmark.sites(spec.key.task), reached)
    require_pages(
        trace,
        setting.benchmark.sites(spec.key.task),
        setting.benchmark.verifiers,
        reached=reached,
        isolation=setting.isolation,
    )
    require_a_model(trace)
    require_the_defence(trace, spec.defence, outcome, _llm_hosts(spec, setting))
    return outcome


def _host_ports(spec: TrialSpec, stage: Stage, setting: Setting) -> frozenset[int]:
    """Return the ports of this machine's loopback that the agent or its browser goes to."""
    benchmark, task = setting.benchmark, spec.key.task
    endpoints = benchmark.endpoints(_named(spec.agent, benchmark))
    named = (*benchmark.sites(task), *endpoints, spec.agent.base_url or "")
    told = loopback_ports(named, benchmark.told(task), setting.base_environment)
    return frozenset(stage.host_ports) | told


def _proxy_config(
    spec: TrialSpec,
    attempt: int,
    folder: Path,
    stage: Stage,
    setting: Setting,
    capture: Capture,
    ended: str,
) -> ProxyConfig:
    benchmark, key = setting.benchmark, spec.key
    traffic = setting.traffic
    maps = [*stage.maps, *traffic.maps]
    if setting.model_port is not None:
        maps.append(f"http://{HOST}=http://127.0.0.1:{setting.model_port}")
    arm = spec.arm or traffic.arm
    if arm is None and spec.scenario is not None:
        arm = benchmark.arm(spec.scenario, key.task)
    base_url = _base_url(spec.agent, setting, proxied=True)
    endpoints = benchmark.endpoints(_named(spec.agent, benchmark))
    if base_url is not None:
        maps += in_place_of(endpoints, _served_at(base_url, setting))
    return ProxyConfig(
        capture=capture,
        ca=setting.ca.folder,
        out=folder,
        scenario=spec.scenario,
        seed=spec.seed,
        sites=benchmark.sites(key.task),
        never=benchmark.never(key.task),
        never_agents=benchmark.verifiers,
        agent_ended=ended,
        own_proof=own_proof(setting),
        schedule=spec.schedule,
        defence=spec.defence,
        llm_cache=_cache_place(spec, setting),
        secrets=secrets_of({**setting.base_environment, **benchmark.variables}),
        traffic=replace(traffic, maps=tuple(maps), llm_hosts=_llm_hosts(spec, setting), arm=arm),
        vocabulary=benchmark.vocabulary_of(key.task),
        benchmark=key.benchmark,
        agent=key.agent,
        condition=key.condition,
        task=key.task,
        repeat=key.repeat,
        attempt=attempt,
        replay_of=spec.replay_of,
    )


def _cache_place(spec: TrialSpec, setting: Setting) -> LlmCachePlace | None:
    shared, cache = _shared_answers(spec, setting), setting.llm_cache
    return LlmCachePlace(cache=cache, shared=shared) if cache and shared else None


def _llm_hosts(spec: TrialSpec, setting: Setting) -> tuple[str, ...]:
    """Return the hosts of the agent's model beside the well-known ones."""
    base_url = _base_url(spec.agent, setting, proxied=True)
    endpoints = setting.benchmark.endpoints(_named(spec.agent, setting.benchmark))
    return (*setting.traffic.llm_hosts, *hosts_of(base_url or "", *endpoints))


def _served_at(base_url: str, setting: Setting) -> str:
    """Return the origin behind a base URL, which may be the embedded model's name."""
    embedded = setting.model_port is not None and urlsplit(base_url).hostname == HOST
    return f"http://127.0.0.1:{setting.model_port}" if embedded else origin_of(base_url)


def _base_url(agent: AgentSpec, setting: Setting, *, proxied: bool) -> str | None:
    if not agent.embedded:
        return agent.base_url
    if setting.model_port is None:
        raise MachineError(f"the model {agent.model!r} is embedded, but it does not run")
    # Behind the proxy by name: loopback itself stays direct, and nothing would be recorded.
    return f"http://{HOST}/v1" if proxied else f"http://127.0.0.1:{setting.model_port}/v1"


class _Run(Protocol):
    """Runs the agent's command in its place."""

    def __call__(
        self,
        arguments: Sequence[str],
        log: Path,
        *,
        variables: Mapping[str, str],
        timeout_s: float,
        stop: Callable[[], bool],
        cwd: Path | None,
    ) -> Finished:
        """Run it until it ends, its time is up or ``stop`` says so."""


def _directly(
    arguments: Sequence[str],
    log: Path,
    *,
    variables: Mapping[str, str],
    timeout_s: float,
    stop: Callable[[], bool],
    cwd: Path | None,
) -> Finished:
    return run_command(arguments, variables, log, timeout_s=timeout_s, stop=stop, cwd=cwd)


def _let_the_agent_work(
    spec: TrialSpec,
    folder: Path,
    setting: Setting,
    stage: Stage,
    environment: Environment,
    run: _Run,
    stop: Callable[[], bool],
) -> Finished:
    with tempfile.TemporaryDirectory(prefix="warex-job-", ignore_cleanup_errors=True) as scratch:
        job = Job(
            spec.key.task,
            _told(spec, setting),
            folder,
            Path(scratch),
            spec.seed,
            setting.chromium,
            environment.browser_arguments,
            spec.proxied,
        )
        command = setting.benchmark.command(job, stage)
        variables = _variables(environment, command, setting.benchmark)
        try:
            return run(
                command.arguments,
                folder / AGENT_LOG,
                variables=variables,
                timeout_s=setting.timeout_s,
                stop=stop,
                cwd=command.cwd,
            )
        finally:
            # Before the benchmark reads them: what it quotes stands in the outcome.
            secrets = secrets_of(variables)
            patterns = (AGENT_LOG, *setting.benchmark.records)
            # The trace is still being written, and was redacted before.
            left = {path for each in patterns for path in folder.glob(each)} - {folder / EVENTS}
            for path in sorted(left):
                redact_file(path, secrets)


def _told(spec: TrialSpec, setting: Setting) -> AgentSpec:
    """Return the agent with the name and the address of its model as the harness is told them."""
    base_url = _base_url(spec.agent, setting, proxied=spec.proxied)
    return replace(_named(spec.agent, setting.benchmark), base_url=base_url)


def _named(agent: AgentSpec, benchmark: Benchmark) -> AgentSpec:
    """Return the agent with its model's name as the harness is told it."""
    if agent.model.startswith(PLAYBOOK):
        return replace(agent, model=benchmark.embedded_model)
    return agent


def _variables(environment: Environment, command: Command, benchmark: Benchmark) -> dict[str, str]:
    """Return all variables of the command; a key that nobody set gets a placeholder."""
    keys = dict.fromkeys(benchmark.key_variables, NO_KEY)
    return {**keys, **environment.variables, **command.variables}


def _outcome(
    result: Result,
    finished: Finished,
    delivered: Iterable[FaultDelivered] = (),
    calls: Iterable[LlmCall] = (),
) -> Counted | Unscored:
    """Say how the attempt came out.

    Raises TrialVoid where the harness failed before any fault was delivered, or the model without
    being hit, which is then no fault's doing and says nothing about the agent.
    """
    hit = {fault.exchange for fault in delivered}
    model_was_hit = any(call.exchange in hit for call in calls)
    if result.unusable is not None:
        if result.ending != "model_error" or not model_was_hit:
            raise TrialVoid(result.unusable)
        result = replace(result, score=0.0, reasons=(result.unusable,))
    if result.ending == "harness_crashed" and not hit:
        raise TrialVoid(f"{CRASHED_BEFORE_A_FAULT}: {'; '.join(result.reasons)}")
    latency = round(finished.seconds, 3)
    # Whatever its benchmark makes of it: a trial that the fault broke off did nothing.
    score = 0.0 if result.ending == "harness_crashed" else result.score
    if score is None:
        return Unscored(ending=result.ending, latency_s=latency)
    return Counted(
        ending=result.ending,
        score=score,
        latency_s=latency,
        answer=result.answer,
        reasons=result.reasons,
    )


def _trace(folder: Path) -> Trace:
    try:
        return read_trace(folder / EVENTS)
    except TraceError as error:
        raise TrialVoid(str(error)) from None
