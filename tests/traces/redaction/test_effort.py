"""Redaction is bounded by a number of steps, behind which all is replaced."""

import json
import re

import pytest
from pydantic import JsonValue

from warex.traces import AgentAction, LlmCall
from warex.traces.redaction.effort import Effort
from warex.traces.redaction.event_lines import EventLines
from warex.traces.redaction.gitleaks import StagedPatterns
from warex.traces.redaction.redactor import Redactor
from warex.traces.redaction.structured import redact_json, redact_text
from warex.traces.redaction.text import Pass


def password(number: int) -> str:
    return f"Otter!{number:05}xY"


FORMS = {
    "assignment": "password={}\n",
    "json": '"password": "{}", ',
    "parameter": "https://site.example/a?token={}&page=2\n",
    "field": '<input type="password" name="pw" value="{}">\n',
    "behind": "{} is the password\n",
    "escaped": "&quot;password&quot;: &quot;{}&quot;,\n",
    "typed": "type [12] [password] {}\n",
    "row": "| password | {} |\n",
    "without spaces": "&token={}",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_rest_of_a_text_dense_with_secrets_is_replaced_as_a_whole(
    form: str,
) -> None:
    left = Effort(400)
    text = "".join(form.replace("{}", password(number)) for number in range(500))

    cleaned = redact_text(text, Pass(effort=left))

    assert "Otter!" not in cleaned
    assert re.search(r"\[redacted:[0-9]+:more\]\Z", cleaned)
    assert cleaned.count("[redacted") <= 41
    assert left.cuts
    assert left.left > -400


def test_only_the_beginning_of_a_long_dense_text_is_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[int] = []

    def noting(patterns: StagedPatterns, text: bytes) -> list[int]:
        sizes.append(len(text))
        return matching(patterns, text)

    matching = StagedPatterns.matching
    monkeypatch.setattr(StagedPatterns, "matching", noting)
    text = "".join(FORMS["assignment"].replace("{}", password(n)) for n in range(20_000))

    cleaned = redact_text(text)

    assert len(text) > 400_000
    assert max(sizes) <= 64 * 1024
    assert "Otter!" not in cleaned
    assert re.search(r"\[redacted:[0-9]+:more\]\Z", cleaned)


def test_json_that_is_dense_with_secrets_stays_json_without_any() -> None:
    value: JsonValue = [
        {"user": f"u{number}", "password": password(number)} for number in range(1800)
    ]

    for cleaned in (
        redact_text(json.dumps(value)),
        redact_text(json.dumps({"x": json.dumps(value)})),
        json.dumps(redact_json(value)),
    ):
        assert json.loads(cleaned)
        assert "Otter!" not in cleaned


def test_a_call_whose_redaction_is_cut_is_marked_as_shortened() -> None:
    lines = EventLines(Redactor())
    dense = "".join(FORMS["assignment"].replace("{}", password(n)) for n in range(5000))

    def event(text: str) -> dict[str, object]:
        messages: list[JsonValue] = [
            {"role": "user", "content": text},
            {"role": "user", "content": "go on"},
        ]
        line: dict[str, object] = json.loads(lines.of(call(messages)))
        return line

    assert event("words")["shortened"] is False
    assert event(dense)["shortened"] is True
    assert event("other words")["shortened"] is False


def test_arguments_that_are_dense_with_secrets_stay_an_object() -> None:
    arguments: dict[str, JsonValue] = {f"token{number}": password(number) for number in range(4000)}
    action = AgentAction(
        exchange="x1", step=1, name="fill", arguments=arguments, role="other", context=""
    )

    line = json.loads(EventLines(Redactor()).of(action))

    assert isinstance(line["arguments"], dict)
    assert "Otter!" not in json.dumps(line)


def test_secrets_of_ordinary_pages_are_replaced_one_by_one() -> None:
    link = '<a href="https://cdn.example/{}.png?Expires=1&Signature=aB3{}xYz9Qw2Er5Ty7">{}</a>\n'
    links = "".join(link.replace("{}", f"{number:03}") for number in range(100))
    row = '<div class="row" id="e{}"><a href="/p/{}?page=2">more of the list</a></div>\n'
    field = '<input type="hidden" name="csrf_token" value="aB3{}xYz9Qw2Er5Ty7Ui8Op">\n'
    page = "".join(
        row.replace("{}", str(number)) + (field.replace("{}", str(number)) * (number % 80 == 0))
        for number in range(4000)
    )

    assert redact_text(links).count("=[redacted]") == 100
    assert len(page) > 300_000
    assert redact_text(page).count('value="[redacted]"') == 50
    assert ":more]" not in redact_text(links) + redact_text(page)


def call(messages: list[JsonValue]) -> LlmCall:
    return LlmCall(
        exchange="x1",
        family="openai_chat",
        url="https://model.example/v1/chat/completions",
        model="m",
        step=1,
        began=0.0,
        messages=messages,
        tools=None,
        stream=False,
        status=200,
        answer="",
        tool_calls=[],
        finish_reason="stop",
        finish="stop",
        input_tokens=1,
        output_tokens=1,
        usage="none",
        latency_s=1.0,
        first_token_s=None,
        complete=True,
        error=None,
    )


def test_a_program_with_many_names_is_kept_as_a_body() -> None:
    """It has thousands of names that may hold a secret."""
    program = b"".join(
        b"this.key%d=t[%d].token,function(e){return e}," % (n, n) for n in range(9000)
    )

    assert Redactor().body(program, "text/javascript") == program
    lines = EventLines(Redactor())
    assert ":more]" in lines.of(call([{"role": "user", "content": program.decode()}]))
