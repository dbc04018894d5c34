"""What a scenario may say, and that the reference page tells all of it."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from warex.scenarios.load import load_scenario
from warex.scenarios.paper_config import _KEYS, _VALUES
from warex.scenarios.presets import preset_names
from warex.scenarios.scenario import Match, Random, Rule, Scenario, Trigger

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "scenarios.md").read_text(encoding="utf-8")
EXAMPLES = sorted((ROOT / "examples" / "scenarios").iterdir())


@pytest.mark.parametrize("model", [Scenario, Rule, Match, Trigger, Random])
def test_every_key_is_in_the_reference(model: type[BaseModel]) -> None:
    table = {"Random": r"`\{random: \{[^`]*\b%s: "}.get(model.__name__, r"^\| `%s` \|")
    missing = [key for key in model.model_fields if not re.search(table % key, PAGE, re.MULTILINE)]
    assert missing == []


def test_every_preset_is_in_the_reference() -> None:
    assert [name for name in preset_names() if f"| `{name}` |" not in PAGE] == []


def test_every_spelling_of_the_papers_keys_is_in_the_reference() -> None:
    for name, others in _KEYS.items():
        assert f"| `{name}` | `{' '.join(others)}` |" in PAGE
    flat = " ".join(PAGE.split())
    for others in _VALUES["failure_type"].values():
        assert f"`{' '.join(others)}`" in flat


@pytest.mark.parametrize(
    ("kind", "text"), re.findall(r"```(yaml|toml|json)\n(.*?)```", PAGE, re.DOTALL)
)
def test_every_example_of_the_reference_loads(kind: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / f"example.{kind}"
    path.write_text(text)
    assert load_scenario(path).rules


def test_the_first_two_examples_of_the_reference_say_the_same(tmp_path: Path) -> None:
    matches = re.findall(r"```(yaml|toml)\n(.*?)```", PAGE, re.DOTALL)[:2]
    for kind, text in matches:
        (tmp_path / f"example.{kind}").write_text(text)
    assert load_scenario(tmp_path / "example.yaml") == load_scenario(tmp_path / "example.toml")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_file_loads(path: Path) -> None:
    assert load_scenario(path).rules


def test_one_value_is_a_list_of_one_and_methods_are_upper_case() -> None:
    match = Match.model_validate({"method": "get", "resource": "document", "status": 200})
    assert (match.method, match.resource, match.status) == (("GET",), ("document",), (200,))
    assert Trigger.model_validate({"nth": 2}).nth == (2,)


@pytest.mark.parametrize(
    ("method", "says"),
    [
        ("PSOT", "HTTP method 'PSOT' does not exist; did you mean 'POST'?"),
        (["GET", "delte"], "HTTP method 'delte' does not exist; did you mean 'DELETE'?"),
        ("get ", "HTTP method 'get ' does not exist; did you mean 'GET'?"),
        ("*", "HTTP method '*' does not exist; give GET, POST,"),
    ],
)
def test_a_method_that_does_not_exist_is_reported_with_the_nearest(
    method: object, says: str
) -> None:
    with pytest.raises(ValidationError, match=re.escape(says)):
        Match.model_validate({"method": method})
    assert Match.model_validate({"method": ["propfind", "PURGE"]}).method == ("PROPFIND", "PURGE")


def test_a_rule_is_about_its_faults_resources_unless_it_names_its_own() -> None:
    def resources(match: object) -> tuple[str, ...]:
        fault = {"kind": "javascript_failure"}
        data = {"name": "r", "match": match, "trigger": {"first": 1}, "fault": fault}
        return Rule.model_validate(data).resources

    assert resources({}) == ("script",)
    assert resources({"resource": "image"}) == ("image",)


def test_a_scenario_that_comes_from_another_process_is_written_like_any() -> None:
    """As on a Ray node: nothing has been validated there."""
    scenario = load_scenario("connection/dns")
    write = "import pickle, sys; print(pickle.load(sys.stdin.buffer).model_dump_json(), end='')"
    done = subprocess.run(
        [sys.executable, "-c", write],
        input=pickle.dumps(scenario),
        capture_output=True,
        check=False,
    )

    assert (done.stderr, done.stdout.decode()) == (b"", scenario.model_dump_json())


def test_a_scenario_cannot_be_changed() -> None:
    scenario = Scenario(name="s")
    with pytest.raises(ValidationError):
        scenario.name = "t"  # type: ignore[misc]


@pytest.mark.parametrize("name", ["", " ", "a ", "x" * 101, "a\nb"])
def test_a_name_is_one_short_line(name: str) -> None:
    with pytest.raises(ValidationError):
        Scenario(name=name)


def test_a_window_has_a_beginning_before_its_end() -> None:
    for window in ([-1, 2], [2, 2], [0, float("inf")], [float("nan"), 1]):
        with pytest.raises(ValidationError):
            Trigger.model_validate({"first": 1, "between": window})
