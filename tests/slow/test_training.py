"""From runs on the testbed to models that recover, by WAREX's own commands."""

from dataclasses import replace
from pathlib import Path

import pytest
from bench.training.experiment import SMALL, Experiment, smollm2
from bench.training.verdict import read_result

from warex.analysis.stats.estimates import Rate
from warex.analysis.stats.proportions import ALPHA, fisher

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_trained_models_recover_on_unseen_sites(
    tmp_path: Path,
) -> None:
    experiment = Experiment(tmp_path, replace(SMALL, more_questions=False), smollm2())

    experiment.run()

    result = read_result(experiment)
    ranker = result.rankers["ranker-0"]
    assert ranker.recovery.n >= 8
    assert (ranker.recovery.value or 0) >= 0.8
    # A model that always reloads would recover, too.
    assert _more(ranker.recovery, ranker.false_reloads)
    # So few steps teach a language model the form of an answer, and little more.
    assert list(result.acts) == ["base", "tuned-0"]
    assert _more(result.acts["tuned-0"], result.acts["base"])


def _more(one: Rate, other: Rate) -> bool:
    more = (one.value or 0) > (other.value or 0)
    return more and fisher((one.hits, one.n), (other.hits, other.n)) < ALPHA
