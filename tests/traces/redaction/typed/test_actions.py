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
        (
            'do(action="Type", text="hush", element="Password")',
            'do(action="Type", text="[redacted]", element="Password")',
        ),
        (
            "input_text(index=5, text='hush')  # Password",
            "input_text(index=5, text='[redacted]')  # Password",
        ),
        (
            "action: type\nelement: Password\ntext: hush\nwait: 1",
            "action: type\nelement: Password\ntext: [redacted]\nwait: 1",
        ),
        (
            "- step: type\n  into: password\n  value: hush",
            "- step: type\n  into: password\n  value: [redacted]",
        ),
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
        'do(action="Type", text="red shoes", element="Search")',
        "input_text(index=5, text='bob')  # user name",
        "type: text\nlabel: Password\nvalue: Required",
        "action: type\nelement: Search\ntext: shoes\n\nelement: Password\ntext: Required",
    ],
)
def test_another_action_stays(text: str) -> None:
    assert redact_text(text) == text
