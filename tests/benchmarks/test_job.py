"""What an adapter gets, and what it returns."""

import pytest

from warex.benchmarks.job import AgentSpec, maps_of


def test_a_site_that_is_served_where_it_says_needs_no_map() -> None:
    served = {"https://a.example": "http://127.0.0.1:1", "https://b.example": "https://b.example"}

    assert maps_of(served) == ("https://a.example=http://127.0.0.1:1",)


@pytest.mark.parametrize(
    ("model", "mock"), [("gpt-4o", False), ("scripted:patient", True), ("playbook:a.yaml", True)]
)
def test_a_model_that_warex_plays_is_known_by_its_name(model: str, mock: bool) -> None:
    assert AgentSpec("a", model).is_mock is mock
