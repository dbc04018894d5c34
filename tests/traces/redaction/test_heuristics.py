"""Secrets are found by their context; similar texts that open nothing stay."""

import json

import pytest

from warex.traces.redaction.headers import redact_header
from warex.traces.redaction.names import Secrecy, name_secrecy
from warex.traces.redaction.structured import redact_line, redact_text, redact_url

TOKEN = "q7Rt2LmX9bVc4KpZ8wYnHs6Jd3FgTa5Qe1UiPx0B"
HEX = "9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d65"
UUID = "7d444840-9dc0-41d1-b245-5ffdce74fad2"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"v1.proto, bearer.{TOKEN}", "v1.proto, bearer.[redacted]"),
        (f"access_token, {TOKEN}", "access_token, [redacted]"),
        (f"chat, token.{HEX}", "chat, token.[redacted]"),
        (f"Bearer, {HEX}", "Bearer, [redacted]"),
        (f"graphql-transport-ws, {UUID}", "graphql-transport-ws, [redacted]"),
        (f"v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.{TOKEN}", None),
    ],
)
def test_a_token_among_subprotocols_goes_and_they_stay(before: str, after: str | None) -> None:
    cleaned = redact_header("Sec-WebSocket-Protocol", before)[1]

    assert not any(secret in cleaned for secret in (TOKEN, HEX, UUID))
    assert cleaned.startswith(before.split(",")[0])
    assert after in (None, cleaned)


@pytest.mark.parametrize(
    "value",
    [
        "graphql-transport-ws",
        "v12.stomp, v11.stomp, v10.stomp",
        "mqtt, mqttv3.1",
        "v4.channel.k8s.io, v5.channel.k8s.io",
        "ocpp1.6, ocpp2.0.1",
        "actioncable-v1-json, actioncable-unsupported",
        "v1.kernel.websocket.jupyter.org",
        "soap, wamp.2.json, wamp.2.msgpack",
        "json.webpubsub.azure.v1",
        "binary, base64",
        "xmpp, sip, vnc-2",
    ],
)
def test_subprotocols_are_not_tokens(value: str) -> None:
    assert redact_header("Sec-WebSocket-Protocol", value)[1] == value


@pytest.mark.parametrize(
    "name",
    ["X-Magic-Link", "X-Ticket", "X-Login-Ticket", "X-Session", "X-Session-Uuid", "Magic-Id"],
)
def test_a_uuid_under_a_name_that_opens_is_redacted(name: str) -> None:
    assert redact_header(name, UUID)[1] == "[redacted]"


@pytest.mark.parametrize("name", ["X-Request-Id", "X-Correlation-Id", "X-Trace-Id"])
def test_another_uuid_is_left(name: str) -> None:
    assert redact_header(name, UUID)[1] == UUID


@pytest.mark.parametrize(
    "name", ["st", "user_code", "hash_key", "zx9", "ctx", "handover", "h_k", "loginState", "grant"]
)
def test_a_long_random_value_of_an_unknown_key_is_redacted(name: str) -> None:
    url = f"https://a.example/p?x=1&{name}={TOKEN}&y=2"

    assert redact_url(url) == f"https://a.example/p?x=1&{name}=[redacted]&y=2"


@pytest.mark.parametrize(
    "query",
    [
        "author=tolkien&monkey=1&keyword=cap&tokenize=yes",
        f"cursor={TOKEN}",
        f"after={TOKEN}",
        f"pageToken={TOKEN}",
        f"endCursor={TOKEN}",
        f"gclid={TOKEN}",
        f"trace_id={TOKEN}",
        f"v={TOKEN}",
        f"hash={HEX}",
        f"_={HEX}",
        f"h={HEX}",
        f"unknown={UUID}",
        "list=PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf",
        "sort=price-descending-with-shipping-2026",
        "title=TheLordOfTheRingsTheFellowshipOfTheRing",
        "tokenizer=cl100k_base&tokenized=true&passwordless=1",
        "token=false&auth=0&password=no",
    ],
)
def test_cursors_ids_hashes_and_words_in_a_query_stay(query: str) -> None:
    url = f"https://a.example/p?{query}"

    assert redact_url(url) == url


