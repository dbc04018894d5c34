"""A value that stands beside the name of a secret goes; one beside another name stays."""

from time import monotonic

import pytest

from warex.traces.redaction.redactor import Redactor

PW = "Otter!4711xyz"
CONTEXTS = (
    "form.append('NAME', '{}')",
    'headers.set("NAME", "{}")',
    "localStorage.setItem('NAME', '{}')",
    "| NAME | {} |",
    "<th>NAME</th><td>{}</td>",
    "<dt>NAME:</dt>\n<dd><code>{}</code></dd>",
    "NAME\n{}\n",
    "<parameter=element>NAME</parameter>\n<parameter=text>{}</parameter>",
    '<parameter name="label">NAME</parameter><parameter name="value">{}</parameter>',
    "tool.enter('{}')  # the NAME field",
    '{"name": "NAME", "value": "{}"}',
)


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("name", ["password", "passphrase"])
def test_a_value_beside_a_secrets_name_goes(context: str, name: str) -> None:
    text = context.replace("NAME", name)

    assert Redactor().text(text.replace("{}", PW)) == text.replace("{}", "[redacted]")


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("name", ["colour", "city"])
def test_a_value_beside_another_name_stays(context: str, name: str) -> None:
    text = context.replace("NAME", name).replace("{}", PW)

    assert Redactor().text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "BasicAuth('bob', '{}')",
        'client.login("bob", "{}")',
        "CREATE USER bob IDENTIFIED BY '{}'",
        "ALTER ROLE bob WITH PASSWORD '{}';",
        "requirepass {}",
        "requests.get(url, auth=('bob', '{}'))",
        "ENV SHOP_PASSWORD {}",
        "setx SHOP_PASS {}",
        "keytool -genkey -storepass {} -alias a",
        "密码\uff1a{}",
        "Das Passwort lautet: {}",
        "a1 LOGIN bob {}",
        "Username bob Password {} Role admin",
        "在密码框输入“{}”",
        "Je saisis '{}' dans le champ du mot de passe.",
        "Ich gebe „{}“ in das Feld Passwort ein.",
    ],
)
def test_a_statement_or_a_sentence_says_what_is_secret(text: str) -> None:
    assert Redactor().text(text.replace("{}", PW)) == text.replace("{}", "[redacted]")


@pytest.mark.parametrize(
    "text",
    [
        "['password', 'username']",
        "fields.append('password', 'required')",
        "login('#user', '#password')",
        "| password | required |",
        "<th>Password</th><td>at least 8 characters</td>",
        "Password\nUsername\n",
        "Forgot password?\nRegister-2026\n",
        "print('done 42')  # no more",
        "PASS tests/login_test.go",
        "AUTH required",
        "ENV SHOP_REGION eu-west-1",
        "Das Passwort lautet: geheim",
        "Klicken Sie auf 'Passwort vergessen?'",
        "token type",
        "'pin': 'M9 4h6l-1 6 3.500 3.500h-11L10 10z',",
        'signature = "Kind regards"',
        '<textarea name="signature">{{ fields.signature }}</textarea>',
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert Redactor().text(text) == text


@pytest.mark.parametrize(
    "part",
    [
        "<parameter name=x>",
        "<td>pin</td>",
        "password\n",
        *(
            pytest.param(part, marks=pytest.mark.slow)
            for part in ("('password', ", "| password ", "'密码“")
        ),
    ],
)
def test_a_hostile_text_takes_little_time(part: str) -> None:
    began = monotonic()
    Redactor().text(part * 20_000)

    assert monotonic() - began < 30
