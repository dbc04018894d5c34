"""An agent's vocabulary as a user gives it: a benchmark's name, a file, or lists."""

from pathlib import Path
from typing import Any

from pydantic import model_validator

from warex.errors import InputError
from warex.llm.actions.parser import Vocabulary
from warex.scenarios.documents import SUFFIXES, read_document
from warex.scenarios.mistakes import unknown_name, validate_document


class VocabularyConfig(Vocabulary, frozen=True, extra="forbid"):
    """The agent's actions, list by list, or those of a benchmark by its name."""

    name: str = "command"

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        from warex.benchmarks import BENCHMARKS

        known = {kind.name: kind.vocabulary for kind in BENCHMARKS if kind.vocabulary.names}
        if value not in known:
            raise ValueError(unknown_name("there is no vocabulary", value, list(known)))
        return known[value].model_dump()


def find_vocabulary(name: str) -> Vocabulary:
    """Return the vocabulary of a benchmark or of a file; raise InputError if there is none."""
    if not name.endswith(SUFFIXES):
        found, mistakes = validate_document(VocabularyConfig, name)
        where = "--vocabulary"
    else:
        found, mistakes = validate_document(
            VocabularyConfig, read_document(Path(name), "a vocabulary", InputError)
        )
        where = f"--vocabulary: {name}"
    if found is None:
        raise InputError(f"{where}: {'; '.join(mistakes)}")
    return found
