import pytest
from pydantic import ValidationError

from warex.llm.actions.base import Action
from warex.llm.actions.vocabulary import SubtaskDepth, Vocabulary

VOCABULARY = Vocabulary(name="some", finish=("stop",), other=("click",))
STOP, CLICK = Action("stop", ()), Action("click", ())


def test_only_an_action_that_ends_the_task_is_final() -> None:
    assert SubtaskDepth().ends((STOP,), VOCABULARY)
    assert not SubtaskDepth().ends((CLICK,), VOCABULARY)
    assert not SubtaskDepth().ends((), VOCABULARY)


@pytest.mark.parametrize(
    ("lists", "says"),
    [
        ({"infeasible": ["x"], "finish": ["y"]}, "infeasible names .'x'., which finish must"),
        ({"retry": ["reload"]}, "retry names .'reload'., which recover must"),
    ],
)
def test_a_vocabulary_that_contradicts_itself_is_refused(
    lists: dict[str, list[str]], says: str
) -> None:
    with pytest.raises(ValidationError, match=says):
        Vocabulary.model_validate({"name": "v"} | lists)
