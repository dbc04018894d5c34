import pytest

from warex.llm.recognition.hosts import is_known_llm_host


@pytest.mark.parametrize(
    "host",
    [
        "api.openai.com",
        "API.OpenAI.com:443",
        "api.openai.com.",
        "contoso.openai.azure.com",
        "openrouter.ai",
        "bedrock-runtime.eu-central-1.amazonaws.com",
        "us-central1-aiplatform.googleapis.com",
    ],
)
def test_public_llm_apis_are_known(host: str) -> None:
    assert is_known_llm_host(host)


@pytest.mark.parametrize(
    "host",
    ["openai.com", "api.openai.com.evil.example", "notopenrouter.ai", "shop.example", "[::1]:80"],
)
def test_sites_are_not(host: str) -> None:
    assert not is_known_llm_host(host)
