import pytest

from warex.traces.redaction.structured import redact_text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("fill('#password', 'hush')", "fill('#password', '[redacted]')"),
        (
            "page.getByLabel('Password').fill('hush')",
            "page.getByLabel('Password').fill('[redacted]')",
        ),
        ('Type "hush" into the password field', 'Type "[redacted]" into the password field'),
        ("write('hush', into='Password')", "write('[redacted]', into='Password')"),
        ('textbox "Password": hush', 'textbox "Password": [redacted]'),
    ],
)
def test_only_what_is_typed_goes(before: str, after: str) -> None:
    assert redact_text(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "fill('#search', 'red shoes')",
        "page.getByLabel('Password').click()",
        "press('#password', 'Enter')",
    ],
)
def test_another_action_stays(text: str) -> None:
    assert redact_text(text) == text
