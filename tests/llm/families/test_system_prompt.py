import pytest

from warex.llm.families.system_prompt import in_member, in_messages


@pytest.mark.parametrize(
    ("sent", "become"),
    [
        ('{"n":1e0}', '{"system": [{"text": "b"}], "n":1e0}'),
        ('{"system":[]}', '{"system":[{"text": "b"}]}'),
        ('{"system":null}', '{"system":[{"text": "b"}]}'),
        ('{"system":[{"text":"a"}]}', '{"system":[{"text":"a"}, {"text": "\\n\\nb"}]}'),
    ],
)
def test_amazons_blocks_have_no_type(sent: str, become: str) -> None:
    assert in_member(sent, "system", "b", amazon=True) == become


def test_amazon_takes_no_text_alone() -> None:
    with pytest.raises(ValueError, match="neither"):
        in_member('{"system": "a"}', "system", "b", amazon=True)


def test_a_member_may_have_another_name() -> None:
    assert in_member('{"preamble":"a"}', "preamble", "b") == '{"preamble":"a\\n\\nb"}'


def test_the_last_of_several_system_messages_is_added_to() -> None:
    one = '{"role":"system","content":"a"}'
    sent = f'{{"messages":[{one},{one}]}}'
    assert in_messages(sent, "b") == f'{{"messages":[{one},{one[:-2]}\\n\\nb"}}]}}'
