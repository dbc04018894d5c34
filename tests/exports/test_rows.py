import pytest
from pydantic import ValidationError

from tests.exports.builders import row
from warex.exports.rows import Row


def test_the_answer_is_the_last_message_and_the_prompt_the_rest() -> None:
    one = row()

    assert [message["role"] for message in one.prompt] == ["user"]
    assert one.answer["content"] == "I save.\nclick('1')"


def test_a_row_without_a_final_answer_is_refused() -> None:
    with pytest.raises(ValidationError, match="the last message is not the assistant's"):
        row(messages=[{"role": "user", "content": "x"}])


@pytest.mark.parametrize("message", [{"content": "x"}, {"role": "user", "content": 3}])
def test_what_is_not_a_message_is_refused(message: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="a message"):
        row(messages=[message, {"role": "assistant", "content": "x"}])


def test_tools_are_one_text_in_a_file_and_a_list_in_memory() -> None:
    tools = [{"type": "function", "function": {"name": "click"}}]
    one = row(tools=tools)

    written = one.model_dump(mode="json")

    assert isinstance(written["tools"], str)
    assert Row.model_validate(written).tools == tools
    assert row().model_dump(mode="json")["tools"] is None
