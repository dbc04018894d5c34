"""What the benchmark `command` may be given."""

from pathlib import Path
from typing import Any

import pytest

from warex.benchmarks.command.options import PLACEHOLDERS, CommandOptions, fill_placeholders
from warex.scenarios.mistakes import validate_document

ANY: dict[str, Any] = {"command": "run {task}", "tasks": ["t"]}


def mistakes(**options: Any) -> str:
    return "\n".join(validate_document(CommandOptions, {**ANY, **options})[1])


def test_doubled_brackets_are_brackets() -> None:
    values = dict.fromkeys(PLACEHOLDERS, "") | {"task": "tea"}

    assert fill_placeholders("{task} {{task}} {other", values) == "tea {task} {other"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"expect": "a", "success": True}, "both success and expect say what is a success"),
        ({"expect": {"check": "x {model}"}}, "{model} is the agent's own"),
        ({"reset": "x {tsk}"}, "no placeholder 'tsk'"),
        ({"reset": "http://shop.example/reset"}, "is a URL, and a command is wanted"),
        ({"tasks": [{"id": "a", "expects": "b"}]}, "no key 'expects' here; did you mean 'expect'"),
    ],
)
def test_what_cannot_be_expected_or_reset_is_reported(options: dict[str, Any], says: str) -> None:
    assert says in mistakes(**options)


def test_a_vocabulary_is_that_of_a_benchmark_by_its_name() -> None:
    made, _ = validate_document(CommandOptions, {**ANY, "vocabulary": "browser-use"})

    assert made is not None
    assert made.vocabulary.name == "browser-use"
    assert made.vocabulary.recover
    assert "no vocabulary 'browser-us'; did you mean 'browser-use'?" in mistakes(
        vocabulary="browser-us"
    )


def test_the_docs_name_every_option_and_placeholder() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/benchmarks.md").read_text("utf-8")
    section = page.partition("## Any command")[2].partition("\n## ")[0]

    for option in CommandOptions.model_fields:
        assert f"`{option}`" in section
    for placeholder in PLACEHOLDERS:
        assert f"`{{{placeholder}}}`" in section
