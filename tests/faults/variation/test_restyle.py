from tests.faults.variation.injected import settings
from warex.faults.variation.restyle import Restyle


def rules(strength: float, seed: int = 1) -> set[str]:
    return set(settings(Restyle(strength=strength), seed)["css"].splitlines())


def test_the_strength_is_the_share_of_the_rules_and_at_least_one() -> None:
    assert rules(0) == set()
    assert len(rules(0.001)) == 1
    assert len(rules(1)) == 12


def test_what_changes_at_a_lower_strength_changes_alike_at_a_higher() -> None:
    assert rules(0.3) < rules(0.8)


def test_a_button_whose_ground_changes_has_the_ink_to_it() -> None:
    every = set.union(*(rules(1, seed) for seed in range(20)))

    assert all("; color: " in rule for rule in every if "background" in rule)
    declared = [rule.partition("{")[2] for rule in every]
    assert all(each.count("!important") == each.count(":") for each in declared)


def test_nothing_takes_the_room_of_a_buttons_icon_or_of_one_inside_a_field() -> None:
    every = set.union(*(rules(1, seed) for seed in range(20)))
    padded = [rule.partition(" {")[0] for rule in every if "padding: " in rule]

    assert padded
    assert all(it.startswith("button:not(:has(svg, img))") for it in padded)
    assert not any("padding: " in rule for rule in every if rule.startswith("input, select"))
