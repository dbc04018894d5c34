"""An agent's vocabulary as a user gives it: a benchmark's name, a file, or lists."""

from pathlib import Path
from typing import Any

from pydantic import model_validator

from warex.errors import InputError
from warex.llm.actions.vocabulary import Vocabulary
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
        from warex.benchmarks import benchmarks

        known = {kind.name: kind.vocabulary for kind in benchmarks() if kind.vocabulary.names}
        if value not in known:
            raise ValueError(unknown_name("there is no vocabulary", value, list(known)))
        return known[value].model_dump()


def find_vocabulary(name: str) -> Vocabulary:
    """Return the vocabulary of a benchmark or of a file; raise InputError if there is none."""
    is_file = name.endswith(SUFFIXES)
    data = read_document(Path(name), "a vocabulary", InputError) if is_file else name
    vocabulary, mistakes = validate_document(VocabularyConfig, data)
    if vocabulary is None:
        where = f"--vocabulary: {name}" if is_file else "--vocabulary"
        raise InputError(f"{where}: {'; '.join(mistakes)}")
    return vocabulary
