import json

import pytest

from tests.faults.calls import answered, each_call
from warex.faults.llm.llm_malformed import LlmMalformed
from warex.llm import tool_names
from warex.llm.exchange import LlmExchange


@each_call
def test_arguments_break_off_in_an_answer_that_is_whole(call: LlmExchange) -> None:
    _, answer = answered(LlmMalformed(how="arguments"), call)

    assert answer.complete
    message = answer.tool_calls[0].arguments if call.llm_request.tools else answer.text
    # Where an API has arguments as an object, its last text breaks off.
    assert message.rstrip('"}').endswith(("so I", '"ref": "e'))
    if not call.llm_request.tools:
        with pytest.raises(ValueError, match="Unterminated"):
            json.loads(answer.text)


@each_call
def test_a_tool_that_was_not_offered_is_called(call: LlmExchange) -> None:
    _, answer = answered(LlmMalformed(how="unknown_tool"), call)

    offered = tool_names(call.llm_request)
    if call.llm_request.tools:
        assert answer.tool_calls[0].name not in offered
    else:
        assert json.loads(answer.text)["action"]


@each_call
def test_the_apis_own_json_breaks_off(call: LlmExchange) -> None:
    reply, answer = answered(LlmMalformed(how="body"), call)

    assert reply.status == 200
    assert not answer.complete
