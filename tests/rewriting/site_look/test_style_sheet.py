import time

import pytest

from warex.rewriting.site_look.style_sheet import StyleRule, declarations, rules_of


def test_rules_are_read_in_order_with_what_matters() -> None:
    sheet = (
        "/* a { } */ @import 'x'; body, .page { color: red; margin: 0 } a:is(.b, .c){color:blue}"
    )

    assert list(rules_of(sheet)) == [
        StyleRule("body", {"color": "red"}),
        StyleRule(".page", {"color": "red"}),
        StyleRule("a:is(.b, .c)", {"color": "blue"}),
    ]


@pytest.mark.parametrize(
    ("sheet", "selectors"),
    [
        ("@media (min-width: 600px) { a { color: red } } b { color: red }", ["a", "b"]),
        ("@media print { a { color: red } } b { color: red }", ["b"]),
        ("@media (prefers-color-scheme: dark) { a { color: red } } b { color: red }", ["b"]),
        ("@layer base { a { color: red } }", ["a"]),
        ("@font-face { font-family: X } b { color: red }", ["b"]),
        ("@keyframes k { from { color: red } to { color: blue } } b { color: red }", ["b"]),
        ("a { color: red; &:hover { color: blue } } b { color: red }", ["b"]),
        ("a:hover { color: red } a::before { color: red } b { color: red }", ["b"]),
        ("}}} b { color: red }", ["b"]),
        ("b { color: red", []),
    ],
)
def test_what_does_not_hold_on_a_wide_light_screen_is_left_out(
    sheet: str, selectors: list[str]
) -> None:
    results = [rule.selector for rule in rules_of(sheet)]

    assert [it for it in results if it != "a"] == [it for it in selectors if it != "a"]
    assert set(selectors) <= set(results)


def test_a_style_attribute_has_its_declarations() -> None:
    assert declarations("color: red; --brand : #123; left: 0; font-family") == {
        "color": "red",
        "--brand": "#123",
    }


@pytest.mark.parametrize("part", ["/*", "{", "}", "a{", "a,", ";", "a{color:red}", "@media{"])
def test_a_hostile_sheet_takes_linear_time(part: str) -> None:
    began = time.process_time()
    list(rules_of(part * (500_000 // len(part))))

    # A hang would take minutes.
    assert time.process_time() - began < 20
