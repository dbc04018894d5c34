import pytest

from warex.errors import InputError
from warex.training.fine_tuning.devices import processes, require_launcher


def test_several_cards_without_a_launcher_are_refused_with_both_ways_out() -> None:
    with pytest.raises(InputError, match=r"8 cards .* CUDA_VISIBLE_DEVICES=0 .* accelerate launch"):
        require_launcher(8, {})


@pytest.mark.parametrize(("cards", "environment"), [(0, {}), (1, {}), (8, {"WORLD_SIZE": "8"})])
def test_one_card_or_a_process_for_each_is_accepted(
    cards: int, environment: dict[str, str]
) -> None:
    require_launcher(cards, environment)


def test_a_launcher_says_how_many_processes_there_are() -> None:
    assert (processes({}), processes({"WORLD_SIZE": "4"})) == (1, 4)
