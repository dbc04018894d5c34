"""What a trial is, and what all trials of a run share."""

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
from warex.traces import (
    TrialKey,
)
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
class TrialContext:
    """What the trials of a campaign share."""

    benchmark: Benchmark
    forkserver: Forkserver
    ca: CertificateAuthority
    chromium: Path
    isolation: Isolation = "environment"
    """How the agents are put behind the proxy."""
    timeout_s: float = 300.0
    model: ScriptedModelProcess | None = None
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
