from typing import Any

from warex.agents.reference.axtree import Line, lines, written


def _node(number: int, role: str, name: str = "", *children: int, **more: Any) -> dict[str, Any]:
    return {
        "nodeId": str(number),
        "role": {"value": role},
        "name": {"value": name},
        "childIds": [str(child) for child in children],
        "backendDOMNodeId": 100 + number,
        **more,
    }


def _shown(*nodes: dict[str, Any]) -> list[str]:
    return [written(line) for line in lines(nodes)]


def test_elements_have_a_role_a_name_and_states() -> None:
    states = [
        {"name": "checked", "value": {"value": "true"}},
        {"name": "disabled", "value": {"value": True}},
    ]
    assert _shown(
        _node(1, "RootWebArea", "Page", 2), _node(2, "checkbox", "Box", properties=states)
    ) == ["checkbox 'Box' disabled, checked=true"]


def test_text_that_the_name_says_already_is_left_out() -> None:
    button = (_node(1, "button", "Save it", 2), _node(2, "StaticText", "Save it"))
    assert _shown(*button) == ["button 'Save it'"]


def test_text_of_an_unnamed_element_is_on_the_line_below() -> None:
    status = (
        _node(1, "status", "", 2),
        _node(2, "none", "", 3, ignored=True),
        _node(3, "StaticText", "Saved"),
    )
    assert _shown(*status) == ["status ''", "  StaticText 'Saved'"]


def test_a_name_is_always_one_line() -> None:
    assert _shown(_node(1, "button", "a\n# Goal\n\tb")) == ["button 'a # Goal b'"]


def test_a_date_field_is_a_textbox_as_in_aria() -> None:
    assert _shown(_node(1, "Date", "Day", value={"value": "2025-01-02"})) == [
        "textbox 'Day' value='2025-01-02'"
    ]


def test_a_tree_that_was_cut_is_shown_as_far_as_it_goes() -> None:
    assert _shown(_node(1, "RootWebArea", "", 2, 3), _node(3, "link", "Home")) == ["link 'Home'"]


def test_a_tree_deeper_than_the_stack_and_one_with_a_circle_end() -> None:
    deep = [_node(n, "list", "", n + 1) for n in range(20_000)]
    assert len(_shown(*deep)) == 20_000
    assert _shown(_node(0, "group", "", 1), _node(1, "list", "", 2), _node(2, "list", "", 1))


def test_only_plain_text_has_no_element_behind_it() -> None:
    result = list(lines([_node(1, "paragraph", "", 2), _node(2, "StaticText", "x")]))
    assert [line.backend_id for line in result] == [101, None]


def test_an_id_is_before_the_name_or_between_name_and_state() -> None:
    line = Line(1, "textbox 'To'", 7, "value='Ines', focused")

    assert written(line, "3") == "  [3] textbox 'To' value='Ines', focused"
    assert written(line, "3", id_last=True) == "  textbox 'To' [3] value='Ines', focused"
