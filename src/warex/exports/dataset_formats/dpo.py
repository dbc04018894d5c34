"""Pairs of a better and a worse answer."""

from typing import Final

from warex.exports.dataset_formats import LOAD_DATASET, DatasetFormat
from warex.exports.preferences import pairs
from warex.exports.rows import PreferencePair

FORMAT: Final = DatasetFormat(
    columns="`prompt`, `chosen`, `rejected`, `rejected_model`",
    snippet=LOAD_DATASET,
    rows=pairs,
    row=PreferencePair,
    kinds=("failure",),
    takes_lost=True,
)
