"""What a trial shows once as a secret is one wherever it stands, and nothing else is."""

import json

import pytest

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
