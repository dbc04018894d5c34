"""The agent's loop: observe the page, ask the model, act."""

import sys
from dataclasses import dataclass
from typing import Literal

from warex.agents.reference.actions import BadAction, parse
from warex.agents.reference.endpoint import ModelClient, ModelError
from warex.agents.reference.prompt import Step, messages
from warex.agents.reference.tab import ActionFailed, Tab

type Ending = Literal["answered", "reported_infeasible", "step_limit", "model_error"]


@dataclass(frozen=True, slots=True)
class AgentResult:
    """How it ended: `answer` is the message to the user, `steps` the number of model answers."""

    ending: Ending
    answer: str | None
    steps: int
    error: str | None = None


async def run_agent(
    goal: str,
    tab: Tab,
    endpoint: ModelClient,
    *,
    max_steps: int,
    screenshot: bool,
    compact: bool = False,
) -> AgentResult:
    """Work on a goal until an action ends it, the steps are used up, or the model is unusable.

    Raises playwright's Error if the browser itself is gone.
    """
    past: list[Step] = []
    while len(past) < max_steps:
        seen = await tab.observe(screenshot=screenshot, compact_for=goal if compact else None)
        try:
            reply = await endpoint.ask(messages(goal, seen, past, compact=compact))
        except ModelError as error:
            return AgentResult("model_error", None, len(past), str(error))
        sys.stderr.write(f"[{len(past) + 1}] {' '.join(reply.split())[:200]}\n")
        failure: str | None = None
        try:
            action = parse(reply)
            if action.name == "send_msg_to_user":
                return AgentResult("answered", action.text(0), len(past) + 1)
            if action.name == "report_infeasible":
                return AgentResult("reported_infeasible", action.text(0), len(past) + 1)
            await tab.act(action)
        except (BadAction, ActionFailed) as error:
            failure = str(error)
        past.append(Step(reply, failure))
    return AgentResult("step_limit", None, len(past))
