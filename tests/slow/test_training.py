"""From runs on the testbed to a model that recovers: a real model, by WAREX's own commands."""

from pathlib import Path

import pytest
from bench.training.experiment import SMALL, Experiment, smollm2
from bench.training.verdict import read_result

from warex.analysis.stats.proportions import ALPHA, fisher

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_a_real_model_learns_to_recover_on_sites_and_error_pages_that_it_has_not_seen(
    tmp_path: Path,
) -> None:
    experiment = Experiment(tmp_path, SMALL, smollm2())

    experiment.run()

    scores = read_result(experiment).scores
    assert list(scores) == ["base", "tuned-0"]
    base, tuned = (score.recovery for score in scores.values())
    assert base.n == tuned.n >= 10
    assert tuned.hits > base.hits
    assert fisher((tuned.hits, tuned.n), (base.hits, base.n)) < ALPHA
    # A model that always reloads would do so here, too.
    assert scores["tuned-0"].false_reloads.hits < tuned.n / 2
