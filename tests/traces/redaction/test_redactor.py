"""What a trial shows once as a secret is one wherever it stands, and nothing else is."""

import json

import pytest
from pydantic import JsonValue

from warex.traces.redaction.redactor import LearnedSecrets, Redactor


def without(value: str, text: str, *, typed: bool = True) -> str:
    learned = LearnedSecrets()
    learned.add(value.encode(), typed)
    return learned.replaced(text)


@pytest.mark.parametrize(
    "value", ["1", "test", "admin", "password", "assistant", "12345", "content"]
)
def test_a_short_or_usual_value_takes_nothing_out(value: str) -> None:
    text = json.dumps({"role": "assistant", "content": f"{value} and {value}"})

    assert without(value, text) == text


@pytest.mark.parametrize("value", ["same-origin", "undefined", "required", "shipping"])
def test_a_word_under_a_secrets_name_is_learned_only_if_it_is_typed(value: str) -> None:
    assert without(value, f'"{value}"', typed=False) == f'"{value}"'


def test_a_word_is_not_taken_out_of_another() -> None:
    assert without("swordfish", '"a swordfish, swordfishes"') == '"a [redacted], swordfishes"'


@pytest.mark.parametrize("text", ['"\\n12345678ab"', '"\\u00e9abcd1"', '{"size":48213957}'])
@pytest.mark.parametrize("value", ["n12345678ab", "00e9abcd1", "48213957", 'a","b', "x1y2z3\\"])
def test_no_value_that_a_page_chooses_breaks_the_json(value: str, text: str) -> None:
    json.loads(without(value, text))


def test_a_hostile_page_can_teach_a_bounded_number_of_values() -> None:
    learned = LearnedSecrets()
    for number in range(5000):
        learned.add(f"Value-{number:05}-x".encode(), False)
    learned.add(b"Otter!4711xyz", True)

    text = learned.replaced('"Otter!4711xyz Value-00001-x Value-04999-x"')

    assert text == '"[redacted] [redacted] Value-04999-x"'


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (
            "application/x-www-form-urlencoded",
            "user=bob&password=Otter%214711&csrf_token=Maple%214711",
        ),
        ("application/json", '{"user": {"name": "bob", "newPassword": "Otter!4711"}}'),
        (
            "multipart/form-data; boundary=x",
            '--x\r\ncontent-disposition: form-data; name="pwd"\r\n\r\nOtter!4711\r\n--x--',
        ),
    ],
)
def test_the_password_of_a_form_is_learned(kind: str, body: str) -> None:
    redactor = Redactor()
    redactor.learn_form(kind, body.encode())

    assert redactor.learned.replaced('"Otter!4711, Maple!4711"') == '"[redacted], Maple!4711"'


def test_equal_unknown_values_stay_equal_within_a_trial_only() -> None:
    first, second = Redactor(), Redactor()
    values = [
        r.header("X-Acme", value)[1] for r in (first, second) for value in ("blue", "blue", "red")
    ]

    assert values[0] == values[1] != values[2]
    assert values[0] != values[3]
    assert "blue" not in str(values)


def test_ids_of_an_earlier_page_say_nothing() -> None:
    redactor = Redactor()
    messages = redactor.messages(
        [
            {"role": "user", "content": "[12] textbox 'Password'"},
            {"role": "assistant", "content": "type [12] [abc] [1]"},
            {"role": "user", "content": "[12] textbox 'Search'"},
            {"role": "assistant", "content": "type [12] [red shoes] [1]"},
        ]
    )

    assert [it["content"] for it in messages if it["role"] == "assistant"] == [  # type: ignore[union-attr, index, call-overload]
        "type [12] [redacted] [1]",
        "type [12] [red shoes] [1]",
    ]


PAGE = b"<input name=u1><input type=password id=x9 name=f2 placeholder=Geheim>"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/x-www-form-urlencoded", "u1=Maple%214711&f2=Otter%214711"),
        ("application/json", '{"u1": "Maple!4711", "f2": "Otter!4711"}'),
        (
            "multipart/form-data; boundary=x",
            '--x\r\nContent-Disposition: form-data; name="u1"\r\n\r\nMaple!4711\r\n'
            '--x\r\nContent-Disposition: form-data; name="f2"\r\n\r\nOtter!4711\r\n--x--',
        ),
    ],
)
def test_the_page_says_which_field_of_a_form_is_a_password(kind: str, body: str) -> None:
    redactor = Redactor()
    redactor.learn_page(PAGE)
    redactor.learn_form(kind, body.encode())

    assert redactor.learned.replaced('"Otter!4711, Maple!4711"') == '"[redacted], Maple!4711"'


