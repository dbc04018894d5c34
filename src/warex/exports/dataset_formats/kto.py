"""Answers labelled wanted or not."""

from typing import Final

from warex.exports.dataset_formats import LOAD_DATASET, DatasetFormat
from warex.exports.preferences import labels
from warex.exports.rows import LabelledAnswer

FORMAT: Final = DatasetFormat(
    columns="`prompt`, `completion`, `label`",
    snippet=LOAD_DATASET,
    rows=labels,
    row=LabelledAnswer,
    takes_lost=True,
)
