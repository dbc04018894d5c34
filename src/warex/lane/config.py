"""The configuration of a lane's proxy: frozen, and plain data that can be sent to a process."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, Field, field_validator, model_validator

from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.defences import Defence
from warex.scenarios import CountPosition, Scenario
from warex.scenarios.task_detection import TaskRule
from warex.traffic import Capture, TrafficOptions


class LlmCachePaths(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """Where the cached responses of an agent's model are; new ones are stored beside the trace."""

    cache: Path
    """Folder of the run's cache, which also holds its secret."""
    shared: Path
    """Folder in it with the responses that this trial shares."""


class ProxyConfig(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The configuration of one lane's proxy for one trial."""

    capture: Capture = "forward"
    host: str = "127.0.0.1"
    port: int = Field(default=0, ge=0, le=65535)
    """0: any free port."""
    control_port: int = Field(default=0, ge=0, le=65535)
    ca: Path
    out: Path | None = None
    """Folder of the trial's events.jsonl and blobs; None keeps no trace."""
    verbose: bool = False
    """Whether the caller is told of each fault as it ends."""

    scenario: Scenario | None = None
    """May be given as a preset's name or a file."""
    seed: int = 0
    sites: tuple[str, ...] = ()
    """Origins of the task sites; empty for everything outside ``never``."""
    never: tuple[str, ...] = ()
    never_agents: tuple[str, ...] = ()
    """Prefixes of the User-Agent of clients that are neither hit nor counted, such as verifiers."""
    agent_ended: str | None = None
    """A nonce: a request for it at the canary's host means that the agent has ended its task."""
    own_proof: bool = False
    """Whether the agent's first page, on one of ``sites``, proves that its browser uses the proxy;
    otherwise a canary proves it."""
    schedule: frozenset[CountPosition] | None = None
    """The positions of a past ledger, to be hit exactly."""

    defence: Defence | None = None
    """Added to the agent's LLM requests in flight."""
    llm_cache: LlmCachePaths | None = None
    """Where LLM requests are answered from; None always asks the model. Needs ``out``."""

    secrets: frozenset[str] = Field(default=frozenset(), repr=False)
    """Secrets of the agent's command beside those in this process's environment; no trace has
    them."""
    redaction_key: str = Field(default="", repr=False)
    """Key of the hashes in the trace, in hex. A run's trials share one, so that their hashes can be
    compared; empty: a new key for this trial. No file of the trial holds the key."""
    traffic: TrafficOptions = TrafficOptions()

    tasks: TaskRule | None = None
    """How to detect the tasks of one command by their traffic if they are not marked."""
    vocabulary: Vocabulary | None = None
    """The benchmark's actions, which identify the agent's last one."""

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
        """Load a scenario that is given by name or file; raise ScenarioError."""
        if not isinstance(value, str):
            return value
        from warex.scenarios.load import load_scenario

        return load_scenario(value)
