import json

import pytest

from warex.llm.actions.yaml_plans import MOST_TEXT, plan_steps


def _read(source: str) -> list[tuple[str, object]]:
    return [(name, json.loads(it)) for name, it in plan_steps(f"So:\n```yaml\n{source}\n```")]


@pytest.mark.parametrize(
    ("source", "steps"),
    [
        ("- reload\n- click: Save", [("reload", {}), ("click", {"value": "Save"})]),
        ("steps:\n  - wait: 2\n  - reload:", [("wait", {"value": "2"}), ("reload", {})]),
        ("action:\n  name: click\n  on: 3\nlater:\n  name: reload", [("click", {"on": "3"})]),
        (
            "action: click\ntarget: Save\nnext: reload",
            [("click", {"target": "Save", "next": "reload"})],
        ),
        (
            "tasks:\n- name: a\n  flow:\n  - aiTap: Save\n- name: b\n  flow:\n  - sleep: 9",
            [("aiTap", {"value": "Save"}), ("sleep", {"value": "9"})],
        ),
        ("- goto: {url: a}", [("goto", {"url": "a"})]),
        ("- goto: {2026-01-01: a, url: b}", [("goto", {"2026-01-01": "a", "url": "b"})]),
    ],
)
def test_the_steps_of_a_plan_are_read_in_order(
    source: str, steps: list[tuple[str, object]]
) -> None:
    assert _read(source) == steps


@pytest.mark.parametrize(
    "source",
    [
        "port: 80\nhosts: [a]",
        "- red\n- blue",
        "reload",
        "[",
        "a: b: c",
        "&a [*a]",
        "- click: &a {b: *a}",
        "? [a]\n: b",
        "",
    ],
)
def test_other_documents_are_not_plans(source: str) -> None:
    assert _read(source) == []


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "fragment", ["[", "{", "{a: ", "- ", "&a [*a, *a]\n", "a: |\n", "!!", "? ", "'"]
)
def test_a_hostile_document_is_read_in_time(fragment: str) -> None:
    assert len(_read("- reload\n" + fragment * (MOST_TEXT // len(fragment) - 9))) <= 50


@pytest.mark.parametrize(
    "scalar", ['!!int ""', "!!bool x", "!!timestamp x", "0x", "!a b", "!!set x"]
)
def test_the_type_of_a_value_does_not_matter(scalar: str) -> None:
    assert [name for name, _ in _read(f"- click: {scalar}")] == ["click"]


def test_a_document_with_very_many_brackets_is_not_read() -> None:
    assert _read(f"- reload\n- click: [{'[], ' * 100}]")
    assert _read(f"- reload\n- click: [{'[], ' * 300}]") == []
