import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from warex.traces.redaction.headers import redact_header
from warex.traces.redaction.structured import (
    redact_image,
    redact_json,
    redact_text,
    redact_url,
)

KEYS = (
    "sk-proj-abcDEF0123456789abcdef",
    "sk-ant-api03-abc_DEF-0123456789",
    "sk-or-v1-0123456789abcdef0123456789abcdef",
    "sk-abcdefghijklmnopqrstuvwxyz",
    "sk_live_0123456789abcdefABCDEF",
    "gsk_0123456789abcdefABCDEF0123",
    "xai-0123456789abcdefABCDEF0123",
    "hf_abcdefghijklmnopqrstuvwxyzABCD",
    "AIzaSyA-0123456789_abcdefghijklmnopqrs",
    "ya29.a0AfH6SMB_0123456789-abcdef",
    "AKIAIOSFODNN7EXAMPLE",
    "ASIAIOSFODNN7EXAMPLE",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "gho_0123456789abcdefghijABCDEFGHIJ012345",
    "github_pat_11ABCDEFG0_0123456789abcdef",
    "glpat-0123456789_abcdef-ABC",
    "xoxb-123456789012-abcdefABCDEF",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLW9mLWl0",
)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("around", ["{}", "my key is {}.", "k={}&x=1", "a\n{}\n", "é{}", "q%20{}"])
def test_key_shaped_values_are_redacted_everywhere(key: str, around: str) -> None:
    expected = around.format("[redacted]")

    assert redact_text(around.format(key)) == expected


@pytest.mark.parametrize("word", ["Bearer", "bearer"])
def test_a_bearer_token_is_redacted(word: str) -> None:
    assert redact_text(f"{word} dG9rZW4tMTIzNDU2Nzg5") == f"{word} [redacted]"


def test_a_private_key_is_redacted_in_text_and_in_json_within_json() -> None:
    pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg/+=\nkqhkiG9w0\n-----END PRIVATE KEY-----\n"
    for _ in range(3):
        assert "MII" not in redact_text(pem)
        assert "kqhki" not in redact_text(pem)
        pem = json.dumps(pem)


@pytest.mark.parametrize(
    "text",
    [
        "the task-list-of-2024-for-the-desk",
        'class="sk-folding-cube-loader-spinner"',
        "she is the bearer of extraordinarily-good-news",
        "a risk-assessment-0123456789-of-things",
        "AKIA is short",
        "password: hunter2, as the page told the agent",
    ],
)
def test_other_text_is_left_whole(text: str) -> None:
    assert redact_text(text) == text


@given(st.text(), st.sampled_from(KEYS), st.text())
def test_a_line_of_json_stays_json_and_only_the_key_is_gone(
    before: str, key: str, after: str
) -> None:
    line = json.dumps({"x": f"{before} {key} {after}"}, ensure_ascii=False)

    assert key not in json.loads(redact_text(line))["x"]


@given(
    st.text(alphabet='\\"\b\f\n\r\t\x1f /nrtbfusk-_A1z eyJ.', max_size=80), st.sampled_from(KEYS)
)
def test_escapes_around_a_key_never_break_the_json(noise: str, key: str) -> None:
    for text in (noise + key, key + noise, f"PRIVATE KEY-----{noise}{key}", f"Bearer 1{noise}"):
        json.loads(redact_text(json.dumps(text)))


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "api-key",
        "X-API-Key",
        "x-goog-api-key",
        "Cookie",
        "Set-Cookie",
        "proxy-authorization",
        "X-Auth-Token",
    ],
)
def test_secret_headers_are_redacted_in_any_case(name: str) -> None:
    assert redact_header(name, "hush") == (name, "[redacted]")
    assert redact_header("accept", "*/*") == ("accept", "*/*")


def test_urls_in_headers_are_redacted() -> None:
    _, value = redact_header("referer", "https://a.example/?key=hush&x=1")

    assert value == "https://a.example/?key=[redacted]&x=1"


