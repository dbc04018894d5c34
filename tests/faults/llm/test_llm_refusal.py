from tests.faults.calls import CALLS, answered, each_call
from warex.faults.llm.llm_refusal import LlmRefusal
from warex.llm.exchange import LlmExchange


@each_call
def test_a_refusal_is_a_whole_answer_without_a_tool_call(call: LlmExchange) -> None:
    _, answer = answered(LlmRefusal(text="I will not."), call)

    assert (answer.text, answer.tool_calls, answer.complete) == ("I will not.", (), True)


def test_without_words_of_its_own_it_says_one_of_several_usual_sentences() -> None:
    message = {answered(LlmRefusal(), CALLS[0], seed)[1].text for seed in range(30)}

    assert len(message) > 1
    assert answered(LlmRefusal(), CALLS[0], 1) == answered(LlmRefusal(), CALLS[0], 1)
