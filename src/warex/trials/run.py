"""Runs one attempt of one trial: the task's world, the proxy, the canary, the agent, the judgement.

What goes wrong on our side voids the trial, at whatever point: a void says nothing about the agent
and is run again. What the agent does badly counts.
"""

import os
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from warex.benchmarks import AgentSpec, Benchmark, Result, Stage
from warex.errors import MachineError, TraceError, TrialVoid
from warex.proxy.ca import CertificateAuthority
from warex.proxy.config import HostMap, ProxyConfig
from warex.proxy.forkserver import Forkserver
from warex.proxy.lane import Proxy, started
from warex.sandbox.canary import fetch_canary
from warex.sandbox.command import Finished, run_command
from warex.sandbox.environment import Environment, behind_proxy, without_proxy
from warex.scenarios import Arm, Scenario, Schedule
from warex.traces import (
    EVENTS,
    Counted,
    FaultDelivered,
    LlmCall,
    Outcome,
    RequestSeen,
    Trace,
    TrialKey,
    Void,
    read_trace,
    write_outcome,
)
from warex.trials.model import HOST, PREFIX


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


@dataclass(frozen=True, slots=True)
class Setting:
    """What the trials of a campaign share."""

    benchmark: Benchmark
    forkserver: Forkserver
    ca: CertificateAuthority
    chromium: Path
    timeout_s: float = 300.0
    model_port: int | None = None
    """Port of the embedded scripted model, if it runs."""
    record: str = "all"
    insecure: bool = False
    upstream: str | None = None
    maps: tuple[str, ...] = ()
    pass_through: tuple[str, ...] = ()
    stop: threading.Event = field(default_factory=threading.Event)
    """Set to end the running trials; they leave no outcome."""
    base_environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


class Interrupted(Exception):
    """The trial was stopped from outside; it has no outcome and is run again."""


def run_trial(spec: TrialSpec, attempt: int, folder: Path, setting: Setting) -> Outcome:
    """Run one attempt in its folder and write how it came out, last.

    Raises MachineError where the machine lacks something, InputError where the configuration cannot
    work, Interrupted where it was stopped.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        outcome = _run(spec, attempt, folder, setting)
    except TrialVoid as void:
        outcome = Void(reason=str(void))
    if setting.stop.is_set():
        raise Interrupted
    write_outcome(folder, outcome)
    return outcome


def _run(spec: TrialSpec, attempt: int, folder: Path, setting: Setting) -> Outcome:
    benchmark, task = setting.benchmark, spec.key.task
    with (
        tempfile.TemporaryDirectory(prefix="warex-trial-") as scratch,
        benchmark.stage(task, folder, direct=not spec.proxied) as stage,
    ):
        if not spec.proxied:
            environment = without_proxy(setting.base_environment, setting.ca, stage.direct_hosts)
            finished = _let_the_agent_work(spec, folder, setting, environment)
            return _judge(spec, stage, folder, setting, finished, None)
        config = _proxy_config(spec, attempt, folder, stage, setting)
        with started(setting.forkserver, config) as proxy:
            bundle = setting.ca.bundle(Path(scratch) / "bundle.pem")
            environment = behind_proxy(setting.base_environment, proxy.url, setting.ca, bundle)
            fetch_canary(setting.chromium, environment)
            finished = _let_the_agent_work(spec, folder, setting, environment)
            result = benchmark.read(task, stage, folder, finished.code)
        return _outcome(spec, folder, result, finished, proxy)


def _proxy_config(
    spec: TrialSpec, attempt: int, folder: Path, stage: Stage, setting: Setting
) -> ProxyConfig:
    benchmark, key = setting.benchmark, spec.key
    maps = [*stage.maps, *setting.maps]
    if setting.model_port is not None:
        maps.append(f"http://{HOST}=http://127.0.0.1:{setting.model_port}")
    arm = spec.arm
    if arm is None and spec.scenario is not None:
        arm = benchmark.arm(spec.scenario)
    base_url = _base_url(spec.agent, setting, proxied=True)
    return ProxyConfig(
        ca=setting.ca.folder,
        out=folder,
        scenario=spec.scenario,
        seed=spec.seed,
        arm=arm,
        sites=benchmark.sites(key.task),
        schedule=spec.schedule,
        record="concerned" if setting.record == "concerned" else "all",
        pass_through=setting.pass_through,
        llm_hosts=(urlsplit(base_url).hostname or "",) if base_url else (),
        maps=tuple(map(HostMap.parse, maps)),
        upstream=setting.upstream,
        insecure=setting.insecure,
        vocabulary=benchmark.vocabulary,
        benchmark=key.benchmark,
        agent=key.agent,
        condition=key.condition,
        task=key.task,
        repeat=key.repeat,
        attempt=attempt,
        replay_of=spec.replay_of,
    )


def _base_url(agent: AgentSpec, setting: Setting, *, proxied: bool) -> str | None:
    if not agent.model.startswith(PREFIX):
        return agent.base_url
    if setting.model_port is None:
        raise MachineError(f"the model {agent.model!r} is embedded, but it does not run")
    # Behind the proxy by name: loopback itself stays direct, and nothing would be recorded.
    return f"http://{HOST}/v1" if proxied else f"http://127.0.0.1:{setting.model_port}/v1"


def _let_the_agent_work(
    spec: TrialSpec, folder: Path, setting: Setting, environment: Environment
) -> Finished:
    base_url = _base_url(spec.agent, setting, proxied=spec.proxied)
    command = setting.benchmark.command(
        spec.key.task,
        replace(spec.agent, base_url=base_url),
        folder,
        browser=setting.chromium,
        browser_arguments=environment.browser_arguments,
    )
    return run_command(
        command,
        environment.variables,
        folder / "agent.log",
        timeout_s=setting.timeout_s,
        stop=setting.stop,
    )


def _judge(
    spec: TrialSpec,
    stage: Stage,
    folder: Path,
    setting: Setting,
    finished: Finished,
    proxy: Proxy | None,
) -> Outcome:
    result = setting.benchmark.read(spec.key.task, stage, folder, finished.code)
    return _outcome(spec, folder, result, finished, proxy)


def _outcome(
    spec: TrialSpec, folder: Path, result: Result, finished: Finished, proxy: Proxy | None
) -> Outcome:
    """Say how the attempt came out: void where our side or the harness failed, else counted."""
    trace = None
    if proxy is not None:
        if proxy.broken is not None:
            raise TrialVoid(proxy.broken)
        try:
            trace = read_trace(folder / EVENTS)
        except TraceError as error:
            raise TrialVoid(str(error)) from None
    if result.unusable is not None:
        raise TrialVoid(result.unusable)
    if trace is not None and _bypassed(trace):
        raise TrialVoid(
            "bypassed: the agent called its model through the proxy, but no page of its browser"
            " came through"
        )
    if result.ending == "harness_crashed" and not (trace and any(trace.events(FaultDelivered))):
        why = " ".join(result.reasons)
        raise TrialVoid(f"the harness crashed before any fault was delivered: {why}")
    return Counted(
        ending=result.ending,
        score=result.score,
        latency_s=round(finished.seconds, 3),
        answer=result.answer,
        reasons=result.reasons,
    )


def _bypassed(trace: Trace) -> bool:
    calls = {event.exchange for event in trace.events(LlmCall)}
    pages = {event.exchange for event in trace.events(RequestSeen)} - calls
    return bool(calls) and not pages
