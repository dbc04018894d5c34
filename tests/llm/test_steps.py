from warex.llm.steps import Steps, count_steps, number_steps


def test_repeats_of_one_body_are_one_step() -> None:
    assert number_steps(["a", "a", "b", "b", "b", "c"]) == [1, 1, 2, 2, 2, 3]


def test_a_body_that_comes_back_later_is_a_step_of_its_own() -> None:
    assert count_steps(["a", "b", "a"]) == 3


def test_no_calls_are_no_steps() -> None:
    assert count_steps([]) == Steps().count == 0
