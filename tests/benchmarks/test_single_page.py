"""What a scenario does not reach on a single-page site is known before anything is paid for."""

import pytest

from warex.benchmarks.single_page import replaces_document, spa_warnings
from warex.scenarios import Arm
from warex.scenarios.load import load_preset
from warex.scenarios.presets import preset_names


def description_of(preset: str, arm: Arm) -> str:
    return "\n".join(spa_warnings(load_preset(preset), arm, "these sites"))


def test_a_document_rule_that_starts_at_the_first_step_may_reach_nothing() -> None:
    words = description_of("paper/network-error", "first_llm_call")
    assert "rule 'network-error' hits documents, from the agent's first step on" in words
    assert "the presets spa/… reach the data" in words
    assert "hits scripts" in description_of("paper/javascript", "first_llm_call")


def test_a_rule_about_the_first_page_gives_no_warning() -> None:
    assert (
        description_of("paper/network-error", "first_page")
        == description_of("paper/javascript", "start")
        == ""
    )


@pytest.mark.parametrize(
    "preset",
    ["spa/server-error", "spa/network-error", *(n for n in preset_names() if "connection/" in n)],
)
def test_a_rule_about_later_data_gives_no_warning(preset: str) -> None:
    assert description_of(preset, "first_llm_call") == ""


def test_a_page_that_is_taken_away_differs_from_its_data() -> None:
    assert replaces_document(load_preset("paper/server-error"))
    assert not replaces_document(load_preset("spa/server-error"))
    assert not replaces_document(load_preset("connection/refused"))
