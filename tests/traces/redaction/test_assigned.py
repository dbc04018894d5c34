import pytest

from warex.traces.redaction.structured import redact_text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<pwd>hush1</pwd>", "<pwd>[redacted]</pwd>"),
        ("password:\n  hush12\n", "password:\n  [redacted]\n"),
        ("- name: DB_PASSWORD\n  value: hush", "- name: DB_PASSWORD\n  value: [redacted]"),
        ('{"contraseña": "hush"}', '{"contraseña": "[redacted]"}'),
        ("mount -o username=bob,password=mapleotter", "mount -o username=bob,password=[redacted]"),
        ("map[password:mapleotter user:bob]", "map[password:[redacted] user:bob]"),
        (
            "    [user] => bob\n    [password] => mapleotter",
            "    [user] => bob\n    [password] => [redacted]",
        ),
        (
            '{"db_password": {"sensitive": true, "value": "hush"}}',
            '{"db_password": {"sensitive": true, "value": "[redacted]"}}',
        ),
        ("java -Dkey.storePassword=mapleotter", "java -Dkey.storePassword=[redacted]"),
    ],
)
def test_only_the_value_of_a_secrets_name_goes(before: str, after: str) -> None:
    assert redact_text(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "password=mapleotter(user)",
        "password=settings.mapleotter",
        "login(password=userpassword)",
        "password:required, token=mapleotter",
        "password: mapleotter is wrong",
        "compass=mapleotter",
    ],
)
def test_letters_that_are_code_a_sentence_or_another_names_value_stay(text: str) -> None:
    assert redact_text(text) == text
