"""Plans a campaign: its trials and benchmark, checked before anything starts."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from warex.benchmarks import AgentSpec, Benchmark, benchmark_of
from warex.campaigns.config.campaign import AgentConfig, CampaignConfig, ConditionConfig
from warex.campaigns.config.task_choice import TaskChoice, chosen_tasks
from warex.campaigns.plan.dosing import dosed_scenario
from warex.campaigns.plan.grid import grid, shares_answers, trial_seed
from warex.errors import CampaignError, InputError, TraceError
from warex.scenarios import Scenario
from warex.scenarios.injection.replay import read_replay
from warex.scenarios.mistakes import format_errors, unknown_name
from warex.traces import EVENTS, NO_PROXY, TrialBegan, TrialKey, read_trace, trial_dir
from warex.trials.context import TrialSpec
from warex.trials.playbook import PLAYBOOK_PREFIX, Playbook, load_playbook
from warex.trials.scripted_model import PERSONAS, SCRIPTED_PREFIX


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """A campaign with all of its parts loaded and checked."""

    config: CampaignConfig
    benchmark: Benchmark
    trials: tuple[TrialSpec, ...]


def plan(config: CampaignConfig) -> CampaignPlan:
    """Load all that the campaign names and lay out its trials.

    Raises CampaignError or ScenarioError for what does not exist, CampaignError with all of it if
    that is several things, InputError for a name that is too long for a folder.
    """
    mistakes = list[InputError]()
    conditions = {each.name: each for each in config.conditions}
    scenarios = dict[str, Scenario | None]()
    for name, each in conditions.items():
        with _collected(mistakes):
            scenarios[name] = dosed_scenario(each, config.longest_hold_s)
            _require_end(config, name, scenarios[name])
    agents = {agent.name: agent.spec for agent in config.agents}
    playbooks = dict[str, Playbook | None]()
    for agent in config.agents:
        with _collected(mistakes):
            playbooks[agent.name] = _playbook(agent)
    with _named_in_errors(config, mistakes):
        benchmark = benchmark_of(config.benchmark)
        for spec in agents.values():
            with _collected(mistakes):
                _require_persona(benchmark, spec)
        tasks = chosen_tasks(config.tasks, benchmark.tasks(), config.seed, benchmark.site_names_of)
        benchmark.validate(tasks, tuple(agents.values()), direct=NO_PROXY in conditions)
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
    with _named_in_errors(config):
        for trial in trials:
            trial_dir(Path(), trial.key)
    return CampaignPlan(config, benchmark, trials)


def _require_end(config: CampaignConfig, condition: str, scenario: Scenario | None) -> None:
    """Raise CampaignError if a fault lasts for the whole trial, and ``timeout_s`` is not set."""
    endless = [rule for rule in scenario.rules if rule.fault.is_endless] if scenario else []
    if endless and "timeout_s" not in config.model_fields_set:
        rule = endless[0]
        raise CampaignError(
            f"condition {condition!r}: rule {rule.name!r} ({rule.fault.kind}) lasts until its"
            " client leaves or the trial ends, and the campaign does not say how long a trial may"
            " take: give timeout_s, in seconds (above 0, to 86400), or longest_hold_s"
        )


def _require_persona(benchmark: Benchmark, agent: AgentSpec) -> None:
    """Raise CampaignError for a scripted model that does not exist, or knows no task."""
    if not agent.model.startswith(SCRIPTED_PREFIX):
        return
    if not benchmark.scripted_task_files():
        raise CampaignError(
            f"the models {SCRIPTED_PREFIX}… know no task of the benchmark {benchmark.name!r}"
        )
    persona = agent.model.removeprefix(SCRIPTED_PREFIX)
    if persona not in PERSONAS:
        message = unknown_name("there is no scripted model", persona, tuple(PERSONAS))
        raise CampaignError(f"agent {agent.name!r}: {message}")


@contextmanager
def _collected(mistakes: list[InputError]) -> Iterator[None]:
    """Keep a mistake, so that others are found, too."""
    try:
        yield
    except InputError as mistake:
        mistakes.append(mistake)


@contextmanager
def _named_in_errors(
    config: CampaignConfig, mistakes: list[InputError] | None = None
) -> Iterator[None]:
    """Raise the mistakes of a campaign, kept earlier or made within, with its file or name."""
    mistakes = [] if mistakes is None else mistakes
    with _collected(mistakes):
        yield
    if len(mistakes) == 1:
        (mistake,) = mistakes
        raise type(mistake)(f"{config.source}: {mistake}" if config.source else str(mistake))
    if mistakes:
        sentences = list(dict.fromkeys(map(str, mistakes)))
        raise CampaignError(format_errors(config.source or "the campaign", sentences))


def plan_replay(config: CampaignConfig, trial: Path) -> CampaignPlan:
    """Plan a replay: the trial's task with its ledger, once for each agent of the campaign.

    Raises TraceError if the trace cannot be replayed, CampaignError if it is of another benchmark.
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
    with _named_in_errors(config):
        benchmark.validate((began.task,), tuple(agent.spec for agent in config.agents))
        for agent in config.agents:
            _require_persona(benchmark, agent.spec)
    # Cut to the longest name of a condition.
    condition = f"replay of {began.agent} {began.condition}"[:80].strip()
    trials = tuple(
        TrialSpec(
            TrialKey(began.benchmark, agent.name, condition, began.task, 1),
            agent.spec,
            replay.seed,
            replay.scenario,
            arm=replay.arm,
            schedule=replay.schedule,
            defence=replay.defence,
            replay_of=str(trial),
            playbook=_playbook(agent),
        )
        for agent in config.agents
    )
    narrowed = config.model_copy(
        update={
            "name": f"{config.name}-replay",
            "tasks": TaskChoice(names=(began.task,)),
            "repeats": 1,
            "conditions": (
                ConditionConfig(name=condition, scenario=str(trial), defence=replay.defence),
            ),
        }
    )
    return CampaignPlan(narrowed, benchmark, trials)


def _began(trial: Path) -> TrialBegan:
    path = trial / EVENTS if trial.is_dir() else trial
    for event in read_trace(path).events(TrialBegan):
        return event
    raise TraceError(f"{path} has no trial_began event")


def _playbook(agent: AgentConfig) -> Playbook | None:
    """Return the playbook of an agent's model; None for any other model."""
    if not agent.model.startswith(PLAYBOOK_PREFIX):
        return None
    try:
        return load_playbook(Path(agent.model.removeprefix(PLAYBOOK_PREFIX)))
    except CampaignError as error:
        raise CampaignError(f"agent {agent.name!r}: {error}") from None
