"""Builds a proxy's configuration from traffic options."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warex.errors import InputError
from warex.proxy.process.unvalidated_config import UnvalidatedConfig
from warex.traffic import Capture, TrafficOptions

if TYPE_CHECKING:
    from warex.lane.config import ProxyConfig
    from warex.proxy.certificates.ca import CertificateAuthority


def build_proxy_config(
    ca: "CertificateAuthority",
    *,
    scenario: str | None,
    seed: int,
    replay: Path | None,
    sites: tuple[str, ...],
    defence: str | None,
    traffic: TrafficOptions,
    vocabulary: str | None = None,
    tasks: str | None = None,
    **others: Any,
) -> "ProxyConfig":
    """Load what the options name; pass ``others`` on. Raises InputError that names the option."""
    from warex.cli.trial_path import find_trace
    from warex.lane.config import ProxyConfig
    from warex.llm.defences import find_defence
    from warex.scenarios.load import load_scenario
    from warex.scenarios.task_detection import TaskRule

    past = None
    if replay is not None:
        from warex.scenarios.injection.replay import read_replay

        if scenario is not None:
            raise InputError("--replay brings its own scenario; leave --scenario out")
        past = read_replay(find_trace(replay))
        traffic = replace(traffic, arm=past.arm)
    words = None
    if vocabulary is not None:
        from warex.benchmarks.vocabularies import find_vocabulary

        words = find_vocabulary(vocabulary)
    return ProxyConfig(
        ca=ca.folder,
        scenario=past.scenario if past else None if scenario is None else load_scenario(scenario),
        seed=past.seed if past else seed,
        sites=sites or (past.sites if past else ()),
        never=past.never if past else (),
        schedule=past.schedule if past else None,
        traffic=traffic,
        defence=find_defence(defence) if defence else past.defence if past else None,
        vocabulary=words,
        tasks=None if tasks is None else TaskRule.parse(tasks),
        replay_of=None if replay is None else str(replay),
        **others,
    )


def ineffective_rules(scenario: str | None, sites: tuple[str, ...]) -> tuple[str, ...]:
    """Return sentences on rules that can never hit anything, or nothing on the given sites."""
    if not scenario:
        return ()
    from warex.scenarios.lint.linter import rules_without_effect
    from warex.scenarios.load import load_scenario

    return rules_without_effect(load_scenario(scenario), sites)


def unvalidated_config(
    ca: "CertificateAuthority",
    *,
    capture: Capture,
    out: Path | None,
    replay: None,
    defence: None,
    vocabulary: None,
    tasks: None,
    traffic: TrafficOptions,
    **others: Any,
) -> UnvalidatedConfig:
    """Return a configuration of already valid options, without importing pydantic."""
    values = {
        "ca": str(ca.folder),
        "out": None if out is None else str(out),
        "traffic": asdict(traffic),
        **{name: value for name, value in others.items() if value is not None},
    }
    return UnvalidatedConfig(capture, values)
