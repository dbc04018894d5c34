"""A trial's specification, and the context that all trials of a run share."""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from warex.benchmarks import AgentSpec, Benchmark
from warex.llm.defences import Defence
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.isolation import Isolation
from warex.scenarios import Arm, InjectionSchedule, Scenario
from warex.traces import TrialKey
from warex.traffic import TrafficOptions
from warex.trials.playbook import Playbook
from warex.trials.scripted_model import ScriptedModelProcess


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
    schedule: InjectionSchedule | None = None
    """The injections of a past ledger, to be repeated exactly."""
    replay_of: str | None = None
    playbook: Playbook | None = None
    """The rules by which the agent's model is played."""
    defence: Defence | None = None
    """Defence applied to the agent's LLM requests."""
    cached: bool = False
    """Whether cached answers to the same agent, task and repeat may be used; not for the A/A
    control."""


@dataclass(frozen=True, slots=True)
class TrialContext:
    """The shared settings and processes of a campaign's trials."""

    benchmark: Benchmark
    forkserver: Forkserver
    ca: CertificateAuthority
    chromium: Path
    isolation: Isolation = "environment"
    """How the agents run behind the proxy."""
    timeout_s: float = 300.0
    model: ScriptedModelProcess | None = None
    """The embedded model, if a trial names it."""
    model_port: int | None = None
    """Port of the program that plays a trial's model, if any."""
    traffic: TrafficOptions = field(default_factory=TrafficOptions)
    """``arm`` overrides the scenario's and the benchmark's, not a replay's."""
    llm_cache: Path | None = None
    """Folder of the run's LLM cache, made by ``begin_llm_cache``; None keeps none."""
    redaction_key: str = field(default="", repr=False)
    """In hex: the key of the hashes in the run's traces; empty for one of each trial's own."""
    stop: threading.Event = field(default_factory=threading.Event)
    """Set to end the running trials; they leave no outcome."""
    base_environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
