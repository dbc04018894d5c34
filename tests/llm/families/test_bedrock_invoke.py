import json

import pytest

from warex.llm import recognise
from warex.llm.families.bedrock_invoke import BedrockInvoke

TURNS = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/invoke", {"messages": TURNS}),
        ("/model/amazon.titan-embed-text-v2%3A0/invoke", {"inputText": "hi"}),
        ("/model/meta.llama3-8b-instruct-v1%3A0/invoke", {"prompt": "hi"}),
        ("/model/m/invoke", {"messages": [{"text": "hi"}]}),
        ("/model/m/async-invoke", {"messages": TURNS}),
    ],
)
def test_other_requests_are_not_recognised_as_chats(path: str, body: object) -> None:
    assert recognise("POST", path, "application/json", json.dumps(body).encode()) is None


@pytest.mark.parametrize(
    ("sent", "become"),
    [
        ('{"anthropic_version":"x"}', '{"system": "b", "anthropic_version":"x"}'),
        ('{"schemaVersion":"x"}', '{"system": [{"text": "b"}], "schemaVersion":"x"}'),
        ('{"messages":[]}', '{"messages":[{"role": "system", "content": "b"}]}'),
    ],
    ids=["Claude", "Nova", "OpenAI"],
)
def test_a_system_prompt_is_in_the_providers_place(sent: str, become: str) -> None:
    assert BedrockInvoke().append_to_system_prompt(sent.encode(), "b").decode() == become
