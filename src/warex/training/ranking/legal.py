"""The legal answers to a prompt: each form of answer in a data set, filled from the prompt's page.

A model that is bound to them names no element that is not there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warex.errors import InputError
from warex.exports.answers.thoughts import without_thought
from warex.exports.dataset import MANIFEST, Dataset, read_dataset
from warex.exports.prompt_page import read_prompt
from warex.exports.rows import ChatMessage, Row
from warex.files.reading import path_exists
from warex.llm.actions.vocabulary import Vocabulary
from warex.training.ranking.candidates import (
    ActionTemplate,
    candidates,
    forms,
    wanted_action,
    written,
)
from warex.training.ranking.ranker import FACTS, is_ranker, load_ranker, system_key, templates_for


@dataclass(frozen=True, slots=True)
class LegalAnswer:
    """What an answer to one prompt may be."""

    texts: tuple[str, ...]
    """The actions; without any, every answer is allowed."""
    thought: bool = False
    """Whether a line of any words precedes the action."""


@dataclass(frozen=True, slots=True)
class LegalAnswers:
    """The forms of an agent's answers."""

    templates: tuple[ActionTemplate, ...]
    prompts: Mapping[str, str]
    """The vocabulary of each system prompt, by its CRC-32."""
    thought: bool = False

    def to(self, prompt: Sequence[ChatMessage]) -> LegalAnswer:
        """Return what may be answered to a prompt."""
        some = candidates(read_prompt(prompt), templates_for(prompt, self.templates, self.prompts))
        return LegalAnswer(tuple(it.text for it in some), self.thought)


def read_legal(folder: Path) -> LegalAnswers:
    """Read the forms of answers from a data set or a ranker.

    Raises InputError if it is neither, or its answers have no action.
    """
    if is_ranker(str(folder)):
        facts = load_ranker(folder).facts
        return LegalAnswers(facts.templates, facts.prompts)
    if not path_exists(folder / MANIFEST):
        raise InputError(
            f"{folder} has no forms of answers: it is neither a data set of `warex export --to sft`"
            f" ({MANIFEST}) nor a ranker of `warex train --ranker` ({FACTS})"
        )
    return legal_of(read_dataset(folder))


def legal_of(dataset: Dataset) -> LegalAnswers:
    """Return the forms of a data set's training answers.

    Raises InputError if it is of another format than sft, or its answers have no action.
    """
    rows = dataset.rows("train")
    wanted = [wanted_action(row, read_prompt(row.prompt), dataset.vocabulary(row)) for row in rows]
    templates = forms([it[0] for it in wanted if it is not None])
    if not templates:
        raise InputError(f"{dataset.folder}: no answer of train has an action, whose form to take")
    thoughts = sum(_has_thought(row, dataset.vocabulary(row)) for row in rows)
    prompts = {system_key(row.prompt): row.vocabulary for row in rows}
    return LegalAnswers(templates, prompts, thought=2 * thoughts > len(rows))


def _has_thought(row: Row, vocabulary: Vocabulary) -> bool:
    alone = without_thought(row.answer, vocabulary)
    return alone is not None and written(alone) != written(row.answer)
