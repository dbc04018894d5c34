"""Runs REAL's harness on one task with the demo agent or the user's; run by REAL's own Python.

Its one argument is a JSON file of the arguments of ``REAL.harness`` and ``actions``, the demo
agent's subsets of actions, or ``agent``: ``file``, ``name`` of a subclass of ``AbstractAgentArgs``
in it, and its ``arguments``.
"""

import dataclasses
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from agisdk import REAL
from agisdk.REAL.browsergym.core.action.highlevel import HighLevelActionSet
from agisdk.REAL.demo_agent.basic_agent import DemoAgentArgs


@dataclasses.dataclass
class DemoAgentWith(DemoAgentArgs):  # type: ignore[misc] # not installed here
    """The demo agent with other subsets of the harness's own actions."""

    actions: tuple[str, ...] = ()

    def make_agent(self) -> Any:
        """Return the demo agent with these actions."""
        agent = super().make_agent()
        agent.action_set = HighLevelActionSet(
            subsets=list(self.actions), strict=False, multiaction=False, demo_mode=self.demo_mode
        )
        return agent


def main(config: dict[str, Any]) -> None:
    """Do the task; the harness leaves ``summary_info.json`` in its results folder."""
    actions, own = config.pop("actions", None), config.pop("agent", None)
    if own is not None:
        config["agentargs"] = own_agent(own, config["model"])
    harness = REAL.harness(**config)
    if own is None and actions is not None:
        demo = harness.agent_args
        fields = {each.name: getattr(demo, each.name) for each in dataclasses.fields(demo)}
        harness.agent_args = DemoAgentWith(**fields, actions=tuple(actions))
    harness.run()


def own_agent(own: dict[str, Any], model: str) -> Any:
    """Return the user's agent arguments, with the model's name if they have that field."""
    path = Path(own["file"])
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    # The harness pickles the arguments.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    kind = getattr(module, own["name"], None)
    if kind is None:
        sys.exit(f"{path} holds no {own['name']}")
    arguments = dict(own["arguments"])
    if "model_name" in getattr(kind, "__dataclass_fields__", {}):
        arguments.setdefault("model_name", model)
    return kind(**arguments)


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_bytes()))
