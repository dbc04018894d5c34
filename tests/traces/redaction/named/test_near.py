"""Tests of warex.traces.redaction.named.near: values near a secret's name."""

from collections.abc import Callable, Iterator
from time import monotonic

import pytest
from pydantic import JsonValue

from warex.traces.redaction.assigned import Cut
from warex.traces.redaction.named import near
from warex.traces.redaction.redactor import Redactor


def _texts_of(find: Callable[[bytes], Iterator[Cut]], text: str) -> list[str]:
    data = text.encode()
    return [data[cut.begin : cut.end].decode() for cut in find(data)]


@pytest.mark.parametrize(
    "text",
    [
        "TYPE_TEXT <Password> <Quartz!77rocks>",
        "ipmitool -H h -U bob -P Quartz!77rocks chassis status",
        "session.findById('wnd/pwdBCODE').text = Quartz!77rocks",
        "Password ........ Quartz!77rocks",
        "1. CLICK password\n2. TYPE Quartz!77rocks\n3. ENTER",
        'expect assword:\nsend "Quartz!77rocks\\r"',
        "секретный пароль вот: Quartz!77rocks",
    ],
)
def test_a_word_that_only_a_password_is_like_is_secret_near_a_name(text: str) -> None:
    assert _texts_of(near.strong_words, text) == ["Quartz!77rocks"]


@pytest.mark.parametrize(
    "text",
    [
        "The password is checked by crypto.Hash2 and v1.2-Beta3.",
        "password: see https://tools.example/html/rfc3986#appendix-A",
        '<input type="password" class="Input_root__x7Aq2 css-1Ab+2c">',
        "Password help: mail Bob.Smith2@Site.example",
        "login at 2026-11-26T10:00:00.123Z, order SKU-4711-Ab",
        "Quartz!77rocks",
    ],
)
def test_only_password_like_words_near_a_secrets_name_are_matched(text: str) -> None:
    assert _texts_of(near.strong_words, text) == []


def test_a_word_far_from_the_name_stays() -> None:
    assert _texts_of(near.strong_words, f"password\n{'x ' * 200}\nQuartz!77rocks") == []


def test_an_escape_of_json_is_not_split() -> None:
    text = r'{"a": "AUTH\r\n$14\r\nQuartz!77rocks\r\n"}'
    assert _texts_of(near.strong_words, text) == ["Quartz!77rocks"]


@pytest.mark.parametrize(
    "text",
    [
        'let password: &str = "hunter22";',
        'client.setPassword("hunter22");',
        'password: Some("hunter22")',
        'pass <- "hunter22"',
        '{password,<<"hunter22">>}',
        '@"password": @"hunter22"',
        'variable "db_password" { default = "hunter22" }',
        "fill_in 'Password', with: 'hunter22'",
        'array(1) {\n ["password"]=>\n  string(8) "hunter22"\n}',
        's:8:"password";s:8:"hunter22";',
        "if password == 'hunter22':",
        "'password': b'hunter22'",
    ],
)
def test_the_first_quoted_text_behind_a_name_is_its_value(text: str) -> None:
    assert _texts_of(near.quoted_behind, text) == ["hunter22"]
    of_letters = text.replace("hunter22", "mapleotter")
    assert _texts_of(near.quoted_behind, of_letters) == ["mapleotter"]


@pytest.mark.parametrize(
    "text",
    [
        '<input id="password" class="mt2b4c">',
        '{"type": "password", "id": "x1y2z3", "label": "abc123"}',
        'password_field = page.locator("#pw1")',
        'password = "changeme"',
        'api_token = "mapleotter"',
        'password_label = "Enter your Password"',
        '{"password": "incorrect", "confirm": "newpassword"}',
        'import("password").then("two words 2")',
    ],
)
def test_another_quoted_text_behind_a_name_stays(text: str) -> None:
    assert _texts_of(near.quoted_behind, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "user,password,role\nbob,hunter22,admin\neve,hunter22,user\n",
        "user;passwort\nbob;hunter22\neve;hunter22",
        "name\tpassword\nbob\thunter22\neve\thunter22",
        "| user | password |\n| --- | --- |\n| bob | hunter22 |\n| eve | hunter22 |",
    ],
)
def test_the_column_of_a_secret_is_secret(text: str) -> None:
    assert _texts_of(near.columns, text) == ["hunter22", "hunter22"]
    assert _texts_of(near.columns, text.replace("hunter22", "mapleotter")) == ["mapleotter"] * 2


