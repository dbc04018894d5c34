"""The proxy configuration of a trial: scenario, sites, the address of the agent's model."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from warex.benchmarks import AgentSpec, Benchmark, TaskEnvironment
from warex.errors import MachineError
from warex.lane.config import LlmCachePaths, ProxyConfig
from warex.traces import secrets_of, shared_answers_dir
from warex.traffic import Capture, origin_of
from warex.trials.addresses import endpoint_maps, hosts_of, loopback_ports
from warex.trials.context import TrialContext, TrialSpec
from warex.trials.page_checks import first_page_is_proof
from warex.trials.playbook import PLAYBOOK_PREFIX
from warex.trials.scripted_model import MODEL_HOST


def host_ports(spec: TrialSpec, context: TrialContext) -> frozenset[int]:
    """Return the ports of this machine's loopback that the agent or its browser needs."""
    benchmark, task = context.benchmark, spec.key.task
    named = (*benchmark.sites(task), *_endpoints(spec, context), spec.agent.base_url or "")
    return loopback_ports(named, benchmark.command_texts(task), context.base_environment)


def proxy_config(
    spec: TrialSpec,
    attempt: int,
    folder: Path,
    environment: TaskEnvironment,
    context: TrialContext,
    capture: Capture,
    ended: str,
) -> ProxyConfig:
    """Return the configuration of the proxy of one attempt."""
    benchmark, key = context.benchmark, spec.key
    traffic = context.traffic
    maps = [*environment.maps, *traffic.maps]
    if context.model_port is not None:
        maps.append(f"http://{MODEL_HOST}=http://127.0.0.1:{context.model_port}")
    arm = spec.arm or traffic.arm
    if arm is None and spec.scenario is not None:
        arm = benchmark.arm(spec.scenario, key.task)
    base_url = model_url(spec.agent, context, proxied=True)
    if base_url is not None:
        maps += endpoint_maps(_endpoints(spec, context), _served_at(base_url, context))
    shared, cache = shared_answers_of(spec, context), context.llm_cache
    return ProxyConfig(
        capture=capture,
        ca=context.ca.folder,
        out=folder,
        scenario=spec.scenario,
        seed=spec.seed,
        sites=benchmark.sites(key.task),
        never=benchmark.exclusions(key.task),
        never_agents=benchmark.judge_user_agents,
        agent_ended=ended,
        own_proof=first_page_is_proof(context),
        schedule=spec.schedule,
        defence=spec.defence,
        llm_cache=LlmCachePaths(cache=cache, shared=shared) if cache and shared else None,
        redaction_key=context.redaction_key,
        secrets=secrets_of({**context.base_environment, **benchmark.variables}),
        traffic=replace(traffic, maps=tuple(maps), llm_hosts=llm_hosts(spec, context), arm=arm),
        vocabulary=benchmark.vocabulary_of(key.task),
        benchmark=key.benchmark,
        agent=key.agent,
        condition=key.condition,
        task=key.task,
        repeat=key.repeat,
        attempt=attempt,
        replay_of=spec.replay_of,
    )


def llm_hosts(spec: TrialSpec, context: TrialContext) -> tuple[str, ...]:
    """Return the hosts of the agent's model beside the well-known ones."""
    base_url = model_url(spec.agent, context, proxied=True)
    return (*context.traffic.llm_hosts, *hosts_of(base_url or "", *_endpoints(spec, context)))


def _endpoints(spec: TrialSpec, context: TrialContext) -> tuple[str, ...]:
    """Return the base URLs that the harness has in its code."""
    return context.benchmark.endpoints(with_model_name(spec.agent, context.benchmark))


def _served_at(base_url: str, context: TrialContext) -> str:
    """Return the origin behind a base URL, which may be the embedded model's name."""
    embedded = context.model_port is not None and urlsplit(base_url).hostname == MODEL_HOST
    return f"http://127.0.0.1:{context.model_port}" if embedded else origin_of(base_url)


def model_url(agent: AgentSpec, context: TrialContext, *, proxied: bool) -> str | None:
    """Return the base URL of the agent's model; None for its provider's default.

    Raises MachineError if the embedded model does not run.
    """
    if not agent.is_mock:
        return agent.base_url
    if context.model_port is None:
        raise MachineError(f"the model {agent.model!r} is embedded, but it does not run")
    # Behind the proxy by name: loopback stays direct and would not be recorded.
    return f"http://{MODEL_HOST}/v1" if proxied else f"http://127.0.0.1:{context.model_port}/v1"


def shared_answers_of(spec: TrialSpec, context: TrialContext) -> Path | None:
    """Return the folder of the answers that this trial shares, or None."""
    if context.llm_cache is None or not (spec.cached and spec.proxied):
        return None
    return shared_answers_dir(context.llm_cache, spec.key)


def with_model_name(agent: AgentSpec, benchmark: Benchmark) -> AgentSpec:
    """Return the agent with its model's name as the harness gets it."""
    played = agent.model.startswith(PLAYBOOK_PREFIX)
    return replace(agent, model=benchmark.mock_model_name) if played else agent
