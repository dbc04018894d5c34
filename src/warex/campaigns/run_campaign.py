"""Runs a campaign from its configuration to a complete run folder."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import JsonValue

from warex.campaigns.config.campaign import CampaignConfig
from warex.campaigns.config.options import RunOptions
from warex.campaigns.plan.campaign_plan import CampaignPlan
from warex.campaigns.plan.grid import cache_dependencies, remaining
from warex.campaigns.plan.lanes import choose_lanes
from warex.campaigns.plan.lint import lint_warnings
from warex.campaigns.ray.driver import run_on_ray
from warex.campaigns.ray.node import CampaignPayload
from warex.campaigns.run.context import context_for
from warex.campaigns.run.folder import open_run_folder, read_history
from warex.campaigns.run.local import Execute, run_local
from warex.campaigns.run.provenance import versions
from warex.campaigns.run.redaction_key import redaction_key
from warex.campaigns.run.schedule import AttemptDone, PlannedAttempt, TrialQueue
from warex.campaigns.run.spending import Spending, attempt_spending
from warex.clock import Clock, iso
from warex.errors import ScenarioError
from warex.extras import require_extra
from warex.llm.embedded import is_mock_model
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.sandbox.doctor.machine import require_quick_checks
from warex.sandbox.isolation import Isolation, available_isolation
from warex.sandbox.namespace.host_ports import loopback_ports_in
from warex.scenarios.namespace_only import require_namespace
from warex.traces import (
    MANIFEST,
    Manifest,
    Outcome,
    attempt_dir,
    begin_llm_cache,
    escape,
    find_trials,
    llm_cache_secret,
    read_manifest,
)
from warex.trials.addresses import loopback_notices
from warex.trials.context import TrialContext, TrialSpec
from warex.trials.runner import run_trial


def run_campaign(
    planned: CampaignPlan,
    run: Path,
    options: RunOptions,
    *,
    began: Callable[[int], None] = lambda trials: None,
    taken: Callable[[PlannedAttempt], None] = lambda turn: None,
    report: Callable[[AttemptDone], None] = lambda done: None,
    notice: Callable[[str], None] = lambda sentence: None,
) -> None:
    """Run a campaign into its folder.

    ``began`` is called with the number of trials to run; ``taken`` for each attempt that begins,
    ``report`` for each that ends; ``notice`` with messages for the user.
    Raises InputError if the folder holds another run or an option is invalid, MachineError if the
    machine lacks something, CampaignStopped after repeated voids for one reason.
    """
    config = planned.config
    if options.ray is not None:
        require_extra("ray", "--ray", "ray")
    chromium = planned.benchmark.find_browser()
    ca = ensure_ca()
    require_quick_checks(run, ca)
    isolation = _isolation(planned, options, ca, notice)
    for warning in lint_warnings(planned):
        notice(warning)
    _report_loopback(planned, isolation, notice)
    lanes = choose_lanes(planned, options)
    _require_keys(planned, run, resume=options.resume)
    manifest = _manifest(planned, options, chromium, isolation)
    with open_run_folder(
        run, manifest, config.list_prices, resume=options.resume, notice=notice
    ) as past:
        trials = [spec.key for spec in planned.trials]
        schedule = TrialQueue(
            trials,
            past,
            after=cache_dependencies(config, trials),
            budget=config.budget,
            spent=sum((_spent(folder, config) for _, _, folder in find_trials(run)), Spending()),
            limit=options.limit,
            taken=taken,
        )
        began(schedule.total)
        if not schedule.total:
            return
        scheduled = set(schedule.trials)
        left = [spec for spec in planned.trials if spec.key in scheduled]
        if lanes.why is not None:
            notice(lanes.why)
        cache = begin_llm_cache(run) if config.llm_cache else None
        key = redaction_key(ca, read_manifest(run / MANIFEST).made_at)
        if options.ray is not None:
            run_on_ray(
                schedule,
                _payload(planned, left, isolation, cache, key),
                run,
                options.ray,
                lanes=lanes.count,
                cache=cache,
                spent_in=lambda folder: _spent(folder, config),
                report=report,
                notice=notice,
            )
        else:
            with context_for(
                planned.benchmark, left, config.timeout_s, config.traffic, isolation, cache, key
            ) as context:
                run_local(
                    schedule,
                    _execute(left, run, context, config),
                    lanes=lanes.count or 1,
                    stop=context.stop,
                    report=report,
                )
        _report_left(schedule, notice)


def _require_keys(planned: CampaignPlan, run: Path, *, resume: bool) -> None:
    """Raise MachineError if a remaining trial's model has no API key, before a folder is made."""
    past = read_history(run) if resume and (run / MANIFEST).exists() else {}
    left = set(remaining([spec.key for spec in planned.trials], past))
    agents = [spec.agent for spec in planned.trials if spec.key in left]
    planned.benchmark.require_keys(agents, os.environ)


