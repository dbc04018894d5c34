"""A campaign file: tasks, agents and conditions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self, Unpack

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    PrivateAttr,
    StringConstraints,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from warex.benchmarks.job import AgentSpec
from warex.benchmarks.table import BenchmarkConfig
from warex.campaigns.config.task_choice import Count, Name, TaskChoice
from warex.errors import CampaignError
from warex.llm.defences import DEFENCES, Defence, defence_of
from warex.llm.embedded import MOCK_PREFIXES
from warex.llm.prices.table import Price, PriceTable
from warex.llm.prices.user_table import current_prices
from warex.scenarios.documents import SUFFIXES, read_document
from warex.scenarios.mistakes import format_errors, validate_document
from warex.scenarios.paper_config import Frequency
from warex.scenarios.presets import preset_names
from warex.text.english import did_you_mean, listing
from warex.traces import CLEAN, NO_PROXY
from warex.traffic import TrafficKeywords, TrafficOptions
from warex.trials.playbook import PLAYBOOK_PREFIX

_PRESETS = resources.files("warex.campaigns.config") / "presets"

RESERVED = (NO_PROXY, CLEAN)
"""Conditions without a scenario: the plain benchmark, and the proxy without faults."""


@dataclass(frozen=True, slots=True)
class _OrName:
    """Allows a catalogue name in place of a defence in the JSON Schema."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        names = {"enum": [defence.name for defence in DEFENCES]}
        return {"anyOf": [names, *handler(core)["anyOf"]]}


class AgentConfig(BaseModel, frozen=True, extra="forbid"):
    """One agent of the grid."""

    name: Name = Field(description="Its name in the report.")
    model: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="The model's name for the harness; scripted:PERSONA and playbook:FILE are built"
        " in."
    )
    base_url: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="Base URL of the model's API; left out, the client's own.",
    )
    screenshot: bool = Field(default=False, description="Show the model a picture, too.")
    observation: tuple[Literal["axtree", "compact-axtree", "html", "screenshot"], ...] | None = (
        Field(
            default=None,
            min_length=1,
            description="What the model sees of a page, if the harness supports the choice;"
            " left out, what it shows by itself.",
        )
    )
    max_steps: Count = Field(default=25, description="Maximum number of calls to the model.")

    @field_validator("model")
    @classmethod
    def _embedded_by_its_name(cls, model: str) -> str:
        kind, mark, _ = model.partition(":")
        near = did_you_mean(kind + mark, MOCK_PREFIXES, likeness=0.8)
        if mark and near and kind + mark not in MOCK_PREFIXES:
            raise ValueError(f"{model!r} is not a model that WAREX plays, but nearly{near}")
        return model

    @property
    def spec(self) -> AgentSpec:
        """The agent as adapters take it."""
        shown = self.screenshot or "screenshot" in (self.observation or ())
        return AgentSpec(
            self.name, self.model, self.base_url, shown, self.max_steps, self.observation
        )

    @model_validator(mode="after")
    def _shown_one_way(self) -> Self:
        if self.screenshot and self.observation and "screenshot" not in self.observation:
            raise ValueError(
                "screenshot = true, and observation has none; name it there, or leave out one of"
                " the two"
            )
        return self


