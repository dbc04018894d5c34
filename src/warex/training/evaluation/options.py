"""What decides the answers of an evaluation: those asked in another way are not of the same one."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel

from warex.exports.rows import Row
from warex.text.escaping import escape_surrogates
from warex.training.inference.backends import MAX_NEW_TOKENS
from warex.training.ranking.legal import LegalAnswers

type _Name = Annotated[str, AfterValidator(escape_surrogates)]

_LABELS: Final = {
    "models": "--model and --adapter",
    "endpoint": "--endpoint",
    "test": "--test",
    "split": "--split",
    "rows": "the rows of --data",
    "legal": "--legal",
    "precision": "--precision",
    "max_tokens": "the greatest number of tokens of an answer",
}


class EvaluationOptions(BaseModel, frozen=True, extra="forbid"):
    """The options that change an answer; the number of rows and the batch do not."""

    schema_version: Literal[1] = 1
    models: Mapping[_Name, _Name]
    """By the name in the answers: a path, or the name of a hub or an endpoint."""
    endpoint: _Name | None = None
    test: str
    split: str
    rows: str
    """SHA-256 of the prompts of the split."""
    legal: str | None = None
    """SHA-256 of the forms of answers; None if they are free."""
    precision: str
    max_tokens: int = MAX_NEW_TOKENS

    def differences(self, other: "EvaluationOptions") -> list[str]:
        """Return what differs, as a user names it."""
        return [
            label for name, label in _LABELS.items() if getattr(self, name) != getattr(other, name)
        ]


def rows_digest(rows: Sequence[Row]) -> str:
    """Return the SHA-256 of what rows ask."""
    return _digest([[row.id, row.prompt, row.tools] for row in rows])


def legal_digest(legal: LegalAnswers) -> str:
    """Return the SHA-256 of the forms of legal answers."""
    templates = [it.model_dump(mode="json") for it in legal.templates]
    return _digest([templates, sorted(legal.prompts.items()), legal.thought])


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
