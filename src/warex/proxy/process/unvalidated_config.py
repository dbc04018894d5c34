"""A lane's configuration as it travels, for a caller that need not load what reads it.

Reading a configuration takes the models of scenarios and faults, a quarter of a second of processor
time, which the proxy's process spends anyway.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

type Capture = Literal["forward", "handed", "transparent"]


class ConfigLike(Protocol):
    """What a lane's owner must know of a configuration."""

    @property
    def capture(self) -> Capture:
        """How connections come."""

    @property
    def host(self) -> str:
        """Where clients that know the proxy find it."""

    def model_dump_json(self) -> str:
        """Return it as JSON, as ``ProxyConfig`` reads it."""


@dataclass(frozen=True, slots=True)
class UnvalidatedConfig:
    """The values of a ``ProxyConfig`` that nobody has checked yet; the proxy does, in its words."""

    capture: Capture
    values: Mapping[str, object]
    """Plain data; ``scenario`` may be a preset's name."""
    host: str = "127.0.0.1"

    def model_dump_json(self) -> str:
        """Return it as JSON, as ``ProxyConfig`` reads it."""
        return json.dumps({**self.values, "capture": self.capture, "host": self.host})
