"""The options of every command with a proxy, and the configuration that they come to."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warex.errors import InputError
from warex.proxy.process.unvalidated_config import UnvalidatedConfig
from warex.traffic import Capture, TrafficOptions

if TYPE_CHECKING:
    from warex.lane.config import ProxyConfig
    from warex.proxy.certificates.ca import CertificateAuthority

_PRESETS = Path(__file__).parents[2] / "scenarios" / "presets"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyOptions:
    """The options as given; what a text names is loaded when the configuration is built."""

    scenario: str | None = None
    seed: int = 1
    sites: tuple[str, ...] = ()
    out: Path | None = None
    verbose: bool = False
    replay: Path | None = None
    defence: str | None = None
    vocabulary: str | None = None
    tasks: str | None = None
    traffic: TrafficOptions = field(default_factory=TrafficOptions)

    @property
    def own_scenario(self) -> str | None:
        """The scenario, unless it is a preset, which WAREX's own tests validate."""
        known = self.scenario is None or _PRESETS.joinpath(f"{self.scenario}.yaml").is_file()
        return None if known else self.scenario

    @property
    def needs_loading(self) -> bool:
        """Whether an option beside the scenario is validated only when it is loaded."""
        named = (self.replay, self.defence, self.vocabulary, self.tasks)
        return any(option is not None for option in named)


def build_proxy_config(
    ca: "CertificateAuthority",
    options: ProxyOptions,
    *,
    capture: Capture = "forward",
    host: str = "127.0.0.1",
    port: int = 0,
    control_port: int = 0,
) -> "ProxyConfig":
    """Load what the options name. Raises InputError that names the option."""
    from warex.cli.trial_path import find_trace
    from warex.lane.config import ProxyConfig
    from warex.llm.defences import find_defence
    from warex.scenarios.load import load_scenario
    from warex.scenarios.task_detection import TaskRule

    scenario, defence, traffic = options.scenario, options.defence, options.traffic
    past = None
    if options.replay is not None:
        from warex.scenarios.injection.replay import read_replay

        if scenario is not None:
            raise InputError("--replay brings its own scenario; leave --scenario out")
        past = read_replay(find_trace(options.replay))
        traffic = replace(traffic, arm=past.arm)
    words = None
    if options.vocabulary is not None:
        from warex.benchmarks.vocabularies import find_vocabulary

        words = find_vocabulary(options.vocabulary)
    return ProxyConfig(
        ca=ca.folder,
        capture=capture,
        host=host,
        port=port,
        control_port=control_port,
        out=options.out,
        verbose=options.verbose,
        scenario=past.scenario if past else None if scenario is None else load_scenario(scenario),
        seed=past.seed if past else options.seed,
        sites=options.sites or (past.sites if past else ()),
        never=past.never if past else (),
        schedule=past.schedule if past else None,
        traffic=traffic,
        defence=find_defence(defence) if defence else past.defence if past else None,
        vocabulary=words,
        tasks=None if options.tasks is None else TaskRule.parse(options.tasks),
        replay_of=None if options.replay is None else str(options.replay),
    )


def unvalidated_config(
    ca: "CertificateAuthority", options: ProxyOptions, capture: Capture
) -> UnvalidatedConfig:
    """Return a configuration without importing pydantic; the options must need no loading."""
    values = {
        "ca": str(ca.folder),
        "out": None if options.out is None else str(options.out),
        "verbose": options.verbose,
        "scenario": options.scenario,
        "seed": options.seed,
        "sites": options.sites,
        "traffic": asdict(options.traffic),
    }
    return UnvalidatedConfig(capture, values)


def ineffective_rules(scenario: str | None, sites: tuple[str, ...]) -> tuple[str, ...]:
    """Return sentences on rules that can never hit anything, or nothing on the given sites."""
    if not scenario:
        return ()
    from warex.scenarios.lint.linter import rules_without_effect
    from warex.scenarios.load import load_scenario

    return rules_without_effect(load_scenario(scenario), sites)
