import json

from bench.rows.redaction import PlainLines, conversation

from tests.exports.builders import llm_call
from warex.traces.redaction.event_lines import EventLines
from warex.traces.redaction.redactor import Redactor


def test_only_the_lines_that_are_compared_are_redacted() -> None:
    asked = [{"role": "user", "content": "password: Otter!4711xyz"}]
    call = llm_call(messages=asked)

    assert "Otter" not in EventLines(Redactor()).of(call)
    assert json.loads(PlainLines(Redactor()).of(call))["messages"] == asked


def test_each_step_adds_a_page_and_forgets_the_oldest() -> None:
    first, second = (json.loads(conversation(step))["messages"] for step in (0, 1))

    assert second[1:-2] == first[3:]
    assert len(second) == len(first)