def _report_loopback(
    planned: CampaignPlan, isolation: Isolation, notice: Callable[[str], None]
) -> None:
    """Report which services on this machine's loopback the commands can and cannot reach."""
    benchmark = planned.benchmark
    named: dict[int, str] = {}
    seen = isolation == "namespace"
    perhaps = {text for spec in planned.trials for text in benchmark.command_texts(spec.key.task)}
    in_command = any("{base_url}" in text for text in perhaps)
    for agent in {spec.agent.name: spec.agent for spec in planned.trials}.values():
        # Only the proxy connects to an endpoint that replaces a model's own host.
        by_proxy = not seen and not in_command and bool(benchmark.endpoints(agent))
        for port in () if by_proxy else loopback_ports_in(agent.base_url or ""):
            named[port] = f"base_url of agent {agent.name!r}"
    for sentence in loopback_notices(named, perhaps, os.environ, seen=seen):
        notice(sentence)


def _report_left(schedule: TrialQueue, notice: Callable[[str], None]) -> None:
    if schedule.stopped is not None:
        notice(
            f"{schedule.stopped}. Trials left: {schedule.left}. What ran is kept, and --resume goes"
            " on, under another budget if you like"
        )
    for key in schedule.given_up:
        notice(
            f"each attempt at {key.task} of {key.agent} under {key.condition}, repeat {key.repeat},"
            " was lost with what ran it; it may be too much for it. --resume tries again"
        )


def _payload(
    planned: CampaignPlan,
    specs: Sequence[TrialSpec],
    isolation: Isolation,
    cache: Path | None,
    key: str,
) -> CampaignPayload:
    config = planned.config
    return CampaignPayload(
        benchmark=config.benchmark,
        specs={spec.key: spec for spec in specs},
        timeout_s=config.timeout_s,
        traffic=config.traffic,
        isolation=isolation,
        secret=None if cache is None else llm_cache_secret(cache),
        redaction_key=key,
        variables={
            name: os.environ[name]
            for name in planned.benchmark.api_key_variables
            if name in os.environ
        },
    )


def _execute(
    specs: Sequence[TrialSpec], run: Path, context: TrialContext, config: CampaignConfig
) -> Execute:
    by_key = {spec.key: spec for spec in specs}

    def execute(turn: PlannedAttempt) -> tuple[Outcome, Spending]:
        folder = attempt_dir(run, turn.key, turn.attempt)
        outcome = run_trial(by_key[turn.key], turn.attempt, folder, context)
        return outcome, _spent(folder, config)

    return execute


def _spent(folder: Path, config: CampaignConfig) -> Spending:
    budget = config.budget
    if budget.usd is None and budget.tokens is None:
        return Spending()
    spent = attempt_spending(folder, config.price_table)
    # An attempt's folder is below those of its repeat, task, condition and agent.
    name = folder.parents[3].name
    mocks = {escape(agent.name) for agent in config.agents if is_mock_model(agent.model)}
    # Embedded models cost nothing.
    return Spending(tokens=spent.tokens) if name in mocks else spent


def _isolation(
    planned: CampaignPlan,
    options: RunOptions,
    ca: CertificateAuthority,
    notice: Callable[[str], None],
) -> Isolation:
    """Return how agents are put behind the proxy here.

    Raises ScenarioError if a fault cannot work that way, MachineError if the machine does not allow
    the requested isolation.
    """
    isolation, why = available_isolation(options.isolate or planned.config.isolate, ca)
    for spec in planned.trials:
        if spec.scenario is not None:
            try:
                require_namespace(spec.scenario.rules, in_namespace=isolation == "namespace")
            except ScenarioError as error:
                reason = f" ({why})" if why else ""
                raise ScenarioError(f"condition {spec.key.condition!r}: {error}{reason}") from None
    if why is not None:
        notice(why)
    return isolation


def _manifest(
    planned: CampaignPlan, options: RunOptions, chromium: Path, isolation: Isolation
) -> Manifest:
    benchmark = planned.benchmark
    frozen: dict[str, JsonValue] = planned.config.model_dump(mode="json", exclude_none=True)
    # A scenario's file may change after the run; the manifest keeps what its trials used.
    frozen["scenarios"] = {
        spec.key.condition: spec.scenario.model_dump(mode="json")
        for spec in planned.trials
        if spec.scenario is not None
    }
    if any(spec.playbook for spec in planned.trials):
        frozen["playbooks"] = {
            spec.key.agent: spec.playbook.model_dump(mode="json", by_alias=True)
            for spec in planned.trials
            if spec.playbook is not None
        }
    traffic = planned.config.model_dump(mode="json", include={"traffic"})["traffic"]
    frozen["traffic"] = {**traffic, "isolation": isolation}
    return Manifest.model_validate(
        {
            "campaign": frozen,
            "vocabularies": {benchmark.name: benchmark.vocabulary.model_dump(mode="json")},
            "versions": versions(
                chromium, ((spec.key.benchmark, spec.key.task) for spec in planned.trials)
            ),
            "seed": planned.config.seed,
            "prices_date": str(planned.config.list_prices.date),
            "prices_source": planned.config.list_prices.source,
            "prices_digest": planned.config.list_prices.digest,
            "made_at": iso(Clock().wall()),
            "command": list(options.command),
        }
    )
