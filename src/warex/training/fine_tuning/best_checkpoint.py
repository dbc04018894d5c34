"""By what the best checkpoint is chosen: the loss, or the answers to the validation rows."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from warex.errors import InputError
from warex.exports.dataset import Dataset
from warex.exports.names import Kind
from warex.exports.rows import ChatMessage, Row
from warex.llm.actions.vocabulary import Vocabulary
from warex.training.fine_tuning.hyperparameters import Hyperparameters
from warex.training.inference.backends import answers_by_model, has_action
from warex.training.model.loading import LoadedModel
from warex.training.trl_data import sample_rows

RIGHT: Final = "eval_right"
"""The name of the score in the metrics."""
_MOST: Final = 32
"""Rows of each kind that are asked after an epoch."""

type IsRight = Callable[[ChatMessage, Row, Vocabulary], bool]
"""Whether an answer recovers from a failure, or is the wanted one of a clean step."""


def require_answers(recipe: Hyperparameters, dataset: Dataset) -> None:
    """Raise InputError if the best checkpoint is to be chosen by answers that cannot be asked."""
    if recipe.keep_best != "recovery":
        return
    if dataset.manifest.format != "sft":
        raise InputError(
            f"--keep-best recovery asks the validation rows of a data set sft, and"
            f" {dataset.folder} is of the format {dataset.manifest.format}: take --keep-best loss"
        )
    if not dataset.rows("validation"):
        raise InputError(
            f"{dataset.folder} has no row in validation, by whose answers --keep-best recovery"
            " would choose: export with --shares or --validation"
        )


def score(answered: Sequence[tuple[Kind, bool]]) -> float:
    """Return the mean of the shares of failures and of clean steps that are answered right.

    A kind without rows is left out. Raises ValueError without any row.
    """
    rights = [[right for kind, right in answered if kind == it] for it in ("failure", "clean")]
    shares = [sum(some) / len(some) for some in rights if some]
    if not shares:
        raise ValueError("no answer was given")
    return sum(shares) / len(shares)


def scoring(
    trainer: type[Any], loaded: LoadedModel, dataset: Dataset, is_right: IsRight
) -> type[Any]:
    """Return a trainer whose evaluations add the score of greedy answers to its metrics."""
    rows = sample_rows(dataset.rows("validation"), _MOST)

    class ScoringTrainer(trainer):  # type: ignore[misc]
        """Asks the validation rows after each epoch."""

        def evaluate(self, *args: Any, **more: Any) -> dict[str, float]:
            metrics: dict[str, float] = super().evaluate(*args, **more)
            side = loaded.tokenizer.padding_side
            answered = [
                (row.kind, is_right(answer, row, dataset.vocabulary(row)))
                for row, answer in answers_by_model(loaded, rows, done=has_action)
            ]
            loaded.tokenizer.padding_side = side
            metrics[RIGHT] = score(answered)
            self.log({RIGHT: metrics[RIGHT]})
            return metrics

    return ScoringTrainer
