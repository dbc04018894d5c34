"""An adapter needs four methods; everything else has a default."""

import re
import tomllib
from pathlib import Path
from typing import ClassVar

from warex.benchmarks import Benchmark, Command, Job, TaskEnvironment, TaskResult
from warex.benchmarks.interface import Adapter
from warex.llm.actions.vocabulary import Vocabulary
from warex.proxy.certificates.ca import ensure_ca
from warex.scenarios import Scenario
from warex.scenarios.load import load_preset

ROOT = Path(__file__).parents[2]


class Least(Benchmark):
    name: ClassVar = "least"
    summary: ClassVar = "As little as there can be."
    vocabulary = Vocabulary(name="least")

    def tasks(self) -> tuple[str, ...]:
        return ("one",)

    def sites(self, task: str) -> tuple[str, ...]:
        return ("https://shop.example",)

    def command(self, job: Job, environment: TaskEnvironment) -> Command:
        return Command(["true"])

    def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
        return TaskResult("answered", 1.0)


def test_what_an_adapter_may_leave_out_has_a_default(tmp_path: Path) -> None:
    least = Least()

    least.validate(least.tasks(), [], direct=True)
    assert least.site_names_of("one") == ("shop.example",)
    assert (least.exclusions("one"), least.vocabulary_of("one")) == ((), least.vocabulary)
    with least.start_environment("one", tmp_path, ensure_ca(tmp_path / "ca"), direct=False) as it:
        assert it == TaskEnvironment()
        assert least.was_visited(it) is None


def test_an_adapter_of_a_package_has_a_campaign_to_copy() -> None:
    example = tomllib.loads(Least.example())

    assert example["benchmark"] == "least"
    assert [it["name"] for it in example["conditions"]] == ["clean", "server-error"]


def test_faults_begin_where_the_scenario_says_else_where_the_adapter_does() -> None:
    preset = load_preset("paper/server-error")
    scenario = preset.model_copy(update={"arm": "start"})
    assert isinstance(scenario, Scenario)

    assert Least().arm(preset, "one") == "first_llm_call"
    assert Least().arm(scenario, "one") == "start"


def test_the_docs_name_what_is_required() -> None:
    docs = (ROOT / "docs/reference/benchmarks.md").read_text(encoding="utf-8")
    required = docs.partition("Required are")[2].partition("Optional are")[0]

    assert set(re.findall(r"`(\w+)\(", required)) == Adapter.__abstractmethods__
