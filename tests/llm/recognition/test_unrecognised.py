"""What looks like a call to a model is said to be unread; what is none is left out."""

import json

import pytest

from warex.llm import LLM_APIS, LlmApi
from warex.llm.recognition.unrecognised import (
    _PATHS,
    BINARY,
    NO_SUCH_API,
    NOT_UNDERSTOOD,
    may_be_unrecognised,
    unrecognised_reason,
)

TURNS = [{"role": "user", "content": "hi"}]
LOCAL = "gateway.example"


each_family = pytest.mark.parametrize("family", LLM_APIS, ids=lambda family: family.name)


def why(path: str, body: object = None, host: str = LOCAL, **headers: str) -> str | None:
    return unrecognised_reason("POST", host, path, headers, json.dumps(body or {}).encode())


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/responses/compact", {"model": "m", "input": "hi"}),
        ("/v1/completions", {"model": "m", "prompt": "hi"}),
        ("/v1/chat", {"model": "m", "messages": TURNS}),
        ("/v1/chat", {"model": "m", "message": "hi", "chat_history": []}),
        ("/v1/fim/completions", {"model": "m", "prompt": "def f(", "suffix": "return"}),
        ("/ask", {"model": "m", "messages": TURNS}),
        ("/v1/complete", {"model": "m", "prompt": "hi"}),
        ("/v1/conversations", {"model": "m", "inputs": "hi"}),
        ("/v1/conversations", {"agent_id": "a", "inputs": [{"role": "user", "content": "hi"}]}),
        ("/v1beta/interactions", {"model": "m", "input": "hi"}),
        ("/v1beta/interactions", {"agent": "a", "input": "hi"}),
    ],
)
def test_other_families_are_unread_wherever_they_are_served(path: str, body: object) -> None:
    assert why(path, body) == NO_SUCH_API


@pytest.mark.parametrize(
    ("host", "path"),
    [
        ("api.cohere.com", "/v1/chat"),
        ("api.openai.com:443", "/v1/completions"),
        ("api.openai.com", "/v1/batches"),
        ("api.openai.com", "/v1/threads/runs"),
        ("api.openai.com", "/v1/threads/t1/runs"),
        ("shop.openai.azure.com", "/openai/threads/t1/runs"),
        ("api.openai.com", "/v1/threads/t1/runs/r1/submit_tool_outputs"),
        ("api.anthropic.com", "/v1/messages/batches"),
        ("generativelanguage.googleapis.com", "/v1beta/models/gemini-2.5-pro:batchGenerateContent"),
        ("api.mistral.ai", "/v1/fim/completions"),
    ],
)
def test_on_a_known_host_the_path_alone_is_enough(host: str, path: str) -> None:
    assert unrecognised_reason("POST", host, path, {}, b"") == NO_SUCH_API


def test_an_unreadable_body_is_recognised_by_its_path() -> None:
    broken = "its content coding is 'compress', which is not read"

    def reason(host: str, path: str, **headers: str) -> str | None:
        return unrecognised_reason("POST", host, path, headers, b"", broken)

    assert reason(LOCAL, "/v1/chat/completions?x=1") == broken
    assert reason("api.openai.com", "/v1/responses") == broken
    assert reason(LOCAL, "/upload") is None
    assert reason(LOCAL, "/v1/messages/count_tokens") is None
    assert reason(LOCAL, "/v1/messages", origin="https://shop.example") is None


@pytest.mark.parametrize("path", ["/v1/conversations/c1", "/v1/conversations/c1/restart"])
def test_what_a_conversation_goes_on_with_names_no_model(path: str) -> None:
    assert why(path, {"inputs": "hi"}, host="api.mistral.ai") == NO_SUCH_API
    assert why(path, {"inputs": "hi"}) is None


def test_ending_an_upload_is_not_a_model_call() -> None:
    assert why("/v1/uploads/u1/complete", {"part_ids": []}, host="api.openai.com") is None


@pytest.mark.parametrize(
    ("host", "path"),
    [
        ("api.openai.com", "/v1/threads"),
        ("api.openai.com", "/v1/threads/t1/messages"),
        ("api.openai.com", "/v1/threads/t1/runs/r1/cancel"),
        ("localhost:2024", "/threads/t1/runs"),
    ],
)
def test_what_only_keeps_or_ends_a_thread_asks_nothing(host: str, path: str) -> None:
    assert why(path, {"role": "user", "content": "hi", "assistant_id": "a"}, host=host) is None


def test_creating_a_conversation_is_not_a_model_call() -> None:
    made = {"items": [{"role": "user", "content": "hi"}]}
    assert why("/v1/conversations", made, host="api.openai.com") is None


