import pytest

from warex.traces.redaction.structured import redact_text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<pwd>hush1</pwd>", "<pwd>[redacted]</pwd>"),
        ("password:\n  hush12\n", "password:\n  [redacted]\n"),
        ("- name: DB_PASSWORD\n  value: hush", "- name: DB_PASSWORD\n  value: [redacted]"),
        ('{"contraseña": "hush"}', '{"contraseña": "[redacted]"}'),
    ],
)
def test_only_the_value_of_a_secrets_name_goes(before: str, after: str) -> None:
    assert redact_text(before) == after
