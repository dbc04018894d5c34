import pytest
from pydantic import JsonValue

from warex.analysis.steps.elements import element_labels, element_name, with_labels

PROMPT: JsonValue = [
    {"role": "system", "content": "Act on the page."},
    {
        "role": "user",
        "content": "[12] button 'Buy'\n- link \"Cart\" [ref=e7]\n[3]<a>Home</a>\n[4] [5] two ids",
    },
]


@pytest.mark.parametrize(
    ("action", "name"),
    [
        ("click('12')", "button 'Buy'"),
        ("click({'ref': 'e7'})", '- link "Cart"'),
        ("click({'index': 3})", "<a>Home</a>"),
        ("click(3)", "<a>Home</a>"),
        ("say('12 of 3 are there')", ""),
        ("click(12, 3)", ""),
        ("click('4')", ""),
        ("click('99')", ""),
    ],
)
def test_the_id_of_an_element_is_known_by_the_line_that_marks_it(action: str, name: str) -> None:
    assert element_name(action, element_labels(PROMPT)) == name


def test_the_latest_observation_of_an_id_counts() -> None:
    messages: JsonValue = [
        {"role": "user", "content": f"[1] link '{name}'"} for name in ("old", "new")
    ]

    assert with_labels("click('1')", element_labels(messages)) == "click('link 'new'')"
