"""Has REAL's own harness do one task with its demo agent, or one's own; run by REAL's own Python.

Its one argument is a JSON file of what ``REAL.harness`` is told, and beside that: ``actions``, the
subsets of the harness's actions that the demo agent has, or ``agent``, which takes its place:
``file``, ``name`` of a subclass of ``AbstractAgentArgs`` in it, and its ``arguments``. Nothing of
the harness is changed.
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
        """Return the demo agent, told of these actions in place of its own."""
        agent = super().make_agent()
        agent.action_set = HighLevelActionSet(
            subsets=list(self.actions), strict=False, multiaction=False, demo_mode=self.demo_mode
        )
        return agent


def main(told: dict[str, Any]) -> None:
    """Do the task; the harness leaves ``summary_info.json`` in its results folder."""
    actions, own = told.pop("actions", None), told.pop("agent", None)
    if own is not None:
        told["agentargs"] = own_agent(own, told["model"])
    harness = REAL.harness(**told)
    if own is None and actions is not None:
        demo = harness.agent_args
        said = {each.name: getattr(demo, each.name) for each in dataclasses.fields(demo)}
        harness.agent_args = DemoAgentWith(**said, actions=tuple(actions))
    harness.run()


def own_agent(own: dict[str, Any], model: str) -> Any:
    """Return the arguments of one's own agent, which name the model where they have a place."""
    path = Path(own["file"])
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} is no Python module")
    module = importlib.util.module_from_spec(spec)
    # The harness keeps a pickle of what it ran.
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
