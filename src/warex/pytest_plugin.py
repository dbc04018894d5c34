"""WAREX's pytest plugin: the ``warex`` marker and fixture.

A marked test runs behind the proxy with a scenario; a test that uses the fixture can run a campaign
and check its results. See docs/how-to/ci.md.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from warex.errors import WarexError
from warex.text.arguments import checks_arguments

if TYPE_CHECKING:
    from warex.analysis.run.load import Run
    from warex.analysis.table.tabulate import Table
    from warex.api import Interception, Interceptor
    from warex.report.ci.cases import Case
    from warex.report.ci.outputs import CiOutputs
    from warex.report.ci.publish import CiReport

_HELP = (
    "warex(scenario, *, exposed=True, **options): run the test behind WAREX; the options are those"
    " of warex.intercept. Unless exposed=False it fails where no fault was delivered."
)
_ALSO_TYPED = {"jobs", "limit", "isolate"}
"""Options that `warex run` takes under the same name, each with a value."""
_TO_BE_EXPOSED = pytest.StashKey["Interception"]()
"""The proxy of a test in which a fault must be delivered."""
_RESULTS = pytest.StashKey["CiReport"]()
"""The results of all campaigns of the session."""
_FROM_WORKER = "warex_results"
_LONGEST_FOLDER = 120
"""Most characters of a test's name in the name of its folder."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("warex")
    group.addoption(
        "--warex-junit",
        type=Path,
        metavar="FILE",
        help="Write JUnit XML of the campaigns here: a case for each demand.",
    )
    group.addoption("--warex-junit-trials", action="store_true", help="Add a case for each trial.")
    group.addoption(
        "--warex-sarif",
        type=Path,
        metavar="FILE",
        help="Write SARIF 2.1.0 of the campaigns here: attacks on agents that succeeded.",
    )
    group.addoption(
        "--warex-out",
        type=Path,
        metavar="DIR",
        help="Keep traces and run folders in this new folder; by default in each test's tmp_path.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", _HELP)
    if _asks_for_files(config):
        from warex.errors import WarexError

        try:
            _outputs(config).check("--warex-")
        except WarexError as error:
            raise pytest.UsageError(str(error)) from error


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Add the fixture to marked tests."""
    for item in items:
        names = getattr(item, "fixturenames", None)
        if names is not None and item.get_closest_marker("warex") and "warex" not in names:
            names.append("warex")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Let a marked test that passes fail if no fault was delivered."""
    yield
    proxy = item.stash.get(_TO_BE_EXPOSED, None)
    if proxy is not None and all(injection.state != "delivered" for injection in proxy.ledger):
        pytest.fail(
            "no fault of the scenario was delivered, so that this test shows nothing: is the agent"
            " behind the proxy, and does the scenario match what it asks for? Where that is meant"
            " to be, pass exposed=False",
            pytrace=False,
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the results of a worker to its controller."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None and _RESULTS in session.config.stash:
        output[_FROM_WORKER] = json.dumps(asdict(session.config.stash[_RESULTS]))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the results of a worker of pytest-xdist."""
    results = getattr(node, "workeroutput", {}).get(_FROM_WORKER)
    if results is not None:
        import msgspec

        from warex.report.ci.publish import CiReport

        _add_results(node.config, msgspec.convert(json.loads(results), CiReport))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Write the results of the campaigns for a CI server."""
    if _RESULTS not in config.stash and not _asks_for_files(config):
        return
    from warex.report.ci.publish import CiReport, publish

    outputs = _outputs(config)
    results = config.stash.get(_RESULTS, CiReport())
    line = terminalreporter.write_line
    terminalreporter.ensure_newline()
    publish(results, outputs, os.environ, line, line)


def _asks_for_files(config: pytest.Config) -> bool:
    return any(config.getoption(f"--warex-{name}") for name in ("junit", "junit-trials", "sarif"))


def _outputs(config: pytest.Config) -> "CiOutputs":
    from warex.report.ci.outputs import CiOutputs

    names = ("junit", "junit_trials", "sarif")
    return CiOutputs(*(config.getoption(f"--warex-{name.replace('_', '-')}") for name in names))


def _add_results(config: pytest.Config, results: "CiReport") -> None:
    earlier = config.stash.get(_RESULTS, None)
    config.stash[_RESULTS] = results if earlier is None else earlier + results


@dataclass(frozen=True)
class CampaignRun:
    """A campaign that a test ran."""

    path: Path
    report: Path
    run: "Run"
    table: "Table"
    notices: tuple[str, ...] = ()
    _gates: "list[Case]" = field(default_factory=list, repr=False)

    @checks_arguments
    def require(self, demand: str, *, on_unclear: Literal["skip", "pass", "fail"] = "skip") -> None:
        """Raise AssertionError, with a sentence per row, if the run does not reach ``demand``.

        ``demand`` is written as for ``--fail-under``: ``recovery>=0.8 and clean.success>=0.9``. If
        chance leaves open whether it is reached, the test is skipped with the reason, which is
        neither passed nor failed; ``on_unclear`` decides otherwise. Raises InputError if it is
        invalid.
        """
        __tracebackhide__ = True
        from warex.analysis.output.thresholds import judge_run
        from warex.errors import InputError
        from warex.report.ci.cases import gate_cases
        from warex.text.english import did_you_mean

        ends = ("skip", "pass", "fail")
        if on_unclear not in ends:
            raise InputError(
                f"require(…, on_unclear={on_unclear!r}): it is one of skip, pass and fail"
                f"{did_you_mean(str(on_unclear), ends)}"
            )
        judgement = judge_run(self.table, demand)
        self._gates.extend(gate_cases(judgement, None if on_unclear == "skip" else on_unclear))
        if judgement.end == "broken":
            raise AssertionError(self._explain(f"does not reach {demand}", judgement.broken))
        if judgement.end == "cannot tell":
            message = self._explain(f"may or may not reach {demand}", judgement.unclear)
            if on_unclear == "fail":
                raise AssertionError(message)
            if on_unclear == "skip":
                pytest.skip(message)

    def _explain(self, verdict: str, sentences: tuple[str, ...]) -> str:
        lines = "".join(f"\n  {sentence}" for sentence in sentences)
        return f"{self.path.name} {verdict}:{lines}\n{self.report}"


@dataclass
class Warex:
    """The value of the ``warex`` fixture."""

    out: Path
    """Folder of its traces and run folders."""
    runs: list[CampaignRun] = field(default_factory=list)
    _proxy: "Interception | None" = None

    @property
    def proxy(self) -> "Interception":
        """The proxy of a marked test. Raises UsageError if the test has no ``warex`` marker."""
        if self._proxy is None:
            raise pytest.UsageError(
                "this test has no proxy: mark it with @pytest.mark.warex(SCENARIO), or use"
                " warex.intercept(…)"
            )
        return self._proxy

    @checks_arguments
    def intercept(self, scenario: Any = None, **options: Any) -> "Interceptor":
        """Return a context manager for a part of the test; see ``warex.intercept``."""
        from warex.api import intercept

        return intercept(scenario, **options)

    @checks_arguments
    def run(
        self, campaign: str | Path | Mapping[str, Any], *, name: str | None = None, **options: Any
    ) -> CampaignRun:
        """Run a campaign to its end and return the result.

        ``campaign`` is a file, a built-in name, or a campaign's keys; ``name`` is that of the run
        folder; ``options`` are those of ``warex run``: jobs, limit, isolate and so on. Raises
        WarexError as ``warex run`` does.
        """
        from warex.analysis.run.load import load_run
        from warex.analysis.table.tabulate import tabulate
        from warex.campaigns.config.campaign import load_campaign, parse_campaign
        from warex.campaigns.config.options import RunOptions
        from warex.campaigns.plan.campaign_plan import plan
        from warex.campaigns.run_campaign import run_campaign
        from warex.errors import InputError
        from warex.report.html.page import write_report
        from warex.text.english import did_you_mean
        from warex.traces import escape
        from warex.traffic import TrafficOptions

        config = (
            parse_campaign(campaign)
            if isinstance(campaign, Mapping)
            else load_campaign(str(campaign))
        )
        folder = self.out / escape(name or config.name)
        notices: list[str] = []
        typed = _command(campaign, options)
        traffic_names = {option.name for option in fields(TrafficOptions)}
        run_names = {option.name for option in fields(RunOptions)} - {"command"}
        for option in options.keys() - traffic_names - run_names:
            near = did_you_mean(option, {"name", *traffic_names, *run_names})
            raise InputError(f"warex.run(…, {option}=…): there is no option {option!r}{near}")
        names = options.keys() & traffic_names
        config = config.with_traffic(**{name: options.pop(name) for name in names})
        run_options = RunOptions(**options, command=typed)
        run_campaign(plan(config), folder, run_options, notice=notices.append)
        loaded = load_run(folder)
        table = tabulate(loaded)
        done = CampaignRun(folder, write_report(loaded, table), loaded, table, tuple(notices))
        self.runs.append(done)
        return done


def _command(
    campaign: str | Path | Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return an equivalent ``warex run`` command line, or () if there is none."""
    passed = {name: value for name, value in options.items() if value is not None}
    if isinstance(campaign, Mapping) or passed.keys() - _ALSO_TYPED:
        return ()
    typed = (part for name, value in passed.items() for part in (f"--{name}", str(value)))
    return ("warex", "run", str(campaign), *typed)


def folder_of_test(name: str, nodeid: str, tests: Iterable[tuple[str, str]]) -> str:
    """Return a readable folder for a test: ``test_many-0`` for ``test_many[0]``.

    ``tests``: name and node ID of each test of the session. Where two would have the same folder,
    also on a disk that ignores case, each has a digest of its node ID at the end.
    """
    readable = _readable(name)
    alike = {each for title, each in tests if _readable(title).lower() == readable.lower()}
    if not alike - {nodeid}:
        return readable
    return f"{readable}-{hashlib.sha256(nodeid.encode()).hexdigest()[:8]}"


def _readable(name: str) -> str:
    plain = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII)[:_LONGEST_FOLDER]
    return plain.strip("-.") or "test"


@pytest.fixture
def warex(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Warex]:
    """WAREX for one test: behind the proxy if it is marked, and able to run campaigns."""
    out: Path | None = request.config.getoption("--warex-out")
    if out is not None:
        tests = [(item.name, item.nodeid) for item in request.session.items]
        out /= folder_of_test(request.node.name, request.node.nodeid, tests)
    fixture = Warex(out or tmp_path)
    marker = request.node.get_closest_marker("warex")
    try:
        if marker is None:
            yield fixture
        else:
            yield from _start_proxy(request, fixture, marker)
    except WarexError as error:
        # It is about the marker or the machine, and the frames are WAREX's own.
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    finally:
        for run in fixture.runs:
            _add_results(request.config, _results_of(run, _outputs(request.config)))
            request.node.add_report_section("teardown", "warex", f"report {run.report}")


def _results_of(run: CampaignRun, outputs: "CiOutputs") -> "CiReport":
    from warex.report.ci.results import run_results

    return run_results(run.run, run.table, run._gates, outputs)


def _start_proxy(
    request: pytest.FixtureRequest, fixture: Warex, marker: pytest.Mark
) -> Iterator[Warex]:
    from warex.api import intercept, require_known
    from warex.errors import InputError

    if len(marker.args) > 1 or not (marker.args or marker.kwargs):
        raise InputError(
            "@pytest.mark.warex takes one scenario, such as"
            ' @pytest.mark.warex("paper/server-error"), or None for a proxy without faults, and'
            " options by name"
        )
    require_known("@pytest.mark.warex(…, {}=…)", marker.kwargs, "exposed")
    options = dict(marker.kwargs)
    exposed = options.pop("exposed", True)
    if not isinstance(exposed, bool):
        raise InputError(f"@pytest.mark.warex(…, exposed={exposed!r}): give True or False")
    faulted = bool(marker.args) or options.get("scenario") is not None
    with intercept(*marker.args, out=fixture.out / "trace", **options) as proxy:
        fixture._proxy = proxy
        if faulted and exposed:
            request.node.stash[_TO_BE_EXPOSED] = proxy
        yield fixture