class ConditionConfig(BaseModel, frozen=True, extra="forbid"):
    """One condition of the grid."""

    name: Name = Field(description="Its name in the report.")
    scenario: str | None = Field(
        default=None, description="A preset or a file, looked for beside the campaign's first."
    )
    defence: Annotated[Defence | None, BeforeValidator(defence_of), _OrName()] = Field(
        default=None,
        description="Text that is added to the agent's system prompt: a defence's name, or a table"
        " with name and text.",
    )
    intensity: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] | None = Field(
        default=None, description="Factor of each fault's size."
    )
    frequency: Frequency | None = Field(
        default=None,
        description="How often each rule hits, as in the paper: 0 for the first match only, x for"
        " each match by chance until x were hit.",
    )
    first: Annotated[int, Field(ge=1, le=10_000, strict=True)] | None = Field(
        default=None, description="Each rule hits the first N exchanges that it counts."
    )
    control: bool = Field(
        default=False, description="Clean once more: the A/A control, which shows the noise floor."
    )

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        present = [
            key
            for key in ("scenario", "defence", "intensity", "frequency", "first", "control")
            if (value := getattr(self, key)) is not None and value is not False
        ]
        if self.name in RESERVED and present:
            raise ValueError(f"the condition {self.name!r} is reserved and takes no {present[0]}")
        if self.control and present != ["control"]:
            raise ValueError(f"the condition {self.name!r} is a control and takes no {present[0]}")
        if self.name in RESERVED or self.control:
            return self
        if self.scenario is None and self.defence is None:
            raise ValueError(
                f"the condition {self.name!r} needs a scenario, a defence or both; only {NO_PROXY},"
                f" {CLEAN} and a control go without{did_you_mean(self.name, RESERVED)}"
            )
        if self.scenario is None and present[-1] != "defence":
            raise ValueError(
                f"the condition {self.name!r} has no scenario to make {present[-1]} of"
            )
        if self.frequency is not None and self.first is not None:
            raise ValueError(
                f"the condition {self.name!r} has a frequency and a first, which both say how often"
                " its rules hit; give one"
            )
        return self


class Budget(BaseModel, frozen=True, extra="forbid"):
    """What a run may cost; what is not given is not limited."""

    usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, description="US dollars at list prices, over the whole run."
    )
    tokens: Count | None = Field(
        default=None, description="Input and output tokens, over the whole run."
    )
    minutes: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, description="Wall-clock minutes of one command; --resume starts at 0 again."
    )


class CampaignConfig(BaseModel, frozen=True, extra="forbid"):
    """A whole campaign."""

    schema_version: Literal[1] = Field(default=1, description="The version of this format.")
    name: Name = Field(description="Name of the campaign and of the run's folder.")
    benchmark: BenchmarkConfig = Field(
        default=BenchmarkConfig(name="testbed"),
        description="The benchmark's name, or a table; `warex benchmarks` lists them.",
    )
    tasks: TaskChoice = Field(default=TaskChoice(all=True), description="The tasks to run.")
    repeats: Count = Field(default=1, description="Repeats of each trial.")
    seed: Annotated[int, Field(strict=True)] = Field(
        default=1, description="The seed of the sample, of the order and of every trial."
    )
    jobs: Count = Field(default=2, description="Trials to run in parallel.")
    timeout_s: Annotated[float, Field(gt=0, le=86400, allow_inf_nan=False)] = Field(
        default=300.0, description="Seconds an agent may take for a trial."
    )
    isolate: Literal["auto", "namespace", "environment"] = Field(
        default="auto",
        description="How agents are put behind the proxy: in a network of their own, by variables,"
        " or the first where the machine allows it.",
    )
    traffic: TrafficOptions = Field(
        default=TrafficOptions(),
        description="How traffic is routed and read: the options of `warex run`, which add to it.",
    )
    longest_hold_s: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] | None = Field(
        default=None,
        description="Maximum seconds that a fault holds an exchange; None: no maximum.",
    )
    budget: Budget = Field(
        default=Budget(), description="When it is used up, no further trial starts."
    )
    llm_cache: bool = Field(
        default=False,
        description="Answer an LLM request from an earlier condition's trial of the same agent,"
        " task and repeat if the request is identical, so that a faulted trial costs money only"
        " after the fault.",
    )
    prices: dict[str, Price] = Field(
        default={},
        description="Prices of models that the price table lacks, or other prices: by name or"
        " glob, in US dollars per million tokens.",
    )
    notes: tuple[str, ...] = Field(default=(), description="Notes to print in the report.")
    agents: tuple[AgentConfig, ...] = Field(
        min_length=1, description="The agents that do the tasks."
    )
    conditions: tuple[ConditionConfig, ...] = Field(
        min_length=1, description="The conditions; no-proxy and clean need only a name."
    )
    _source: str = PrivateAttr("")

    @property
    def source(self) -> str:
        """The file or built-in name it was loaded from; empty otherwise."""
        return self._source

    @property
    def price_table(self) -> PriceTable:
        """The current price table, overridden by the campaign's own prices."""
        return self.list_prices.with_own(self.prices)

    @cached_property
    def list_prices(self) -> PriceTable:
        """The current price table, read once so that a run has one table. Raises InputError."""
        return current_prices()

    def with_traffic(self, **more: Unpack[TrafficKeywords]) -> Self:
        """Return the campaign with more traffic options (``TrafficOptions.extended``)."""
        return self.model_copy(update={"traffic": self.traffic.extended(**more)})

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        for kind, names in (
            ("agents", [agent.name for agent in self.agents]),
            ("conditions", [condition.name for condition in self.conditions]),
        ):
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"two {kind} are called {twice[0]!r}")
        return self


