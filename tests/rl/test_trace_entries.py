"""Calls as a trainer reads them."""

from warex.rl.trace_entries import trace_entries
from warex.traces import LlmCall

CALL = LlmCall(
    exchange="x3",
    family="openai-chat",
    url="http://model.warex.test/v1/chat/completions",
    model="policy-1",
    model_asked="policy",
    step=1,
    began=0.5,
    messages=[{"role": "user", "content": "Which room?"}],
    stream=False,
    status=200,
    answer="click('7')",
    finish_reason="stop",
    input_tokens=3,
    output_tokens=2,
    usage="reported",
    latency_s=0.1,
    first_token_s=0.1,
    complete=True,
)


def test_a_call_is_an_entry_with_its_request_its_answer_and_an_id() -> None:
    [entry] = trace_entries([CALL], {})
    assert entry["request"]["messages"] == CALL.messages
    assert entry["response"]["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "click('7')"},
            "finish_reason": "stop",
        }
    ]
    assert entry["metadata"]["node_id"] == "x3"
