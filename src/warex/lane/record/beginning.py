"""The beginning of a trial: its trace, and its injector."""

from collections.abc import Mapping

from warex.clock import Clock
from warex.lane.config import ProxyConfig
from warex.lane.hosts.own_hosts import RESERVED_HOSTS
from warex.lane.record.recorded_bodies import RecordedBodies
from warex.lane.record.recorder import Recorder
from warex.scenarios import Injector
from warex.scenarios.namespace_only import require_namespace
from warex.scenarios.scenario import NO_RULES
from warex.traces import EVENTS, TraceWriter, TrialBegan
from warex.traces.blobs import BlobStore
from warex.traces.redaction.environment_secrets import process_secrets
from warex.traces.redaction.redactor import Redactor


def begin_record(config: ProxyConfig, versions: Mapping[str, str]) -> tuple[Injector, Recorder]:
    """Begin a trial and its trace; ``versions``: of the programs that serve it, by their names.

    Raises WarexError if a fault cannot be applied or the trace cannot be written.
    """
    scenario, out, defence = config.scenario or NO_RULES, config.out, config.defence
    require_namespace(scenario.rules, in_namespace=config.capture == "namespace")
    clock = Clock()
    process_secrets().add((*config.secrets, *config.traffic.redact_strings))
    redactor = Redactor(bytes.fromhex(config.redaction_key))
    writer = TraceWriter(out / EVENTS, clock, redactor) if out else None
    blobs = BlobStore(out / "blobs") if out else None
    bodies = None
    if blobs is not None and config.traffic.record_bodies:
        bodies = RecordedBodies(blobs, redactor)
    recorder = Recorder(clock, writer, blobs, bodies)
    injector = Injector(
        scenario,
        config.seed,
        sites=config.sites,
        never=config.never,
        never_agents=config.never_agents,
        arm=config.traffic.arm,
        schedule=config.schedule,
        own_hosts=RESERVED_HOSTS,
        llm_hosts=config.traffic.all_llm_hosts,
    )
    recorder.write(
        TrialBegan(
            benchmark=config.benchmark,
            agent=config.agent,
            condition=config.condition,
            task=config.task,
            repeat=config.repeat,
            attempt=config.attempt,
            seed=config.seed,
            scenario=config.scenario.model_dump(mode="json") if config.scenario else None,
            defence=defence.model_dump(include={"name", "text"}) if defence else None,
            arm=injector.arming.at,
            sites=config.sites,
            never=config.never,
            record=config.traffic.record,
            replay_of=config.replay_of,
            versions=dict(versions),
            vocabulary=config.vocabulary.model_dump(mode="json") if config.vocabulary else None,
        )
    )
    return injector, recorder
