"""The steps of a message, as JSON."""

import json

from warex.lane.stdio.steps import Step


def test_a_step_is_the_same_after_json() -> None:
    step = Step("say", (1.5, 2.0), (b'{"half": "\xe2\x82', b"\n"), 0.5, is_cut=True)

    assert Step.of_json(json.loads(json.dumps(step.as_json()))) == step
