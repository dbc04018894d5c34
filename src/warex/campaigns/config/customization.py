"""Adapts a built-in campaign to another benchmark, other agents and tasks, as a campaign file."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any

from pydantic import JsonValue

from warex.benchmarks import Benchmark, benchmark_kind
from warex.benchmarks.command.adapter import TASKS_WANTED, CommandBenchmark
from warex.campaigns.config.campaign import CampaignConfig, built_in_names, parse_campaign
from warex.campaigns.config.paper_experiments import EXPERIMENTS, MODEL, Experiment
from warex.campaigns.config.task_choice import chosen_tasks
from warex.campaigns.config.template import as_toml, benchmark_table, comment, toml_lines
from warex.errors import CampaignError, WarexError
from warex.scenarios.mistakes import unknown_name
from warex.traces import NO_PROXY

_PRESETS = resources.files("warex.campaigns.config") / "presets"
_NAME = re.compile(r"^name = .*$", re.MULTILINE)
_NAMED = re.compile(r"(?:([^\s=]+)=)?(.*)", re.DOTALL)
"""An optional agent name, then a command line."""
_CONTROL = "Clean once more: what a difference of nothing looks like."


@dataclass(frozen=True, slots=True)
class Overrides:
    """Changes to a built-in campaign; what is not given gets a fitting default."""

    benchmark: str | None = None
    dir: str | None = None
    sites: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, JsonValue] = field(default_factory=dict)
    agents: tuple[str, ...] = ()
    """Each ``MODEL`` or ``NAME=MODEL``; for the benchmark ``command`` also a command line."""
    base_url: str | None = None
    only_sites: tuple[str, ...] = ()
    without_sites: tuple[str, ...] = ()

    @property
    def besides_benchmark(self) -> bool:
        """Whether anything but the benchmark is given."""
        return replace(self, benchmark=None) != Overrides()

    @property
    def any(self) -> bool:
        """Whether anything is given."""
        return self != Overrides()


@dataclass(frozen=True, slots=True)
class CustomCampaign:
    """A campaign file's text."""

    text: str
    no_proxy_reason: str | None = None
    """Why there is no condition ``no-proxy``; None if there is one or it is unknown."""

    def config(self, source: str) -> CampaignConfig:
        """Return the campaign; errors name ``source``."""
        try:
            self.text.encode()
            return parse_campaign(tomllib.loads(self.text), source)
        except (tomllib.TOMLDecodeError, UnicodeEncodeError) as error:
            raise CampaignError(
                f"{source}: what is given cannot be written into a file of TOML: {error}"
            ) from None


def customize(
    source: str, changes: Overrides, *, name: str | None = None, file: str
) -> CustomCampaign:
    """Return the built-in campaign ``source`` with these changes, as the text of a file.

    ``name``: the new campaign's name, by default such as ``paper-real``. ``file``: the path in the
    commands of its head comment. Raises CampaignError for what does not exist.
    """
    known = built_in_names()
    if source not in known:
        raise CampaignError(unknown_name("there is no built-in campaign", source, known))
    preset = (_PRESETS / f"{source}.toml").read_text("utf-8")
    data = tomllib.loads(preset)
    own = data["benchmark"]
    kind = benchmark_kind(own if changes.benchmark is None else changes.benchmark)
    called = name or (source if kind.name == own else f"{source}-{kind.name}")
    if not changes.any:
        return CustomCampaign(_NAME.sub(lambda _: f"name = {as_toml(called)}", preset, count=1))
    parts = _parts(kind, source, data, _with_its_command(kind, changes))
    made = CustomCampaign(_text(source, called, file, parts))
    config = made.config(file)
    without = [condition for condition in parts.conditions if condition["name"] != NO_PROXY]
    why = _needs_proxy(kind, config) if without != parts.conditions else None
    if why is None:
        return made
    parts = replace(parts, conditions=without)
    text = _text(source, called, file, parts, f"There is no condition no-proxy: {why}.")
    return CustomCampaign(text, no_proxy_reason=why)


def _with_its_command(kind: type[Benchmark], changes: Overrides) -> Overrides:
    """Return the changes with an agent's command line moved to the option ``command``.

    The benchmark ``command`` runs that command; names of models contain no blanks.
    """
    lines = [text for text in changes.agents if re.search(r"\s", text)]
    if kind is not CommandBenchmark or not lines or "command" in changes.options:
        return changes
    if len(changes.agents) > 1:
        raise CampaignError(
            f"a campaign of the benchmark 'command' has one command, and {lines[0]!r} is not the"
            " only agent: let it name {model}, and give several models and options.command; or run"
            " one campaign for each"
        )
    name, command = _NAMED.fullmatch(lines[0]).groups()  # type: ignore[union-attr] # fits any text
    return replace(
        changes,
        options={"command": command, **changes.options},
        agents=(f"{name or 'agent'}={MODEL}",),
    )


@dataclass(frozen=True, slots=True)
class _Parts:
    kind: type[Benchmark]
    table: dict[str, Any]
    """The benchmark's; only its name if that is all."""
    agents: list[dict[str, Any]]
    tasks: Mapping[str, Any]
    comment: str
    """About the tasks."""
    keys: Mapping[str, Any]
    conditions: list[dict[str, Any]]