@each_family
def test_a_call_of_a_family_whose_body_is_another_s_says_so(family: LlmApi) -> None:
    for ending in family.path_endings:
        assert why(f"/v1{ending}", host="api.openai.com") == NOT_UNDERSTOOD
        assert why(f"/v1{ending}?beta=true", {"model": "m", "messages": TURNS}) == NOT_UNDERSTOOD
        assert may_be_unrecognised("POST", f"/v1{ending}?beta=true")


@each_family
def test_what_a_family_reads_is_not_listed_as_unread(family: LlmApi) -> None:
    assert not [path for path in _PATHS if path.endswith(family.path_endings)]


def test_a_call_to_a_gateway_with_the_model_in_a_header_is_unread() -> None:
    path, asked = "/v4/ai/language-model", {"prompt": [{"role": "user", "content": []}]}
    assert why(path, asked, **{"ai-language-model-id": "openai/gpt-5"}) == NO_SUCH_API
    assert why(path, host="ai-gateway.vercel.sh") == NO_SUCH_API
    assert why(path, asked) is None


def test_a_call_by_grpc_is_unread() -> None:
    path = "/google.ai.generativelanguage.v1beta.GenerativeService/GenerateContent"
    assert (
        unrecognised_reason("POST", "generativelanguage.googleapis.com", path, {}, b"\0") == BINARY
    )


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/messages", {"text": "hello", "to": "ann"}),
        ("/messages", {"messages": TURNS}),
        ("/order", {"model": "bicycle", "messages": []}),
        ("/api/generate", {"model": "llama3", "prompt": "", "keep_alive": "1h"}),
        ("/order", {"model": "bicycle", "messages": ["hello"]}),
        ("/v1/embeddings", {"model": "m", "input": "hi"}),
        ("/order", []),
    ],
)
def test_a_sites_own_data_is_not_a_call(path: str, body: object) -> None:
    assert why(path, body) is None


def test_what_is_not_a_call_of_an_agent_is_left_out() -> None:
    chat = {"model": "m", "messages": TURNS}
    assert why("/api/chat", chat, **{"sec-fetch-dest": "empty"}) is None
    assert why("/api/chat", chat, referer="https://chat.example/") is None
    assert unrecognised_reason("GET", "api.anthropic.com", "/v1/messages", {}, b"") is None
    assert unrecognised_reason("POST", LOCAL, "/v1/messages", {}, b"\x00{not json") is None
    assert why("/v1/messages/count_tokens", chat) is None


def test_a_program_in_node_is_not_a_page() -> None:
    chat = {"model": "m", "messages": TURNS}
    assert why("/v1/messages", chat, **{"sec-fetch-mode": "cors"}) == NOT_UNDERSTOOD


@pytest.mark.parametrize("scheme", ["chrome-extension", "moz-extension", "safari-web-extension"])
def test_an_extension_of_a_browser_is_not_a_page(scheme: str) -> None:
    headers = {"origin": f"{scheme}://abc", "sec-fetch-dest": "empty", "sec-fetch-site": "none"}
    assert why("/v1/messages", {"model": "m", "messages": TURNS}, **headers) == NOT_UNDERSTOOD


def test_a_possibly_unrecognised_call_is_known_by_its_path() -> None:
    assert may_be_unrecognised("POST", "/v1/messages?beta=true")
    assert not may_be_unrecognised("GET", "/v1/messages")
    assert may_be_unrecognised("POST", "/v1/conversations/c1?x=1")
    assert not may_be_unrecognised("POST", "/upload")


@pytest.mark.parametrize(
    ("model", "reason"), [("titan-embed-text-v2", None), ("titan-text", NOT_UNDERSTOOD)]
)
def test_a_model_of_bedrock_that_embeds_is_not_a_call(model: str, reason: str | None) -> None:
    host = "bedrock-runtime.eu-west-1.amazonaws.com"
    assert why(f"/model/amazon.{model}/invoke", {"inputText": "hi"}, host=host) == reason


@pytest.mark.parametrize(
    ("model", "body"),
    [
        ("meta.llama3-8b-instruct-v1:0", {"prompt": "hi", "max_gen_len": 9}),
        ("mistral.mistral-7b-instruct-v0:2", {"prompt": "<s>[INST] hi [/INST]"}),
        ("amazon.titan-text-express-v1", {"inputText": "hi"}),
        ("cohere.command-r-v1:0", {"message": "hi"}),
        ("deepseek.r1-v1:0", {"prompt": "hi"}),
    ],
)
@pytest.mark.parametrize("host", [LOCAL, "bedrock-runtime.us-east-1.amazonaws.com"])
def test_raw_prompts_over_bedrock_are_unread(host: str, model: str, body: object) -> None:
    assert why(f"/model/{model}/invoke", body, host=host) == NOT_UNDERSTOOD