@pytest.mark.parametrize(
    "name",
    [
        "key",
        "KEY",
        "api_key",
        "apikey",
        "api%5Fkey",
        "access_token",
        "token",
        "sig",
        "X-Amz-Signature",
    ],
)
def test_credentials_in_queries_and_fragments_are_redacted(name: str) -> None:
    for url in (
        "https://a.example/p?{}&q=1",
        "https://a.example/p?q=1&{}",
        "https://a.example/#{}",
    ):
        assert redact_url(url.format(f"{name}=hush")) == url.format(f"{name}=[redacted]")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "<https://a.example/b?key=hush>; rel=next",
            "<https://a.example/b?key=[redacted]>; rel=next",
        ),
        ('x="https://a.example/?key=hush" y', 'x="https://a.example/?key=[redacted]" y'),
        ("x='https://a.example/?key=hush' y", "x='https://a.example/?key=[redacted]' y"),
        (
            '"see \\"https://a.example/?key=hush\\""',
            '"see \\"https://a.example/?key=[redacted]\\""',
        ),
        ('https://a.example/?key="hush"', 'https://a.example/?key="[redacted]"'),
    ],
)
def test_text_around_a_url_stays(before: str, after: str) -> None:
    assert redact_url(before) == after
    assert redact_header("link", before) == ("link", after)


@pytest.mark.parametrize("password", ["hush", "hu@sh"])
def test_a_user_and_password_in_a_url_are_redacted(password: str) -> None:
    url = f"https://me:{password}@a.example/x@y"

    assert redact_url(url) == "https://redacted@a.example/x@y"


@pytest.mark.parametrize(
    "url", ["https://a.example/", "https://a.example/?q=key&monkey=1&d=a=b", "/x;v=1?a[]=2#key"]
)
def test_other_urls_are_left_whole(url: str) -> None:
    assert redact_url(url) == url


def test_credential_fields_are_redacted_at_any_depth() -> None:
    before: JsonValue = {
        "a": [{"apiKey": "x", "api_key": 7, "Client-Secret": ["x", "y"]}],
        "password": "x",
    }

    assert redact_json(before) == {
        "a": [
            {
                "apiKey": "[redacted]",
                "api_key": "[redacted]",
                "Client-Secret": ["[redacted]", "[redacted]"],
            }
        ],
        "password": "[redacted]",
    }


def test_the_schema_of_a_tool_and_the_text_of_a_message_are_left_whole() -> None:
    before: JsonValue = {
        "properties": {"password": {"type": "string"}},
        "required": ["password"],
        "max_tokens": 5,
        "content": "the password is hunter2",
        "token": None,
    }

    assert redact_json(before) == before


def test_json_deeper_than_any_reader_can_follow_is_left_out() -> None:
    value: JsonValue = "bottom"
    for _ in range(50_000):
        value = [value]

    assert "nested too deeply" in json.dumps(redact_json(value))


def test_an_image_that_is_text_is_looked_through_and_another_is_not() -> None:
    svg = b'<svg><a href="https://a.example/?token=hush"/><text>sk-proj-abcDEF0123456789abcdef</text></svg>'
    png = b"\x89PNG\r\n\x1a\n\xff token=hush sk-proj-abcDEF0123456789abcdef"

    assert redact_image(svg) == (
        b'<svg><a href="https://a.example/?token=[redacted]"/><text>[redacted]</text></svg>'
    )
    assert redact_image(png) == png


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"password": {"value": "hush"}}, {"password": {"value": "[redacted]"}}),
        ({"password": {"type": "string"}}, {"password": {"type": "string"}}),
        ({"password": {"value": ""}}, {"password": {"value": ""}}),
        ({"argv": ["a", "--password", "hush"]}, {"argv": ["a", "--password", "[redacted]"]}),
        ({"args": ["--api-key=hush", "b"]}, {"args": ["--api-key=[redacted]", "b"]}),
    ],
)
def test_a_value_that_its_place_names_goes(before: JsonValue, after: JsonValue) -> None:
    assert redact_json(before) == after


def test_the_key_of_an_object_stays_beside_what_it_holds() -> None:
    fields = '{"fields":[{"name":"user","value":"bob"},{"name":"password","value":"meadow"}]}'

    assert redact_text(fields) == fields.replace("meadow", "[redacted]")
