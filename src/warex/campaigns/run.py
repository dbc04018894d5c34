"""A campaign from its configuration to a finished run folder."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue, ValidationError

from warex.benchmarks import AgentSpec, Benchmark, benchmark_of
from warex.campaigns.config import (
    NO_PROXY,
    AgentConfig,
    CampaignConfig,
    ConditionConfig,
)
from warex.campaigns.doses import scenario_of
from warex.campaigns.folder import opened
from warex.campaigns.options import Options
from warex.campaigns.plan import Past, chosen_tasks, grid, shares_answers, trial_seed, waits_for
from warex.campaigns.provenance import versions
from warex.campaigns.ray_node import Work
from warex.campaigns.ray_runner import require_ray, run_on_ray
from warex.campaigns.runner import Done, Execute, run_trials
from warex.campaigns.schedule import Schedule, Turn
from warex.campaigns.setting import setting_for
from warex.campaigns.spent import Spent, spent_in
from warex.clock import Clock, iso
from warex.errors import CampaignError, InputError, ScenarioError, TraceError
from warex.proxy.ca import CertificateAuthority, ensure_ca
from warex.proxy.config import HostMap, ProxyConfig
from warex.sandbox.isolation import Isolation, allowed
from warex.scenarios.mistakes import not_among
from warex.scenarios.replay import Replay, read_replay
from warex.scenarios.showable import require_showable
from warex.traces import (
    EVENTS,
    Manifest,
    Outcome,
    TrialBegan,
    TrialKey,
    attempt_dir,
    begin_llm_cache,
    find_trials,
    llm_cache_secret,
    read_trace,
    trial_dir,
)
from warex.trials.model import PERSONAS, PREFIX
from warex.trials.playbook import PLAYBOOK, Playbook, load_playbook
from warex.trials.run import Setting, TrialSpec, run_trial


@dataclass(frozen=True, slots=True)
class Planned:
    """A campaign whose every part has been found and checked; nothing runs yet."""

    config: CampaignConfig
    benchmark: Benchmark
    trials: tuple[TrialSpec, ...]


def plan(config: CampaignConfig) -> Planned:
    """Find all that the campaign names and lay out its trials.

    Raises CampaignError or ScenarioError for what does not exist, InputError for a name that is too
    long for a folder.
    """
    with _told_with_its_source(config):
        benchmark = benchmark_of(config.benchmark)
        tasks = chosen_tasks(config.tasks, benchmark.tasks(), config.seed)
        conditions = {each.name: each for each in config.conditions}
        scenarios = {
            name: scenario_of(each, config.longest_hold_s) for name, each in conditions.items()
        }
        agents = {agent.name: _spec(agent) for agent in config.agents}
        playbooks = {agent.name: _playbook(agent) for agent in config.agents}
        _require_ready(benchmark, tasks, tuple(agents.values()), direct=NO_PROXY in scenarios)
    trials = tuple(
        TrialSpec(
            key,
            agents[key.agent],
            trial_seed(config, key.task, key.repeat),
            scenarios[key.condition],
            proxied=key.condition != NO_PROXY,
            playbook=playbooks[key.agent],
            defence=conditions[key.condition].defence,
            cached=config.llm_cache and shares_answers(conditions[key.condition]),
        )
        for key in grid(config, tasks)
    )
    with _told_with_its_source(config):
        for spec in trials:
            trial_dir(Path(), spec.key)
    return Planned(config, benchmark, trials)


def _require_ready(
    benchmark: Benchmark, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool = False
) -> None:
    benchmark.ready(tasks, agents, direct=direct)
    for agent in agents:
        if not agent.model.startswith(PREFIX):
            continue
        if not benchmark.script():
            raise CampaignError(
                f"the models {PREFIX}… know no task of the benchmark {benchmark.name!r}"
            )
        persona = agent.model.removeprefix(PREFIX)
        if persona not in PERSONAS:
            there = not_among("there is no scripted model", persona, tuple(PERSONAS))
            raise CampaignError(f"agent {agent.name!r}: {there}")


@contextmanager
def _told_with_its_source(config: CampaignConfig) -> Iterator[None]:
    """Have what is wrong with a campaign name the file or built-in name it comes from."""
    try:
        yield
    except InputError as error:
        if not config.source:
            raise
        raise type(error)(f"{config.source}: {error}") from None


def plan_replay(config: CampaignConfig, trial: Path) -> Planned:
    """Lay out a replay: the trial's task under its ledger, once for each agent of the campaign.

    Raises TraceError where the trial's trace cannot be replayed, CampaignError where it is of
    another benchmark.
    """
    replay = read_replay(trial)
    began = _began(trial)
    if began.benchmark != config.benchmark.name:
        raise CampaignError(
            f"{trial} is of the benchmark {began.benchmark!r}; that of"
            f" {config.source or 'the campaign'} is {config.benchmark.name!r}"
        )
    benchmark = benchmark_of(config.benchmark)
    if began.task not in benchmark.tasks():
        raise CampaignError(f"{trial} is of the task {began.task!r}, which {benchmark.name} lacks")
    with _told_with_its_source(config):
        _require_ready(benchmark, (began.task,), tuple(map(_spec, config.agents)))
    # Cut to what a condition's name may have.
    condition = f"replay of {began.agent} {began.condition}"[:80].strip()
    trials = tuple(
        _replayed(_spec(agent), _playbook(agent), began, replay, condition, str(trial))
        for agent in config.agents
    )
    narrowed = config.model_copy(
        update={
            "name": f"{config.name}-replay",
            "tasks": config.tasks.model_copy(
                update={"names": (began.task,), "all": None, "match": None, "sample": None}
            ),
            "repeats": 1,
            "conditions": (
                ConditionConfig(name=condition, scenario=str(trial), defence=replay.defence),
            ),
        }
    )
    return Planned(narrowed, benchmark, trials)


def _replayed(
    agent: AgentSpec,
    playbook: Playbook | None,
    began: TrialBegan,
    replay: Replay,
    condition: str,
    trial: str,
) -> TrialSpec:
    return TrialSpec(
        TrialKey(began.benchmark, agent.name, condition, began.task, 1),
        agent,
        replay.seed,
        replay.scenario,
        arm=replay.arm,
        schedule=replay.schedule,
        defence=replay.defence,
        replay_of=trial,
        playbook=playbook,
    )


def _began(trial: Path) -> TrialBegan:
    path = trial / EVENTS if trial.is_dir() else trial
    for event in read_trace(path).events(TrialBegan):
        return event
    raise TraceError(f"{path} has no trial_began event")


def run_campaign(
    planned: Planned,
    run: Path,
    options: Options,
    *,
    began: Callable[[int], None] = lambda trials: None,
    report: Callable[[Done], None] = lambda done: None,
    notice: Callable[[str], None] = lambda sentence: None,
) -> None:
    """Run a campaign into its folder.

    ``began`` is told how many trials there are to run; ``report`` of each attempt that is over;
    ``notice`` what the user should know.
    Raises InputError where the folder holds another run or an option cannot work, MachineError
    where the machine lacks something, CampaignStopped where the same thing voids trial after trial.
    """
    config = planned.config
    if options.ray is not None:
        require_ray()
    _check_traffic(options)
    chromium = planned.benchmark.find_browser()
    ca = ensure_ca()
    isolation = _isolation(planned, options, ca, notice)
    manifest = _manifest(planned, options, chromium, isolation)
    with opened(run, manifest, resume=options.resume, notice=notice) as past:
        schedule = _schedule(planned, past, run, options)
        began(schedule.size)
        if not schedule.size:
            return
        there = set(schedule.trials)
        left = [spec for spec in planned.trials if spec.key in there]
        planned.benchmark.require_keys([spec.agent for spec in left], os.environ)
        if options.ray is not None:
            run_on_ray(
                schedule,
                _work(planned, left, run, options, isolation),
                run,
                options.ray,
                lanes=options.jobs,
                cache=_cache(config, run),
                spent_in=lambda folder: _spent(folder, config),
                report=report,
                notice=notice,
            )
        else:
            _run_here(planned, left, schedule, run, options, isolation, report)
        _tell_what_is_left(schedule, notice)


def _tell_what_is_left(schedule: Schedule, notice: Callable[[str], None]) -> None:
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


def _run_here(
    planned: Planned,
    specs: Sequence[TrialSpec],
    schedule: Schedule,
    run: Path,
    options: Options,
    isolation: Isolation,
    report: Callable[[Done], None],
) -> None:
    config = planned.config
    cache = _cache(config, run)
    with setting_for(
        planned.benchmark, specs, config.timeout_s, options, isolation, cache
    ) as setting:
        run_trials(
            schedule,
            _execute(specs, run, setting, config),
            lanes=options.jobs or config.jobs,
            stop=setting.stop,
            report=report,
        )


def _work(
    planned: Planned,
    specs: Sequence[TrialSpec],
    run: Path,
    options: Options,
    isolation: Isolation,
) -> Work:
    """Return what the nodes of a cluster need."""
    config, cache = planned.config, _cache(planned.config, run)
    return Work(
        benchmark=config.benchmark,
        specs={spec.key: spec for spec in specs},
        timeout_s=config.timeout_s,
        options=options,
        isolation=isolation,
        secret=None if cache is None else llm_cache_secret(cache),
        variables={
            name: os.environ[name] for name in planned.benchmark.key_variables if name in os.environ
        },
    )


def _cache(config: CampaignConfig, run: Path) -> Path | None:
    return begin_llm_cache(run) if config.llm_cache else None


def _schedule(
    planned: Planned, past: Mapping[TrialKey, Past], run: Path, options: Options
) -> Schedule:
    trials, config = [spec.key for spec in planned.trials], planned.config
    return Schedule(
        trials,
        past,
        after=waits_for(config, trials),
        budget=config.budget,
        spent=_spent_before(run, config),
        limit=options.limit,
    )


def _spent_before(run: Path, config: CampaignConfig) -> Spent:
    """Return what all attempts on disk cost; nothing where no budget asks for it."""
    return sum((_spent(folder, config) for _, _, folder in find_trials(run)), Spent())


def _execute(
    specs: Sequence[TrialSpec], run: Path, setting: Setting, config: CampaignConfig
) -> Execute:
    """Return what makes one attempt here."""
    by_key = {spec.key: spec for spec in specs}

    def execute(turn: Turn) -> tuple[Outcome, Spent]:
        folder = attempt_dir(run, turn.key, turn.attempt)
        outcome = run_trial(by_key[turn.key], turn.attempt, folder, setting)
        return outcome, _spent(folder, config)

    return execute


def _spent(folder: Path, config: CampaignConfig) -> Spent:
    budget = config.budget
    counts = budget.usd is not None or budget.tokens is not None
    return spent_in(folder, config.price_table) if counts else Spent()


def _isolation(
    planned: Planned, options: Options, ca: CertificateAuthority, notice: Callable[[str], None]
) -> Isolation:
    """Return how agents are put behind the proxy here.

    Raises ScenarioError where a fault could not show so, MachineError where the machine does not
    allow what is asked for.
    """
    isolation, why = allowed(options.isolate or planned.config.isolate, ca)
    for spec in planned.trials:
        if spec.scenario is not None:
            try:
                require_showable(spec.scenario.rules, in_namespace=isolation == "namespace")
            except ScenarioError as error:
                reason = f" ({why})" if why else ""
                raise ScenarioError(f"condition {spec.key.condition!r}: {error}{reason}") from None
    if why is not None:
        notice(why)
    return isolation


def _check_traffic(options: Options) -> None:
    """Raise InputError now for what would stop the first trial."""
    for text in options.maps:
        HostMap.parse(text)
    try:
        ProxyConfig(ca=Path(), upstream=options.upstream)
    except ValidationError as error:
        why = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"--upstream {why}") from None


def _spec(agent: AgentConfig) -> AgentSpec:
    return AgentSpec(agent.name, agent.model, agent.base_url, agent.screenshot, agent.max_steps)


def _playbook(agent: AgentConfig) -> Playbook | None:
    """Return the rules that an agent's model is played by; None for any other model."""
    if not agent.model.startswith(PLAYBOOK):
        return None
    try:
        return load_playbook(Path(agent.model.removeprefix(PLAYBOOK)))
    except CampaignError as error:
        raise CampaignError(f"agent {agent.name!r}: {error}") from None


def _manifest(planned: Planned, options: Options, chromium: Path, isolation: Isolation) -> Manifest:
    benchmark = planned.benchmark
    frozen: dict[str, JsonValue] = planned.config.model_dump(mode="json", exclude_none=True)
    # A scenario's file may change after the run; what its trials met may not.
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
    frozen["traffic"] = {
        "record": options.record,
        "insecure": options.insecure,
        "upstream": options.upstream,
        "maps": list(options.maps),
        "pass_through": list(options.pass_through),
        "llm_hosts": list(options.llm_hosts),
        "arm": options.arm,
        "isolation": isolation,
    }
    return Manifest.model_validate(
        {
            "campaign": frozen,
            "vocabularies": {benchmark.name: benchmark.vocabulary.model_dump(mode="json")},
            "versions": versions(
                chromium, ((spec.key.benchmark, spec.key.task) for spec in planned.trials)
            ),
            "seed": planned.config.seed,
            "prices_date": str(planned.config.price_table.date),
            "made_at": iso(Clock().wall()),
            "command": list(options.command),
        }
    )
