"""Faults and benchmarks of other distributions are found by their entry points."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.installed_plugins import installed
from warex.benchmarks import benchmark_kind, benchmarks
from warex.cli.app import cli
from warex.errors import MachineError
from warex.faults import catalogue, fault_named, kind_of
from warex.scenarios.scenario import Scenario

FAULT = '''
from typing import Literal
from warex.effects import Reply
from warex.faults import Fault

class TeaPot(Fault, frozen=True):
    """Answer with 418."""
    summary = "Answer with 418."
    kind: Literal["tea_pot"] = "tea_pot"
    size: int = 1

    def effects(self, exchange, state, rng):
        return (Reply(418),), state

    def outcome(self):
        return f"answered 418 by a pot of {self.size}"

class Unfinished(Fault, frozen=True):
    summary = "Nothing."
    kind: Literal["tea_pot"] = "tea_pot"

class Demanding(TeaPot, frozen=True):
    size: int

class OtherKind(TeaPot, frozen=True):
    kind: Literal["coffee_pot"] = "coffee_pot"
'''
BENCHMARK = """
from warex.benchmarks import CommandBenchmark

class Other(CommandBenchmark):
    name = "other"
    summary = "Another benchmark."
"""
RULES = [{"name": "tea", "trigger": {"first": 1}, "fault": {"kind": "tea_pot", "size": 2}}]


def refusal(folder: Path, entry_points: str, module: str = FAULT) -> str:
    with (
        installed(folder, "warex.faults", entry_points, other_faults=module),
        pytest.raises(MachineError) as error,
    ):
        catalogue()
    return str(error.value)


def test_an_installed_fault_is_as_good_as_one_of_our_own(tmp_path: Path) -> None:
    entry = "tea_pot = other_faults:TeaPot"
    with installed(tmp_path, "warex.faults", entry, other_faults=FAULT):
        [rule] = Scenario.model_validate({"name": "tea", "rules": RULES}).rules
        listing = CliRunner().invoke(cli, ["faults"])
        schema = Scenario.model_json_schema()["$defs"]

        assert rule.fault.explain() == "is answered 418 by a pot of 2"
        assert "tea_pot" in listing.output
        assert "TeaPot" in schema
        assert "tea_pot" in map(kind_of, catalogue())
    assert fault_named("tea_pot") is None


@pytest.mark.parametrize(
    ("entry_points", "problem"),
    [
        ("tea_pot = other_faults:Kettle", "cannot be imported (AttributeError: "),
        ("tea_pot = no_such_module:TeaPot", "cannot be imported (ModuleNotFoundError: "),
        ("tea_pot = other_faults:FAULT", "is not a subclass of warex.faults.base.Fault"),
        ("tea_pot = other_faults:Unfinished", "does not define effects, outcome"),
        ("tea_pot = other_faults:Demanding", "has the parameter 'size' without a valid default"),
        ("tea_pot = other_faults:OtherKind", 'does not have the field kind: Literal["tea_pot"]'),
    ],
)
def test_a_fault_that_cannot_be_used_is_refused_with_its_package(
    tmp_path: Path, entry_points: str, problem: str
) -> None:
    message = refusal(tmp_path, entry_points, f"{FAULT}\nFAULT = TeaPot()")

    assert message.startswith("the package warex-other 1.0 adds 'tea_pot' to warex.faults, but ")
    assert problem in message
    assert message.endswith("; mend, update or uninstall the package")


def test_a_name_that_warex_uses_is_refused_with_the_package(tmp_path: Path) -> None:
    assert refusal(tmp_path, "http_error = other_faults:TeaPot") == (
        "the package warex-other 1.0 adds 'http_error' to warex.faults, a name that WAREX itself"
        " uses already; rename the entry point or uninstall the package"
    )


def test_a_broken_fault_stops_no_scenario_without_it(tmp_path: Path) -> None:
    with installed(tmp_path, "warex.faults", "tea_pot = no_such_module:TeaPot"):
        assert fault_named("http_error") is not None
        with pytest.raises(MachineError, match=r"warex-other 1\.0"):
            fault_named("tea_pot")
        result = CliRunner().invoke(cli, ["faults"])
    assert isinstance(result.exception, MachineError) or result.exit_code == 3


def test_an_installed_benchmark_is_found_by_its_name(tmp_path: Path) -> None:
    entry = "other = other_benchmark:Other"
    with installed(tmp_path, "warex.benchmarks", entry, other_benchmark=BENCHMARK):
        assert benchmark_kind("other").summary == "Another benchmark."
        assert benchmark_kind("other") in benchmarks()
        assert "Another benchmark." in CliRunner().invoke(cli, ["benchmarks"]).output
    assert "other" not in [kind.name for kind in benchmarks()]
