"""The first divergence against labels of a reader who had not seen the code.

`python -m pytest -s` prints the shares, beside those of two baselines: the trials part at the first
step that was answered after the first delivered fault, or at the first one whose actions (without
any: whose answer) have another text.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import yaml

from warex.analysis.steps.divergence import Divergence, diverge
from warex.analysis.steps.path import TrialPath, trial_path
from warex.traces.reader import read_trace

HERE = Path(__file__).parent
CORPUS = HERE.parent / "trajectories" / "second_corpus"
LABELS: Sequence[Mapping[str, Any]] = yaml.safe_load((HERE / "labelled_pairs.yaml").read_text())
WANTED = 0.9


def path(part: str, name: str) -> TrialPath:
    return trial_path(read_trace(CORPUS / part / f"{name}.jsonl").entries)


@pytest.fixture(scope="module")
def divergences() -> Mapping[str, Divergence]:
    results = {}
    for part in ("blind", "test"):
        rows = yaml.safe_load((CORPUS / part / "index.yaml").read_text())
        twins = {row["name"]: row.get("twin") for row in rows}
        for label in LABELS:
            of, _, name = label["name"].partition("-")
            if of == part:
                results[label["name"]] = diverge(path(part, twins[name]), path(part, name))
    return results


def before_a_fault(trials: Divergence) -> int:
    _, faulted = trials.paths
    first = min((fault.t for fault in faulted.faults), default=float("inf"))
    return sum(step.t < first for step in faulted.steps)


def of_equal_text(trials: Divergence) -> int:
    pairs = zip(*(path.steps for path in trials.paths), strict=False)
    same = [(a.actions or a.answer) == (b.actions or b.answer) for a, b in pairs]
    return [*same, False].index(False)


@pytest.mark.parametrize("half", ["seen", "held back"])
def test_the_first_divergence_is_where_a_reader_sees_it(
    divergences: Mapping[str, Divergence], half: str
) -> None:
    labels = [one for one in LABELS if (crc32(one["name"].encode()) % 2 == 1) == (half != "seen")]
    equal = [divergences[one["name"]].equal == one["equal"] for one in labels]
    rejoined = [
        [step.number for step in divergences[one["name"]].rejoined or ()] == (one["again"] or [])
        for one in labels
    ]
    baselines = [
        [baseline(divergences[one["name"]]) == one["equal"] for one in labels]
        for baseline in (before_a_fault, of_equal_text)
    ]

    shares = [sum(each) / len(labels) for each in (equal, rejoined, *baselines)]
    print(
        "{}: {} pairs, first {:.2f}, together again {:.2f};"
        " at the fault {:.2f}, at another text {:.2f}".format(half, len(labels), *shares)
    )
    assert len(labels) >= 40
    assert shares[0] >= WANTED
    assert shares[0] >= max(shares[2:])
