import pytest

from warex.llm.embedded import is_mock_model


@pytest.mark.parametrize(
    ("model", "embedded"),
    [
        ("scripted:patient", True),
        ("playbook:rules.yaml", True),
        ("gpt-4o", False),
        ("openai/scripted", False),
    ],
)
def test_a_model_is_played_by_warex_when_its_name_says_so(model: str, embedded: bool) -> None:
    assert is_mock_model(model) is embedded
