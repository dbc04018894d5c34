"""Compares the classifier with labels that were written without it (labelled_answers/README.md)."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.exports.builders import failure, row
from warex.benchmarks.vocabularies import find_vocabulary
from warex.llm.actions.vocabulary import Vocabulary
from warex.training.evaluation.answer_classes import classify

CORPUS = Path(__file__).with_name("labelled_answers")
VOCABULARIES: Mapping[str, Vocabulary] = {
    "browsergym": find_vocabulary("testbed"),
    "webarena": find_vocabulary("webarena"),
    "browser-use": find_vocabulary("browser-use"),
    "webvoyager": find_vocabulary("webvoyager"),
}
"""By the first words of a page's name; other pages have agents without a vocabulary."""


def labels(name: str) -> Iterator[tuple[str, str, str]]:
    """Yield the label of each answer of a file, its class, and the answer."""
    corpus = yaml.safe_load((CORPUS / name).read_text(encoding="utf-8"))
    for one in corpus["answers"]:
        page = corpus["pages"][one["page"]]
        build = failure if page["kind"] == "failure" else row
        asked = build(
            url=page["url"],
            messages=[{"role": "user", "content": page["observation"]}, _message(page["wanted"])],
        )
        answer = _message(one.get("answer", ""), one.get("tool"))
        words = next(
            (it for prefix, it in VOCABULARIES.items() if one["page"].startswith(f"{prefix}-")),
            Vocabulary(name="command"),
        )
        yield one["label"], classify(answer, asked, words).label, f"{one['page']}: {answer}"


def _message(text: str, tool: Mapping[str, Any] | None = None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if tool is not None:
        function = {"name": tool["name"], "arguments": json.dumps(tool["arguments"])}
        message["tool_calls"] = [{"id": "c", "type": "function", "function": function}]
    return message


@pytest.mark.parametrize(("name", "least"), [("answers.yaml", 91), ("later.yaml", 34)])
def test_the_classes_agree_with_labels_in_19_of_20_answers(name: str, least: int) -> None:
    pairs = list(labels(name))

    assert sum(label == own for label, own, _ in pairs) >= least, [
        f"{own}, not {label}: {answer}" for label, own, answer in pairs if label != own
    ]


def test_recovery_is_read_with_precision_and_recall() -> None:
    pairs = [pair[:2] for name in ("answers.yaml", "later.yaml") for pair in labels(name)]
    hits = pairs.count(("recovery", "recovery"))

    assert hits >= 0.95 * sum(label == "recovery" for label, _ in pairs)
    assert hits >= 0.95 * sum(own == "recovery" for _, own in pairs)
