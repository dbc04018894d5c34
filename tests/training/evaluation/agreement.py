"""How far the classifier, and two trivial rules, agree with labels that were written without it.

``python -m tests.training.evaluation.agreement`` prints the table of labelled_answers/README.md.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from tests.exports.builders import failure, row
from warex.benchmarks.vocabularies import find_vocabulary
from warex.llm.actions.vocabulary import Vocabulary
from warex.training.evaluation.answer_classes import classify

CORPUS: Final = Path(__file__).with_name("labelled_answers")
PARTS: Final = (
    ("answers.yaml", "answers"),
    ("later.yaml", "answers"),
    ("harnesses.yaml", "answers"),
    ("harnesses.yaml", "held_back"),
    ("further.yaml", "answers"),
    ("further.yaml", "held_back"),
    ("frameworks.yaml", "answers"),
    ("frameworks.yaml", "held_back"),
    ("fifth.yaml", "answers"),
    ("sixth.yaml", "answers"),
    ("seventh.yaml", "answers"),
)
"""Files and the lists in them."""
VOCABULARIES: Mapping[str, Vocabulary] = {
    "browsergym": find_vocabulary("testbed"),
    "webarena": find_vocabulary("webarena"),
    "browser-use": find_vocabulary("browser-use"),
    "webvoyager": find_vocabulary("webvoyager"),
}
"""By the first words of a page's name; other pages have agents without a vocabulary."""
_WORDS: Final = re.compile(r"re-?load|refresh|try again|retry", re.IGNORECASE)


@dataclass(frozen=True)
class LabelledAnswer:
    """An answer with its label, and the class that it gets."""

    label: str
    classified: str
    answer: str
    is_failure: bool
    """Whether the page has failed."""

    def __str__(self) -> str:
        return f"{self.classified}, not {self.label}: {self.answer}"


@cache
def labelled(name: str, part: str) -> tuple[LabelledAnswer, ...]:
    """Return the answers of a list in a file."""
    return tuple(_classified(name, part))


def _classified(name: str, part: str) -> Iterator[LabelledAnswer]:
    corpus = yaml.safe_load((CORPUS / name).read_text(encoding="utf-8"))
    labels = corpus.get("labels")
    for one in corpus[part]:
        page = corpus["pages"][one["page"]]
        is_failure = page["kind"] == "failure"
        asked = (failure if is_failure else row)(
            url=page["url"],
            messages=[{"role": "user", "content": page["observation"]}, _wanted(page["wanted"])],
        )
        tools = one.get("tools") or ([one["tool"]] if "tool" in one else [])
        answer = _message(one.get("answer", ""), tools)
        words = next(
            (it for prefix, it in VOCABULARIES.items() if one["page"].startswith(f"{prefix}-")),
            Vocabulary(name="command"),
        )
        classified = classify(answer, asked, words).label
        if labels and classified not in labels:
            classified = labels[-1]
        yield LabelledAnswer(one["label"], classified, f"{one['page']}: {answer}", is_failure)


def _wanted(answer: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return a page's wanted answer: a text, or a tool call."""
    return _message(answer) if isinstance(answer, str) else _message("", [answer])


def _message(text: str, tools: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if tools:
        message["tool_calls"] = [
            {
                "id": f"c{position}",
                "type": "function",
                "function": {"name": tool["name"], "arguments": json.dumps(tool["arguments"])},
            }
            for position, tool in enumerate(tools)
        ]
    return message


def agreement(answers: Sequence[LabelledAnswer]) -> int:
    """Return how many answers have the class of their label."""
    return sum(it.label == it.classified for it in answers)


def by_words(answers: Sequence[LabelledAnswer]) -> int:
    """Return how many the rule "it says reload, refresh or try again" gets right."""
    return sum(
        it.label == _request_of(it)
        if _WORDS.search(it.answer)
        else it.label in ("other_action", "other")
        for it in answers
    )


def by_majority(answers: Sequence[LabelledAnswer]) -> int:
    """Return how many have the most frequent label of failed, or of clean, pages."""
    labels = Counter((it.is_failure, it.label) for it in answers)
    return sum(
        max((number for (failed, _), number in labels.items() if failed == of), default=0)
        for of in (True, False)
    )


def _request_of(answer: LabelledAnswer) -> str:
    return "recovery" if answer.is_failure else "false_reload"


def main() -> None:
    """Print a line for each list, and where the classifier differs from the labels."""
    print(f"{'':26}agrees    recovery: precision  recall    words  majority")
    for name, part in PARTS:
        answers = labelled(name, part)
        hits = sum(it.label == it.classified == "recovery" for it in answers)
        read = sum(it.classified == "recovery" for it in answers)
        meant = sum(it.label == "recovery" for it in answers)
        print(
            f"{name} {part}".ljust(26),
            f"{agreement(answers)} of {len(answers)}",
            f"{hits} of {read}".rjust(19),
            f"{hits} of {meant}".rjust(9),
            f"{by_words(answers)}".rjust(7),
            f"{by_majority(answers)}".rjust(8),
        )
        for it in answers:
            if it.label != it.classified:
                print(f"    {it}")


if __name__ == "__main__":
    main()
