from tests.exports.builders import failure
from warex.exports.dataset_formats import dataset_format
from warex.exports.examples import Example
from warex.exports.rows import PreferencePair


def test_a_relabelled_answer_is_preferred_to_the_agents_own() -> None:
    own = {"role": "assistant", "content": "report_infeasible()"}
    row = failure("f1", relabelled=True)

    (pair,) = dataset_format("dpo").rows([Example(row, "lost", own)])

    assert isinstance(pair, PreferencePair)
    assert (pair.chosen, pair.rejected) == ([row.answer], [own])
