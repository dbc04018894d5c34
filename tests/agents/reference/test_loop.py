from typing import Any, cast

import pytest

from warex.agents.reference.endpoint import ModelClient, ModelError
from warex.agents.reference.loop import AgentResult, run_agent
from warex.agents.reference.prompt import Observation
from warex.agents.reference.tab import ActionFailed, Tab


class Model:
    def __init__(self, *replies: str | Exception) -> None:
        self.replies = list(replies)
        self.asked: list[str] = []

    async def ask(self, messages: list[dict[str, Any]]) -> str:
        self.asked.append(str(messages[-1]["content"]))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


class Page:
    def __init__(self, failure: str | None = None) -> None:
        self.failure = failure
        self.done: list[str] = []

    async def observe(self, *, screenshot: bool, compact_for: str | None) -> Observation:
        return Observation(url="https://shop.example/", title="Shop", tree="[1] button 'Buy'")

    async def act(self, action: Any) -> None:
        self.done.append(action.name)
        if self.failure:
            raise ActionFailed(self.failure)


async def work(model: Model, page: Page, max_steps: int = 5) -> AgentResult:
    return await run_agent(
        "Buy it", cast(Tab, page), cast(ModelClient, model), max_steps=max_steps, screenshot=False
    )


@pytest.mark.parametrize(
    ("last", "ending"),
    [
        ("send_msg_to_user('Bought.')", "answered"),
        ("report_infeasible('Sold out.')", "reported_infeasible"),
    ],
)
async def test_an_action_that_ends_the_task_is_not_done_on_the_page(last: str, ending: str) -> None:
    page = Page()

    result = await work(Model("click('1')", last), page)

    assert (result.ending, result.steps) == (ending, 2)
    assert result.answer == last.partition("'")[2].rstrip("')")
    assert page.done == ["click"]


async def test_the_steps_end_at_their_limit() -> None:
    page = Page()

    result = await work(Model(*["click('1')"] * 3), page, max_steps=3)

    assert result == AgentResult("step_limit", None, 3)
    assert page.done == ["click"] * 3


async def test_a_failed_action_is_reported_to_the_model_and_ends_nothing() -> None:
    model = Model("click('9')", "report_infeasible('No.')")

    result = await work(model, Page("There is no element 9."))

    assert result.ending == "reported_infeasible"
    assert "There is no element 9." in model.asked[1]


async def test_a_reply_without_an_action_is_reported_to_the_model() -> None:
    model = Model("Let me think.", "report_infeasible('No.')")
    page = Page()

    result = await work(model, page)

    assert result.ending == "reported_infeasible"
    assert page.done == []
    assert "Let me think." in model.asked[1]


async def test_a_model_that_cannot_be_used_is_not_an_answer() -> None:
    result = await work(Model(ModelError("The model endpoint answered 401.")), Page())

    assert result == AgentResult("model_error", None, 0, "The model endpoint answered 401.")
