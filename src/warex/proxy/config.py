"""What a lane's proxy is told once, at its start: frozen, and plain enough to cross a process."""

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, Field, field_validator, model_validator

from warex.llm.actions.parser import Vocabulary
from warex.llm.defences import Defence
from warex.scenarios import CountPosition, Scenario
from warex.scenarios.task_detection import TaskRule
from warex.traffic import TrafficOptions


class LlmCachePaths(BaseModel, frozen=True, extra="forbid"):
    """Where the earlier answers of an agent's model lie; its new ones go beside the trace."""

    cache: Path
    """Folder of the run's cache, which holds its secret."""
    shared: Path
    """Folder in it of the answers that this trial shares."""


class ProxyConfig(BaseModel, frozen=True, extra="forbid"):
    """All that one lane's proxy needs for one trial."""

    capture: Literal["forward", "handed", "transparent"] = "forward"
    """How connections come: from clients that know the proxy; from a namespace whose sockets are
    handed over; or redirected to ``host`` and ``port`` by the machine's own rules."""
    host: str = "127.0.0.1"
    port: int = Field(default=0, ge=0, le=65535)
    """0: any free port."""
    control_port: int = Field(default=0, ge=0, le=65535)
    ca: Path
    out: Path | None = None
    """Folder of the trial's events.jsonl and blobs; None keeps no trace."""

    scenario: Scenario | None = None
    """A preset's name or a file may be given in its place."""
    seed: int = 0
    sites: tuple[str, ...] = ()
    """Origins of the task sites; empty for everything outside ``never``."""
    never: tuple[str, ...] = ()
    never_agents: tuple[str, ...] = ()
    """How the User-Agent begins of clients that are never touched nor counted: verifiers."""
    agent_ended: str | None = None
    """A nonce: who asks the canary's host for it says that the agent has ended its task."""
    own_proof: bool = False
    """Whether the agent opens a page of ``sites`` before all else, which then proves that its
    browser comes this way; otherwise a canary does."""
    schedule: frozenset[CountPosition] | None = None
    """A past ledger's places, to be hit exactly."""

    defence: Defence | None = None
    """What is added to the agent's LLM requests in flight."""
    llm_cache: LlmCachePaths | None = None
    """Where LLM requests are answered from; None asks the model each time. Needs ``out``."""

    secrets: frozenset[str] = Field(default=frozenset(), repr=False)
    """Values that the agent's command is given beside those in this process's environment: written
    into no trace."""
    traffic: TrafficOptions = TrafficOptions()

    tasks: TaskRule | None = None
    """How the tasks of one command are told apart by their traffic, where nobody marks them."""
    vocabulary: Vocabulary | None = None
    """The benchmark's actions, by which the agent's last one is known."""

    benchmark: str = ""
    agent: str = ""
    condition: str = ""
    task: str = ""
    repeat: int = 1
    attempt: int = 1
    replay_of: str | None = None

    @model_validator(mode="after")
    def _check_llm_cache(self) -> Self:
        if self.llm_cache is not None and self.out is None:
            raise ValueError("llm_cache needs out, beside which new answers are kept")
        return self

    @field_validator("scenario", mode="before")
    @classmethod
    def _load_scenario(cls, value: object) -> object:
        """Read a scenario of which only the name or the file is told; raise ScenarioError."""
        if not isinstance(value, str):
            return value
        from warex.scenarios.load import load_scenario

        return load_scenario(value)
