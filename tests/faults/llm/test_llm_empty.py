from tests.faults.calls import answered, each_call
from warex.faults.llm.llm_empty import LlmEmpty
from warex.llm.exchange import LlmExchange


@each_call
def test_an_answer_is_whole_and_says_nothing(call: LlmExchange) -> None:
    reply, answer = answered(LlmEmpty(), call)

    assert reply.status == 200
    assert (answer.text, answer.tool_calls, answer.complete) == ("", (), True)
    assert answer.usage is not None
    assert answer.usage.output_total == 0