def built_in_names() -> tuple[str, ...]:
    """Return the names of the campaigns that come with WAREX."""
    return tuple(sorted(Path(file.name).stem for file in _PRESETS.iterdir()))


def load_campaign(source: str) -> CampaignConfig:
    """Return a campaign by its built-in name or its file (TOML, YAML or JSON).

    Raises CampaignError with all mistakes, naming the file and the place.
    """
    known, path = built_in_names(), Path(source)
    if source in known:
        path = Path(str(_PRESETS / f"{source}.toml"))
    elif path.is_dir():
        raise CampaignError(
            f"{source} is a folder, and a campaign is a file that ends in"
            f" {listing(SUFFIXES, 'or')}; if it holds a run, `warex report` shows that"
        )
    elif not path.suffix:
        allowed = (
            f"; give a built-in one ({', '.join(known)}) or a file that ends in"
            f" {listing(SUFFIXES, 'or')}"
        )
        raise CampaignError(
            f"there is no campaign {source!r}{did_you_mean(source, known) or allowed}"
        )
    data = read_document(path, "a campaign", CampaignError)
    if not isinstance(data, dict):
        raise CampaignError(
            f"{path} is not a campaign: it must be a mapping with the keys "
            f"{', '.join(CampaignConfig.model_fields)}"
        )
    campaign = _resolve_files(path.parent, parse_campaign(data, path))
    campaign._source = source  # type: ignore[misc] # mypy takes frozen to include private ones
    return campaign


def parse_campaign(keys: Mapping[str, JsonValue], called: object = "campaign") -> CampaignConfig:
    """Return a campaign by its keys. Raises CampaignError with all mistakes of ``called``."""
    campaign, mistakes = validate_document(CampaignConfig, dict(keys))
    if campaign is None:
        raise CampaignError(format_errors(called, mistakes))
    return campaign


def _resolve_files(folder: Path, campaign: CampaignConfig) -> CampaignConfig:
    """Return the campaign with its files resolved relative to its folder, if they exist there."""
    conditions = tuple(
        condition.model_copy(update={"scenario": str(folder / condition.scenario)})
        if condition.scenario is not None
        and condition.scenario not in preset_names()
        and (folder / condition.scenario).is_file()
        else condition
        for condition in campaign.conditions
    )
    return campaign.model_copy(
        update={
            "conditions": conditions,
            "benchmark": campaign.benchmark.relative_to(folder),
            "agents": tuple(_with_its_file(agent, folder) for agent in campaign.agents),
        }
    )


def _with_its_file(agent: AgentConfig, folder: Path) -> AgentConfig:
    kind, mark, file = agent.model.partition(":")
    if kind + mark != PLAYBOOK_PREFIX or not (folder / file).is_file():
        return agent
    return agent.model_copy(update={"model": f"{PLAYBOOK_PREFIX}{folder / file}"})
