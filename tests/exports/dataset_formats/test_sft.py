from tests.exports.builders import failure
from warex.exports.dataset_formats import dataset_format
from warex.exports.examples import Example


def test_only_wanted_answers_are_rows() -> None:
    own = {"role": "assistant", "content": "report_infeasible()"}
    examples = [
        Example(failure("f1"), "recovery", own),
        Example(failure("f2"), "lost", own),
        Example(failure("f3", relabelled=True), "lost", own),
    ]

    assert [row.id for row in dataset_format("sft").rows(examples)] == ["f1", "f3"]
