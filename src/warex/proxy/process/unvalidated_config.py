"""A lane's configuration for a caller that does not import its models.

Importing the models of scenarios and faults takes a quarter of a second of processor time; the
proxy's process validates the configuration anyway.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warex.traffic import Capture

if TYPE_CHECKING:
    from warex.lane.config import ProxyConfig

type ConfigLike = ProxyConfig | UnvalidatedConfig


@dataclass(frozen=True, slots=True)
class UnvalidatedConfig:
    """The values of a ``ProxyConfig``, which the proxy validates."""

    capture: Capture
    values: Mapping[str, object]
    """Plain data; ``scenario`` may be a preset's name."""
    host: str = "127.0.0.1"

    def model_dump_json(self) -> str:
        """Return it as JSON, as ``ProxyConfig`` reads it."""
        return json.dumps({**self.values, "capture": self.capture, "host": self.host})
