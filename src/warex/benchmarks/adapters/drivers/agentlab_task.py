"""Runs AgentLab's GenericAgent on one BrowserGym task by one ``ExpArgs``.

A study would retry errors up to three times and so hide the effect of faults.
"""

import copy
import json
import sys
from pathlib import Path
from typing import Any

from agentlab.agents import generic_agent
from agentlab.experiments.loop import EnvArgs, ExpArgs
from agentlab.llm.chat_api import OpenAIModelArgs
from agentlab.llm.llm_configs import CHAT_MODEL_ARGS_DICT
from browsergym.experiments.benchmark.configs import DEFAULT_HIGHLEVEL_ACTION_SET_ARGS

# As in BrowserGym's own benchmarks: the action set, and whether the agent sees its tabs.
_SETS = {
    "miniwob": ("miniwob_all", False),
    "webarena": ("webarena", True),
    "visualwebarena": ("visualwebarena", True),
    "assistantbench": ("assistantbench", True),
    "workarena": ("workarena", False),
}


def main(config: dict[str, Any]) -> None:
    """Run the task; AgentLab writes ``summary_info.json`` to a folder of its own."""
    family = config["task"].partition(".")[0]
    actions, tabs = _SETS.get(family, ("webarena", True))
    agent = copy.deepcopy(getattr(generic_agent, config["agent"]))
    agent.chat_model_args = _model(config)
    agent.__post_init__()
    agent.flags.obs.use_html = agent.flags.obs.use_html or family == "miniwob"
    agent.flags.obs.use_tabs = tabs
    agent.flags.obs.use_screenshot = config["screenshot"]
    agent.flags.obs.use_som = config["screenshot"] and agent.flags.obs.use_som
    agent.flags.action.action_set = copy.deepcopy(DEFAULT_HIGHLEVEL_ACTION_SET_ARGS[actions])
    experiment = ExpArgs(
        agent_args=agent,
        env_args=EnvArgs(
            task_name=config["task"],
            task_seed=config["seed"],
            max_steps=config["max_steps"],
            headless=True,
            slow_mo=config["slow_mo"],
        ),
    )
    agent.prepare()
    experiment.prepare(Path(config["results"]))
    experiment.run()
    agent.close()


def _model(config: dict[str, Any]) -> Any:
    """Return AgentLab's own entry for the model, else OpenAI's client for a model of this name."""
    known = CHAT_MODEL_ARGS_DICT.get(config["model"])
    if known is not None:
        return copy.deepcopy(known)
    return OpenAIModelArgs(
        model_name=config["model"],
        max_total_tokens=128_000,
        max_input_tokens=128_000,
        max_new_tokens=4096,
        temperature=config["temperature"],
        vision_support=config["screenshot"],
    )


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_bytes()))
