"""The server asks a ranker as it asks a language model."""

import numpy as np

from warex.training.inference.batching import Generation, GenerationRequest
from warex.training.inference.ranker_model import RankerModel
from warex.training.ranking.candidates import ActionTemplate
from warex.training.ranking.ranker import Ranker, RankerFacts, RankerOptions


def test_a_request_is_answered_at_once_with_the_best_action() -> None:
    template = ActionTemplate(
        action="click", text="click('⟦element⟧')", roles=("button",), vocabulary="v"
    )
    options = RankerOptions(buckets=64)
    facts = RankerFacts(options=options, templates=(template,))
    model = RankerModel(Ranker(facts, np.zeros(64, np.float32)))
    answers: list[Generation] = []

    prompt, tokens = model.written([{"role": "user", "content": "[4] button 'Pay now'"}], None)
    model.ask(GenerationRequest(prompt, None, 0.0, 1.0, 10, (), answers.append))

    assert tokens == 4
    assert [(it.text, it.finish) for it in answers] == [("click('4')", "stop")]
    assert tokens < model.context
