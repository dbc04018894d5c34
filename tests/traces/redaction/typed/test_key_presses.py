import pytest

from warex.traces.redaction.typed.key_presses import key_presses

KEYS = "hunter2x"


def pressed(code: str) -> str:
    return key_presses(code.encode())[1].decode()


@pytest.mark.parametrize(
    ("before", "press"),
    [
        ("page.click('#password')", "page.keyboard.press('{}')"),
        ("await page.getByLabel('Password').focus();", 'await page.keyboard.press("{}");'),
        ("", "page.press('#password', '{}')"),
        ("field = driver.find_element(By.NAME, 'pwd')", "field.send_keys('{}')"),
    ],
)
def test_keys_in_a_field_for_a_password_are_found_one_by_one(before: str, press: str) -> None:
    code = "\n".join((before, *(press.replace("{}", key) for key in KEYS)))

    spans, keys = key_presses(code.encode())

    assert keys.decode() == KEYS
    assert len(spans) == len(KEYS)


def test_keys_elsewhere_stay() -> None:
    presses = "".join(f"page.keyboard.press('{key}')\n" for key in KEYS)

    assert pressed(f"page.click('#search')\n{presses}") == ""
    assert pressed(presses) == ""
    assert pressed(f"page.click('#password')\npage.keyboard.press('Tab')\n{presses}") == ""
    assert pressed(f"page.fill('#password', env)\npage.click('#search')\n{presses}") == ""


def test_the_field_may_have_been_named_before() -> None:
    assert key_presses(b"page.keyboard.press('h')", focused=True)[1] == b"h"
