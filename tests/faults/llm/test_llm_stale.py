from msgspec.structs import replace

from tests.faults.calls import answered, each_call
from warex.faults.llm.llm_stale import LlmStale
from warex.llm import LlmAnswer, ToolCall, Usage
from warex.llm.exchange import LlmExchange

EARLIER = LlmAnswer(
    model="m",
    text="I click.",
    tool_calls=(ToolCall("c1", "click", '{"ref": "e5"}'),),
    finish="tool_calls",
    usage=Usage(20, 5),
    complete=True,
)


@each_call
def test_the_answer_to_the_step_before_is_given_once_more(call: LlmExchange) -> None:
    _, answer = answered(LlmStale(), replace(call, previous_answer=EARLIER))

    assert answer.text == "I click."
    assert [(one.name, one.arguments) for one in answer.tool_calls] == [("click", '{"ref": "e5"}')]
    assert answer.complete


@each_call
def test_before_there_is_an_answer_it_is_empty(call: LlmExchange) -> None:
    _, answer = answered(LlmStale(), call)

    assert (answer.text, answer.tool_calls, answer.complete) == ("", (), True)
