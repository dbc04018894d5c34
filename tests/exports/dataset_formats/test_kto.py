from tests.exports.builders import failure
from warex.exports.dataset_formats import dataset_format
from warex.exports.examples import Example
from warex.exports.rows import LabelledAnswer


def test_a_relabelled_answer_is_wanted_and_the_agents_own_is_not() -> None:
    own = {"role": "assistant", "content": "report_infeasible()"}
    rows = dataset_format("kto").rows([Example(failure("f1", relabelled=True), "lost", own)])

    labels = [(row.label, row.relabelled) for row in rows if isinstance(row, LabelledAnswer)]
    assert labels == [(True, True), (False, False)]
