from pathlib import Path

import pytest
from pydantic import ValidationError

from warex.benchmarks import BenchmarkConfig, benchmark_of
from warex.errors import CampaignError
from warex.scenarios.mistakes import validate_document

FULL = {"name": "agentlab", "dir": "env", "sites": {"map": "http://127.0.0.1:3000"}}


def test_a_name_alone_is_a_table_and_is_written_as_it_was() -> None:
    table = BenchmarkConfig.model_validate("testbed")

    assert table == BenchmarkConfig(name="testbed")
    written: object = table.model_dump(mode="json")
    assert written == "testbed"


def test_a_table_is_written_without_what_was_not_given() -> None:
    assert BenchmarkConfig.model_validate(FULL).model_dump(mode="json") == FULL


def test_a_list_of_sites_says_that_they_are_where_they_say() -> None:
    table = BenchmarkConfig.model_validate({"name": "command", "sites": ["https://a.example"]})

    assert table.sites == {"https://a.example": "https://a.example"}


def test_an_unknown_key_is_reported_with_its_near_match() -> None:
    _, mistakes = validate_document(BenchmarkConfig, {"name": "x", "option": {}})

    assert "there is no key 'option' here; did you mean 'options'?" in mistakes[0]


def test_the_table_is_immutable() -> None:
    with pytest.raises(ValidationError):
        BenchmarkConfig(name="x").name = "y"  # type: ignore[misc] # that is the point


def test_paths_are_looked_for_beside_the_campaign_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside, elsewhere = tmp_path / "beside", tmp_path / "elsewhere"
    for folder in (beside, elsewhere):
        (folder / "both").mkdir(parents=True)
    (elsewhere / "here").mkdir()
    monkeypatch.chdir(elsewhere)
    table = BenchmarkConfig(name="x", dir="both").relative_to(beside)

    assert table.installation_dir == beside / "both"
    assert table.path("here") == elsewhere / "here"
    assert table.path(str(elsewhere)) == elsewhere


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({"name": "testbed", "dir": "x"}, r"benchmark\.dir: .*no environment of its own"),
        ({"name": "testbed", "sites": {"a": "http://b"}}, "no site 'a'; testbed takes none"),
        ({"name": "testbed", "options": {"a": 1}}, r"benchmark\.options: there is no key 'a'"),
        ({"name": "agentlab", "sites": {"mapp": "http://b"}}, "no site 'mapp'; did you mean 'map'"),
        ({"name": "agentlab", "sites": {"map": "b"}}, r"benchmark\.sites\.map: 'b' is not a URL"),
        (
            {"name": "agentlab", "options": {"agnet": "AGENT_4o"}},
            "there is no key 'agnet' here; did you mean 'agent'",
        ),
        (
            {"name": "command", "sites": ["shop"], "options": {"command": "c", "tasks": ["t"]}},
            "'shop' is not an origin",
        ),
        (
            {"name": "browser-use", "sites": ["https://s.test/a"], "options": {"tasks": "t"}},
            "'https://s.test/a' is not an origin",
        ),
        (
            {
                "name": "command",
                "sites": {"https://s.test": "http://127.0.0.1:1/a"},
                "options": {"command": "c", "tasks": ["t"]},
            },
            "'http://127.0.0.1:1/a' is not an origin",
        ),
    ],
)
def test_an_adapter_refuses_what_it_cannot_take(table: dict[str, object], why: str) -> None:
    with pytest.raises(CampaignError, match=why):
        benchmark_of(BenchmarkConfig.model_validate(table))