@pytest.mark.parametrize(
    "action",
    [
        "fill('#x9', '{}')",
        "page.locator('[name=f2]').fill('{}')",
        'page.get_by_placeholder("Geheim").type("{}")',
        '{"selector": "input[name=\'f2\']", "text": "{}"}',
        '{"element": "Geheim", "text": "{}"}',
    ],
)
def test_what_is_typed_into_a_field_of_the_page_for_passwords_goes(action: str) -> None:
    redactor = Redactor()
    redactor.learn_page(PAGE)

    redacted = redactor.answer(action.replace("{}", "Otter!4711"))

    assert redacted == action.replace("{}", "[redacted]")
    other = action.replace("x9", "u1").replace("f2", "u1").replace("Geheim", "Name")
    assert redactor.answer(other.replace("{}", "red shoes 42")) == other.replace(
        "{}", "red shoes 42"
    )


def test_pages_teach_a_bounded_number_of_fields() -> None:
    redactor = Redactor()
    for number in range(500):
        redactor.learn_page(b"<input type=password name=f%d>" % number)

    assert len(redactor.how.fields) == 64


CLICKS: list[JsonValue] = [
    {"type": "text", "text": "I click the password field."},
    {"type": "tool_use", "id": "1", "name": "computer", "input": {"action": "left_click"}},
]


@pytest.mark.parametrize("ends", ["Return", "Tab"])
def test_what_a_computer_types_key_by_key_goes_and_is_learned(ends: str) -> None:
    def press(key: str) -> JsonValue:
        fields: JsonValue = {"action": "key", "text": key}
        return {"type": "tool_use", "id": "1", "name": "computer", "input": fields}

    talk: list[JsonValue] = [{"role": "assistant", "content": CLICKS}]
    for key in (*"hunter2x", ends, "q"):
        talk.append({"role": "assistant", "content": [press(key)]})
        talk.append({"role": "user", "content": [{"type": "tool_result", "content": []}]})
    redactor = Redactor()

    text = json.dumps(redactor.messages(talk))

    assert text.count('"[redacted]"') == len("hunter2x")
    assert f'"text": "{ends}"' in text
    assert '"text": "q"' in text
    assert redactor.learned.replaced('"hunter2x"') == '"[redacted]"'


def test_what_a_tool_types_key_by_key_goes_and_is_learned() -> None:
    redactor = Redactor()
    redactor.tool("browser_snapshot", "result", '- textbox "Password" [ref=e12]')
    redactor.tool("browser_click", "arguments", {"element": "it", "ref": "e12"})

    keys = [redactor.tool("browser_press_key", "arguments", {"key": key}) for key in "hunter2x"]
    ends = redactor.tool("browser_press_key", "arguments", {"key": "Enter"})

    assert keys == [{"key": "[redacted]"}] * 8
    assert ends == {"key": "Enter"}
    assert redactor.tool("browser_press_key", "arguments", {"key": "q"}) == {"key": "q"}
    assert redactor.learned.values() == ["hunter2x"]


def test_a_body_is_recorded_without_secrets_and_teaches_none() -> None:
    redactor = Redactor()
    redactor.learn_page(b"<form><input type=password name=f2></form>")
    form = redactor.body(
        b"user=bob&f2=1234&f3=a%20b", "application/x-www-form-urlencoded; charset=utf-8"
    )
    page = redactor.body(b'<script>const password = "Maple!4711x"</script>', "text/html")

    assert form == b"user=bob&f2=[redacted]&f3=a%20b"
    assert b"Maple" not in page
    assert redactor.learned.is_empty


def test_a_body_that_is_not_text_stays_as_it_is() -> None:
    image = b"\xff\xd8password=Otter!4711"

    assert Redactor().body(image, "image/jpeg") == image
    assert b"Otter" not in Redactor().body(image, "text/plain")


def test_all_values_behind_the_thousandth_field_of_a_form_are_replaced() -> None:
    fields = [f"q{number}=word{number}" for number in range(1000)]
    more = [f"q{number}=word{number}" for number in range(1000, 3000)]
    kind = "application/x-www-form-urlencoded"

    cleaned = Redactor().body("&".join((*fields, *more)).encode(), kind).decode().split("&")

    assert cleaned[:1000] == fields
    assert set(cleaned[1000:]) == {f"q{number}=[redacted]" for number in range(1000, 3000)}