def _text(source: str, name: str, file: str, parts: _Parts, no_proxy: str = "") -> str:
    """Return the text of the file; ``no_proxy`` says why it lacks that condition."""
    kind, alone = parts.kind, parts.table.keys() == {"name"}
    first = len(parts.agents) * len(parts.conditions)
    head = f"""\
# The conditions of the built-in campaign `{source}`, on the benchmark {kind.name}. This is all of
# it: change what you like. `warex init` without --from writes a file that explains every key.
#
#     warex run {file} --dry-run     which trials there are, and what they may take
#     warex run {file} --limit {first:<5} a first look: one task
#     warex run {file} --resume      goes on where a run was ended
schema_version = 1
name = {as_toml(name)}
"""
    head += toml_lines({"benchmark": kind.name} if alone else {})
    head += toml_lines({"tasks": parts.tasks, **parts.keys}, {"tasks": parts.comment})
    wanted = {} if parts.table.get("options", {}).get("tasks") else {"tasks": TASKS_WANTED}
    table = "" if alone else benchmark_table(kind, parts.table, wanted)
    agents = (f"[[agents]]\n{toml_lines(agent)}" for agent in parts.agents)
    conditions = (
        f"{comment(_CONTROL if condition.get('control') else '')}[[conditions]]\n"
        f"{toml_lines(condition)}"
        for condition in parts.conditions
    )
    sections = (f"{head}{table}", *agents, *filter(None, (comment(no_proxy),)), *conditions)
    return "\n".join(sections)


def _parts(
    kind: type[Benchmark], source: str, preset: Mapping[str, Any], changes: Overrides
) -> _Parts:
    """Return the file's values: the given ones, else the paper's, else the adapter's example."""
    embedded = kind.name == preset["benchmark"]
    example = tomllib.loads(kind.example())
    paper = EXPERIMENTS.get(kind.name) if source in ("paper", "popup") else None
    tasks = preset["tasks"] if embedded else paper.tasks if paper else example.get("tasks", {})
    names = ("repeats", "seed", "jobs", "timeout_s", "longest_hold_s")
    keys = {name: preset[name] for name in names if name in preset}
    if not embedded:
        keys |= {"repeats": 1, "jobs": 1, "timeout_s": example.get("timeout_s", 300.0)}
    if paper:
        keys |= {"jobs": paper.jobs, "timeout_s": paper.timeout_s}
    return _Parts(
        kind,
        _table(kind, (preset if embedded else example)["benchmark"], paper, changes),
        _agents(preset["agents"] if embedded else example["agents"], paper, changes),
        _narrowed(tasks, changes) or {"all": True},
        paper.comment if paper and not changes.only_sites else "",
        keys,
        preset["conditions"],
    )


def _table(
    kind: type[Benchmark], example: Any, paper: Experiment | None, changes: Overrides
) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": example} if isinstance(example, str) else example
    values = {
        "dir": changes.dir or shown.get("dir"),
        "sites": changes.sites or (paper.sites if paper else {}) or shown.get("sites", {}),
        "options": _options(kind, shown, paper, changes),
    }
    if "command" in changes.options and not changes.sites:
        # The example's sites belong to its own command.
        del values["sites"]
    return {"name": shown["name"], **{key: value for key, value in values.items() if value}}


def _options(
    kind: type[Benchmark], shown: Mapping[str, Any], paper: Experiment | None, changes: Overrides
) -> Mapping[str, Any]:
    example = shown.get("options", {})
    options = dict(changes.options or example)
    for key, option in kind.options_model.model_fields.items():
        if option.is_required() and key not in options and key in example:
            # No example knows the tasks of another command.
            options[key] = [] if key == "tasks" else example[key]
    # REAL's actions are its demo agent's: another agent brings its own.
    own = {"actions"} if "agent" in options else set()
    papers = paper.options if paper else {}
    return {**{key: papers[key] for key in papers if key not in own}, **options}


def _agents(
    shown: list[dict[str, Any]], paper: Experiment | None, changes: Overrides
) -> list[dict[str, Any]]:
    agents = [dict(agent) for agent in shown]
    if paper:
        agents = [{"name": agents[0]["name"], "model": MODEL}]
    if changes.agents:
        agents = [_agent(text, {**agents[0]}) for text in changes.agents]
    for agent in agents:
        if changes.base_url is not None:
            agent["base_url"] = changes.base_url
        if paper:
            agent.pop("screenshot", None)
            agent |= {"observation": list(paper.observation), "max_steps": paper.max_steps}
    return agents


def _agent(text: str, like: dict[str, Any]) -> dict[str, Any]:
    name, mark, model = text.partition("=")
    return {**like, "name": name if mark else text, "model": model if mark else text}


def _narrowed(tasks: Mapping[str, Any], changes: Overrides) -> dict[str, Any]:
    narrowed = dict(tasks)
    if changes.only_sites:
        narrowed.pop("without_sites", None)
        # All tasks of these sites: there may be fewer than the sample's size.
        narrowed.pop("sample", None)
        narrowed["sites"] = list(changes.only_sites)
    if changes.without_sites:
        excluded = narrowed.get("without_sites", [])
        narrowed["without_sites"] = list(dict.fromkeys((*excluded, *changes.without_sites)))
    return narrowed


def _needs_proxy(kind: type[Benchmark], config: CampaignConfig) -> str | None:
    """Return why no trial can run without the proxy, as far as this can be checked here."""
    agents = tuple(agent.spec for agent in config.agents)
    try:
        benchmark = kind(config.benchmark)
        if why := benchmark.needs_proxy():
            return why
        tasks = chosen_tasks(config.tasks, benchmark.tasks(), config.seed, benchmark.site_names_of)
        benchmark.validate(tasks, agents)
    except WarexError:
        return None
    try:
        benchmark.validate(tasks, agents, direct=True)
    except CampaignError as error:
        why = str(error).removeprefix(f"condition {NO_PROXY!r}: ")
        return why.removesuffix("; leave the condition out")
    return None
