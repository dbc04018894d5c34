"""What other distributions add is found by their entry points."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.installed_plugins import installed
from warex import plugins
from warex.analysis.metrics import row
from warex.analysis.metrics.sample import Sample
from warex.benchmarks import benchmark_kind, benchmarks
from warex.cli.app import cli, run
from warex.errors import MachineError
from warex.exports.run_formats import RunExport, export_runs
from warex.faults import catalogue, fault_named, kind_of
from warex.lane.hosts.own_hosts import FAULT_HOSTS, fault_sites
from warex.llm import could_be_llm, read_answer, recognise
from warex.scenarios.scenario import Match, Scenario

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


FAMILY = """
from warex.llm.families.openai_chat import OpenAiChat

class Gateway(OpenAiChat):
    name = "gateway"
    summary = "A gateway."
    path_endings = ("/llm/ask",)
"""
METRIC = """
from warex.analysis.metrics.metric import Metric

hops = Metric(kind=int, compute=lambda of: 1 // 0, unit="count", definition="Hops.")
"""


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [it.getMessage() for it in caplog.records if it.name == "warex.plugins"]


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
def test_an_unusable_plugin_fault_is_not_listed_and_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, entry_points: str, problem: str
) -> None:
    module = f"{FAULT}\nFAULT = TeaPot()"
    with installed(tmp_path, "warex.faults", entry_points, other_faults=module):
        listing = CliRunner().invoke(cli, ["faults"])
        catalogue()
        with pytest.raises(MachineError) as error:
            Scenario.model_validate({"name": "tea", "rules": RULES})
        assert fault_named("http_error") is not None

    message = str(error.value)
    assert message.startswith("the package warex-other 1.0 adds 'tea_pot' to warex.faults, but ")
    assert problem in message
    assert message.endswith("; fix, update or uninstall the package")
    assert (listing.exit_code, "http_error" in listing.output) == (0, True)
    assert warnings(caplog) == [f"{message}; WAREX goes on without it"]


def test_a_name_of_warex_keeps_its_meaning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    entry = "http_error = other_faults:TeaPot"
    with installed(tmp_path, "warex.faults", entry, other_faults=FAULT):
        fault = fault_named("http_error")
        assert fault in catalogue()

    assert fault is not None
    assert fault.__module__.startswith("warex.")
    assert warnings(caplog) == [
        "the package warex-other 1.0 adds 'http_error' to warex.faults, a name that WAREX itself"
        " uses already; rename the entry point or uninstall the package; WAREX goes on without it"
    ]


def test_kinds_that_do_not_exist_are_not_remembered(tmp_path: Path) -> None:
    with installed(tmp_path, "warex.faults", "tea_pot = other_faults:TeaPot", other_faults=FAULT):
        for number in range(50):
            assert fault_named(f"kind_{number}") is None
        assert plugins._load.cache_info().currsize == 0


def test_the_site_of_an_installed_fault_is_one_of_a_lanes_hosts(tmp_path: Path) -> None:
    module = f"""{FAULT}
from types import SimpleNamespace

class Hosted(TeaPot, frozen=True):
    own_site = SimpleNamespace(hosts=("te--pot.com",))
"""
    with installed(tmp_path, "warex.faults", "tea_pot = other_faults:Hosted", other_faults=module):
        assert fault_sites()["te--pot.com"][0] == "tea_pot"
        assert "te--pot.com" in FAULT_HOSTS


def test_an_installed_benchmark_is_found_by_its_name(tmp_path: Path) -> None:
    entry = "other = other_benchmark:Other"
    with installed(tmp_path, "warex.benchmarks", entry, other_benchmark=BENCHMARK):
        assert benchmark_kind("other").summary == "Another benchmark."
        assert benchmark_kind("other") in benchmarks()
        assert "Another benchmark." in CliRunner().invoke(cli, ["benchmarks"]).output
    assert "other" not in [kind.name for kind in benchmarks()]


def test_a_benchmark_that_fails_in_a_command_is_named_with_its_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    module = f"{BENCHMARK}\n    @classmethod\n    def example(cls):\n        return {{}}['buy']\n"
    entry = "other = other_benchmark:Other"
    with installed(tmp_path, "warex.benchmarks", entry, other_benchmark=module):
        code = run(["benchmarks", "show", "other"])

    assert code == MachineError.exit_code
    assert capfd.readouterr().err == (
        "warex: the package warex-other 1.0 failed in other_benchmark.py, line 10"
        " (KeyError: 'buy'); fix, update or uninstall the package\n"
    )


def test_a_failure_of_warex_itself_is_not_a_plugins(tmp_path: Path) -> None:
    entry = "other = other_benchmark:Other"
    with installed(tmp_path, "warex.benchmarks", entry, other_benchmark=BENCHMARK):
        with pytest.raises(KeyError) as caught:
            dict[str, str]()["buy"]
        assert plugins.plugin_failure(caught.value) is None


def test_an_installed_family_reads_calls_after_ours(tmp_path: Path) -> None:
    body = b'{"model":"m","messages":[{"role":"user","content":"Hi"}]}'
    match = {"llm": {"family": "gateway"}}
    with installed(tmp_path, "warex.llm_apis", "gateway = other:Gateway", other=FAMILY):
        assert could_be_llm("POST", "/llm/ask?x=1")
        call = recognise("POST", "/llm/ask", "", body)
        assert call is not None
        answer = read_answer(call, 200, "application/json", b'{"choices":[{"message":{}}]}')
        assert (call.api, answer.error) == ("gateway", None)
        assert Match.model_validate(match).llm is not None
    assert recognise("POST", "/llm/ask", "", body) is None
    with pytest.raises(ValueError, match="there is no API 'gateway'; there are openai_chat, "):
        Match.model_validate(match)


def test_a_broken_family_is_left_out_of_a_trial_and_refused_in_a_scenario(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with installed(tmp_path, "warex.llm_apis", "gateway = no_such_module:Gateway"):
        assert recognise("POST", "/llm/ask", "", b"{}") is None
        with pytest.raises(MachineError, match=r"the package warex-other 1\.0 adds 'gateway'"):
            Match.model_validate({"llm": {"family": "gateway"}})
    assert len(warnings(caplog)) == 1


def test_an_installed_format_is_written_and_its_failure_names_the_package(tmp_path: Path) -> None:
    module = "def write(export):\n    yield 'written'\n    raise KeyError('outcome')\n"
    export = RunExport("other-format", (tmp_path,), tmp_path / "out")
    with installed(tmp_path, "warex.run_formats", "other-format = other:write", other=module):
        lines = iter(export_runs(export))
        assert next(lines) == "written"
        with pytest.raises(MachineError) as error:
            next(lines)
    assert str(error.value) == (
        "the format 'other-format' of the package warex-other 1.0 failed (KeyError: 'outcome')"
    )


def test_an_installed_metric_that_fails_is_unknown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with installed(tmp_path, "warex.metrics", "hops = other:hops", other=METRIC):
        [metric] = row._PLUGINS.load_all()
        assert metric.measure(Sample((), (), None, None, 0)) is None
    assert (metric.key, metric.columns) == ("hops", {"hops": int})
    [warning] = warnings(caplog)
    assert warning.startswith("'hops' of the package warex-other 1.0 failed (ZeroDivisionError: ")


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("success_n = other:hops", "has the column 'success_n', which exists already"),
        ("hops = other:METRIC", "cannot be imported (AttributeError: "),
        ("hops = other:Metric", "is not a warex.analysis.metrics.metric.Metric"),
    ],
)
def test_a_metric_that_does_not_fit_is_refused(tmp_path: Path, entry: str, problem: str) -> None:
    with (
        installed(tmp_path, "warex.metrics", entry, other=METRIC),
        pytest.raises(MachineError) as error,
    ):
        row._PLUGINS.load(entry.partition(" ")[0])
    assert problem in str(error.value)
