"""Wanted answers, to fine-tune on."""

from typing import Final

from warex.exports.dataset_formats import DatasetFormat, wanted_rows
from warex.exports.rows import Row

FORMAT: Final = DatasetFormat(
    columns="`messages`, of which the last is the answer wanted: the loss belongs on that alone",
    snippet="""\
from datasets import load_dataset

data = load_dataset("DIR").map(
    lambda row: {"prompt": row["messages"][:-1], "completion": row["messages"][-1:]},
    remove_columns=["messages"],
)""",
    rows=wanted_rows,
    row=Row,
)