@pytest.mark.parametrize(
    "path",
    ["/auth/{}/callback", "/login/{}", "/sso/v1/{}?x=1", "/oauth/authorize/{}", "/sessions/{}/end"],
)
def test_a_long_number_in_hex_behind_a_word_that_opens_is_redacted(path: str) -> None:
    assert HEX not in redact_url("https://a.example" + path.format(HEX))


@pytest.mark.parametrize(
    "path",
    [
        "/acme/app/commit/{}",
        "/acme/auth/commit/{}",
        "/acme/auth/blob/{}/src/login.py",
        "/auth/static/{}/app",
        "/login/static/{}.css",
        "/files/{}/report",
        "/objects/{}",
        "/i/hash/{}",
    ],
)
def test_a_commit_and_an_asset_in_a_path_stay(path: str) -> None:
    url = "https://a.example" + path.format(HEX[:40])

    assert redact_url(url) == url


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("The password is Harbor.1234xyz.", "Harbor.1234xyz"),
        ("log in with password: Tr0ub4dor&3, please", "Tr0ub4dor&3"),
        ("passwd=Maple!77kettle next", "Maple!77kettle"),
        ('Your password is "vK9$mmQ2x" now', "vK9$mmQ2x"),
        ("Password is now: Velvet*2020a", "Velvet*2020a"),
        ("pin: 4711", "4711"),
        ("The PIN is 90210.", "90210"),
        ("OTP: 482913", "482913"),
        ("your verification code is 482913", "482913"),
        ("One-time code: 77120934", "77120934"),
        ("https://bob:hushhush1@host.example/ is mine", "hushhush1"),
        (f"https://{TOKEN}@host.example/ is mine", TOKEN),
        ("my key pplx-" + HEX, HEX),
        ("TAVILY tvly-dev-" + TOKEN, TOKEN),
    ],
)
def test_what_a_sentence_gives_away_is_redacted(text: str, secret: str) -> None:
    line = json.dumps({"x": text})

    assert secret not in redact_text(text)
    assert secret not in json.loads(redact_line(line))["x"]


@pytest.mark.parametrize(
    "text",
    [
        "https://user@host.example/ has a user name",
        "clone ssh://git@git.example/acme/app.git first",
        "Password: must contain at least 8 characters",
        "Password: (empty)",
        "Password: <password>",
        "Password: ********",
        "password: {{password}}",
        "password is required!",
        "The password is case-sensitive.",
        "password is SHA256-hashed",
        "Password is base64-encoded",
        "Password: 12-character minimum",
        "password is https://docs.example/rules-of-2024",
        "the password is hunter2",
        "password: hunter2, as the page told the agent",
        "pin: 3 of them",
        "PIN pad 4711",
        "spin: 4711",
        "the security code is on the back",
        "Access code: see the letter",
        "the password was changed on 2024-01-15",
        "Password: 2024-01-15",
        "[14] <input id='password'> Password: [15] button 'Show'",
    ],
)
def test_sentences_about_passwords_and_placeholders_stay(text: str) -> None:
    assert redact_text(text) == text
    assert redact_line(json.dumps({"x": text})) == json.dumps({"x": text})


@pytest.mark.parametrize("url", ["https://bob@host.example/x", "https://bob:x@host.example/x"])
def test_a_url_of_a_request_loses_its_user_even_without_a_password(url: str) -> None:
    assert redact_url(url) == "https://redacted@host.example/x"
    assert redact_header("Referer", url)[1] == "https://redacted@host.example/x"
    assert redact_line(json.dumps({"url": url})) == '{"url": "https://redacted@host.example/x"}'


@pytest.mark.parametrize("name", ["tokenize", "tokenized", "passwordless", "authorizer"])
def test_words_that_contain_a_stem_are_not_secret_names(name: str) -> None:
    assert name_secrecy(name) is Secrecy.NOTHING