def test_the_rows_of_another_table_and_lists_in_code_stay() -> None:
    assert _texts_of(near.columns, "    'Secret',\n    'Users2a',\n    'Other2b',\n") == []
    assert _texts_of(near.columns, "user,password\nbob,hunter22\n\nx,abc123\n") == ["hunter22"]


def test_the_value_beside_a_name_is_found_in_a_table_of_two_columns() -> None:
    table = (
        "| field | value |\n|---|---|\n| **User password:** | `mapleotter` |\n| city | Bonnstadt |"
    )

    assert _texts_of(near.rows, table) == ["mapleotter"]
    assert _texts_of(near.rows, table.replace("mapleotter", "hunter22")) == ["hunter22"]
    for other in (
        "| Password | Username |\n| --- | --- |",
        "| Password | |",
        "| Password | required |",
    ):
        assert _texts_of(near.rows, other) == []


@pytest.mark.parametrize(
    "text",
    [
        "Use 482913 to sign in. Do not share this code.",
        "482913 is your confirmation code.",
        "Enter the code 482913 to verify your account",
        "Ihr Bestätigungscode lautet 482913",
        "2FA code = 482913",
    ],
)
def test_the_code_of_a_sentence_is_secret(text: str) -> None:
    assert _texts_of(near.codes, text) == ["482913"]


def test_a_year_a_price_and_an_order_are_not_codes() -> None:
    text = "Your confirmation code was sent in 2026 for 1299.00 (order/48291)."
    assert _texts_of(near.codes, text) == []


@pytest.mark.parametrize(
    "text", ["sqlplus bob/Quartz!77rocks@db", "db.example:5432:shop:bob:Quartz!77rocks"]
)
def test_a_password_between_a_user_and_a_host_is_secret(text: str) -> None:
    assert _texts_of(near.at_host, text) == ["Quartz!77rocks"]


def test_a_tool_argument_beside_a_secrets_name_is_redacted_later_too() -> None:
    redactor = Redactor()
    steps: JsonValue = {
        "steps": [{"do": "click", "on": "Password"}, {"do": "put", "it": "Quartz!77rocks"}]
    }
    assert "Quartz" not in str(redactor.tool("act", "arguments", steps))
    assert redactor.learned.replaced("it was Quartz!77rocks") == "it was [redacted]"


@pytest.mark.parametrize("word", ["hunter22", "dragon81!", "7xKq2mZr9Tb1"])
@pytest.mark.parametrize(
    "text", ["- tapOn: Password\n- inputText: {}", "KEYBOARD {} -> PASSWORD", "**Password:** {}"]
)
def test_a_word_of_letters_and_digits_is_secret_beside_a_password_s_name(
    text: str, word: str
) -> None:
    assert _texts_of(near.likely_words, text.format(word)) == [word.rstrip("!")]


@pytest.mark.parametrize(
    "text",
    [
        "The password is hashed by sha256 or argon2.",
        "password length: 8 characters of utf8",
        "click the Password field, then input2",
        '<input type="password" class="mt20px">',
        "goto Password /reset/page22",
    ],
)
def test_usual_terms_beside_a_password_s_name_stay(text: str) -> None:
    assert _texts_of(near.likely_words, text) == []


@pytest.mark.parametrize(
    "piece",
    [
        b"password ",
        b"password\n,a\n",
        b"verification code 1 ",
        pytest.param(b"password,", marks=pytest.mark.slow),
        pytest.param(b'password="', marks=pytest.mark.slow),
    ],
)
def test_a_hostile_text_takes_time_in_proportion_to_its_size(piece: bytes) -> None:
    finders = (
        near.strong_words,
        near.likely_words,
        near.quoted_behind,
        near.columns,
        near.codes,
        near.at_host,
    )
    text = piece * (60_000 // len(piece))
    began = monotonic()
    for find in finders:
        list(find(text))
    assert monotonic() - began < 60
