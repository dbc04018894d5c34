import pytest

from warex.traces.redaction.typed.fields import is_secret_field, secret_refs, typed_keys


@pytest.mark.parametrize(
    "target",
    [
        "#password",
        "input[type=password]",
        "//input[@name='pwd']",
        "Password",
        "Confirm your password",
        "form#login input[name='user[password]']",
        "Password field",
        "#otp",
        "Verification code",
    ],
)
def test_a_field_for_a_secret_is_recognised_by_its_selector_or_label(target: str) -> None:
    assert is_secret_field(target)


@pytest.mark.parametrize(
    "target",
    [
        "#search",
        "Email",
        "#password-form input[name=email]",
        "Show password",
        "Search passwords",
        "Forgot password?",
        "",
        "#username",
        "Quantity",
    ],
)
def test_another_field_is_not(target: str) -> None:
    assert not is_secret_field(target)


@pytest.mark.parametrize(
    ("line", "ref"),
    [
        ("[12] textbox 'Password' required: True", "12"),
        ('- textbox "Password" [ref=e5]', "e5"),
        ("[5]<input type=password />", "5"),
        ('uid=1_3 textbox "Password"', "1_3"),
    ],
)
def test_an_observation_gives_the_id_of_a_field(line: str, ref: str) -> None:
    assert secret_refs(f"[1] link 'Home'\n{line}\n[9] textbox 'Search'") == {ref}


def test_beside_the_name_of_a_secret_one_word_of_content_is_its_value() -> None:
    assert typed_keys({"name": "password", "content": "meadow"}) == {"content"}
    for other in (
        {"name": "password", "content": "The user's password"},
        {"id": "password", "text": "Required"},
        {"role": "tool", "name": "password", "content": "meadow"},
        {"name": "city", "content": "meadow"},
    ):
        assert typed_keys(other) == set()
