"""What counts and what is void, each shown by a trial that goes that way."""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.installed_plugins import installed
from tests.trials.attempts import BROKEN_ONCE, attempt, spec, trials_of_one_run
from tests.trials.shop import SITE, Shop
from warex.benchmarks import Job, TaskEnvironment, TaskResult
from warex.benchmarks.scoring.expectations import reset
from warex.errors import InputError, MachineError, TrialVoid
from warex.llm.defences.refresh import REFRESH
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.client import Proxy
from warex.sandbox.isolation import Isolation, Sandbox, open_sandbox
from warex.scenarios import Scenario
from warex.traces import (
    EVENTS,
    Canary,
    Counted,
    Entry,
    FaultDelivered,
    FaultPlanned,
    LlmCall,
    Outcome,
    RequestSeen,
    Trace,
    TrialBegan,
    TrialEnded,
    Unscored,
    Void,
    read_outcome,
    read_trace,
)
from warex.trials import TrialContext, run_trial
from warex.trials import runner as trials
from warex.trials.page_checks import require_pages
from warex.trials.runner import TrialInterrupted

pytestmark = pytest.mark.wire


def void_reason(outcome: Outcome) -> str:
    assert isinstance(outcome, Void)
    return outcome.reason


def test_a_trial_that_ran_as_planned_counts(context: TrialContext, tmp_path: Path) -> None:
    outcome = attempt(spec("model,page"), context, tmp_path)

    assert isinstance(outcome, Counted)
    assert (outcome.ending, outcome.score, outcome.answer) == ("answered", 1.0, "bought")
    assert 0 < outcome.latency_s < 60
    trace = read_trace(tmp_path / "attempt-1" / "events.jsonl")
    (began,) = trace.events(TrialBegan)
    assert (began.task, began.repeat, began.attempt, began.seed) == ("buy", 2, 1, 77)
    assert [canary.passed for canary in trace.events(Canary)] == [True]
    (call,) = trace.events(LlmCall)
    assert (call.input_tokens, call.output_tokens) == (5, 1)
    assert isinstance(trace.entries[-1].event, TrialEnded)


@pytest.mark.parametrize(
    ("does", "void"), [("page", True), ("page,1", False)], ids=["answered", "crashed before"]
)
def test_a_defended_trial_whose_model_was_asked_unseen_is_void(
    context: TrialContext, tmp_path: Path, does: str, void: bool
) -> None:
    trial = replace(spec(does, BROKEN_ONCE), defence=REFRESH)

    outcome = attempt(trial, context, tmp_path)

    assert isinstance(outcome, Void) is void
    assert not void or "the defence 'refresh' was added to no LLM request" in void_reason(outcome)


def test_what_answered_a_void_trial_is_not_given_again(
    context: TrialContext, tmp_path: Path
) -> None:
    void = replace(spec("model,page,1"), cached=True)
    again = replace(void, agent=replace(void.agent, model="scripted:model,page"))
    again = replace(again, key=replace(void.key, condition="again"))

    (voided, _), (_, replayed) = trials_of_one_run(context, tmp_path / "run", void, again)

    assert isinstance(voided, Void)
    assert replayed == [False]


def test_the_outcome_is_written_last(
    context: TrialContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before: list[list[str]] = []

    def spy(folder: Path, outcome: Outcome) -> None:
        assert isinstance(read_trace(folder / "events.jsonl").entries[-1].event, TrialEnded)
        before.append(sorted(path.name for path in folder.iterdir()))

    monkeypatch.setattr(trials, "write_outcome", spy)
    run_trial(spec("page"), 1, tmp_path / "attempt-1", context)

    assert before == [["agent.log", "events.jsonl"]]


def test_a_bad_result_counts_as_it_is(context: TrialContext, tmp_path: Path) -> None:
    outcome = attempt(spec("page,page", BROKEN_ONCE), context, tmp_path)

    assert isinstance(outcome, Counted)
    delivered = read_trace(tmp_path / "attempt-1" / "events.jsonl").events(FaultDelivered)
    assert len(delivered) == 1


def test_a_canary_that_does_not_come_back_voids_before_the_agent_starts(
    context: TrialContext, tmp_path: Path
) -> None:
    blind = tmp_path / "blind"
    blind.write_text("#!/bin/sh\n")
    blind.chmod(0o755)

    reason = void_reason(attempt(spec("page"), replace(context, chromium=blind), tmp_path))

    assert "the canary page did not come back" in reason
    assert not (tmp_path / "attempt-1" / "agent.log").exists()


@pytest.mark.parametrize(
    ("does", "says"),
    [("model", "the agent called its model, but no page"), ("0", "the agent ran, but no page")],
)
def test_an_agent_whose_browser_goes_past_the_proxy_is_void(
    context: TrialContext, tmp_path: Path, does: str, says: str
) -> None:
    reason = void_reason(attempt(spec(does), context, tmp_path))

    assert reason.startswith(f"bypassed or never asked for: {says} of {SITE}")


def test_a_site_that_a_fault_kept_from_being_reached_was_not_gone_past() -> None:
    failed = FaultPlanned(
        injection="i1",
        exchange="a1",
        rule="r",
        fault={},
        stage="request",
        scope="",
        ordinal=1,
        effects=("refuse",),
        url=f"{SITE}:443/",
        point="connect",
    )

    trace = Trace((Entry(1, 0.0, "", failed),))

    require_pages(trace, [SITE])
    with pytest.raises(TrialVoid, match="bypassed"):
        require_pages(trace, ["https://other.warex.test"])


@pytest.mark.parametrize(("reached", "counts"), [(False, True), (True, False), (None, False)])
def test_only_an_agent_that_reached_the_site_has_gone_past_the_proxy(
    context: TrialContext, tmp_path: Path, reached: bool | None, counts: bool
) -> None:
    class Telling(Shop):
        def was_visited(self, environment: TaskEnvironment) -> bool | None:
            return reached

    outcome = attempt(spec("model"), replace(context, benchmark=Telling()), tmp_path)

    assert isinstance(outcome, Counted) is counts
    assert counts or void_reason(outcome).startswith(
        "bypassed: " if reached else "bypassed or never asked for: "
    )


def test_a_reset_that_runs_when_the_campaign_is_stopped_is_not_a_trial(
    context: TrialContext, tmp_path: Path
) -> None:
    class Resetting(Shop):
        @contextmanager
        def start_environment(
            self, task: str, folder: Path, ca: CertificateAuthority, *, direct: bool
        ) -> Iterator[TaskEnvironment]:
            context.stop.set()
            reset(("sleep", "60"))
            yield TaskEnvironment()

    with pytest.raises(TrialInterrupted):
        attempt(spec("page"), replace(context, benchmark=Resetting()), tmp_path)


def test_a_crash_before_any_fault_was_delivered_is_void(
    context: TrialContext, tmp_path: Path
) -> None:
    reason = void_reason(attempt(spec("page,1"), context, tmp_path))

    assert reason == ("the harness crashed before any fault was delivered: it ended with code 1")


def test_a_crash_after_a_fault_was_delivered_counts_as_nothing_done(
    context: TrialContext, tmp_path: Path
) -> None:
    outcome = attempt(spec("page,1", BROKEN_ONCE), context, tmp_path)

    assert isinstance(outcome, Counted)
    assert (outcome.ending, outcome.score) == ("harness_crashed", 0.0)


@pytest.mark.parametrize("score", [None, 1.0])
def test_a_crash_after_a_fault_is_unsolved_for_every_benchmark(
    context: TrialContext, tmp_path: Path, score: float | None
) -> None:
    class Lenient(Shop):
        def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
            return TaskResult("harness_crashed", score)

    lenient = replace(context, benchmark=Lenient())

    outcome = attempt(spec("page,1", BROKEN_ONCE), lenient, tmp_path)

    assert isinstance(outcome, Counted)
    assert (outcome.ending, outcome.score) == ("harness_crashed", 0.0)


@pytest.mark.parametrize("proxied", [True, False])
def test_what_the_agent_left_behind_is_redacted_before_it_is_read(
    context: TrialContext, tmp_path: Path, proxied: bool
) -> None:
    class Quoting(Shop):
        records: ClassVar = ("agent.log", "none.json", "**/*.jsonl")

        def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
            return TaskResult("answered", 1.0, (job.folder / "agent.log").read_text())

    known = {"OPENAI_API_KEY": "hush-hush", "OTHER": "Bearer a1b2c3d4e5f6"}
    telling = replace(
        context, benchmark=Quoting(), base_environment={**os.environ, **known, "PLAIN": "hush"}
    )

    outcome = attempt(spec("page,tell" if proxied else "tell", proxied=proxied), telling, tmp_path)

    assert isinstance(outcome, Counted)
    log = (tmp_path / "attempt-1" / "agent.log").read_text()
    assert outcome.answer == log
    environment = json.loads(log.splitlines()[-1])
    assert [environment[name] for name in ("OPENAI_API_KEY", "OTHER", "PLAIN")] == [
        "[redacted]",
        "Bearer [redacted]",
        "hush",
    ]
    if proxied:
        # It is still being written then.
        assert any(read_trace(tmp_path / "attempt-1" / EVENTS).events(TrialEnded))


@pytest.mark.parametrize("proxied", [True, False])
@pytest.mark.parametrize("void", [True, False])
def test_what_a_judge_leaves_behind_is_redacted(
    context: TrialContext, tmp_path: Path, proxied: bool, void: bool
) -> None:
    class Judging(Shop):
        artifacts: ClassVar = ("judge.txt",)

        def score_after_trial(
            self, job: Job, result: TaskResult, trace: Trace | None
        ) -> TaskResult:
            (job.folder / "judge.txt").write_text("asked with hush-hush")
            if void:
                raise TrialVoid("the judge gave no verdict")
            return result

    known = {**os.environ, "OPENAI_API_KEY": "hush-hush"}
    judging = replace(context, benchmark=Judging(), base_environment=known)

    outcome = attempt(spec("page" if proxied else "0", proxied=proxied), judging, tmp_path)

    assert isinstance(outcome, Void) is void
    assert (tmp_path / "attempt-1" / "judge.txt").read_text() == "asked with [redacted]"


def test_what_the_proxy_learned_is_in_no_file_and_no_outcome(
    context: TrialContext, tmp_path: Path
) -> None:
    class Quoting(Shop):
        artifacts: ClassVar = ("judge.txt",)

        def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
            text = (job.folder / "agent.log").read_text()
            (job.folder / "judge.txt").write_text(text)
            return TaskResult("answered", 1.0, text)

    outcome = attempt(spec("page,login"), replace(context, benchmark=Quoting()), tmp_path)

    text = "page\nlogin\nthe site let me in with [redacted]\n"
    assert isinstance(outcome, Counted)
    assert outcome.answer == text
    retained = {path.name: path.read_text() for path in (tmp_path / "attempt-1").glob("*.*")}
    assert retained["agent.log"] == retained["judge.txt"] == text
    assert not [name for name, text in retained.items() if "Kettle" in text]


def test_what_the_proxy_learned_is_in_no_file_of_a_void_trial(
    context: TrialContext, tmp_path: Path
) -> None:
    class Unread(Shop):
        def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
            raise TrialVoid((job.folder / "agent.log").read_text())

    outcome = attempt(spec("page,login"), replace(context, benchmark=Unread()), tmp_path)

    assert void_reason(outcome) == "page\nlogin\nthe site let me in with [redacted]\n"
    assert "Kettle" not in (tmp_path / "attempt-1" / "agent.log").read_text()


def test_a_password_field_is_recognised_by_its_type(context: TrialContext, tmp_path: Path) -> None:
    class Coy(Shop):
        page: ClassVar = b"<form><input name=u1><input type=password name=f2></form>"

    outcome = attempt(spec("page,enter"), replace(context, benchmark=Coy()), tmp_path)

    assert isinstance(outcome, Counted)
    assert "was [redacted]" in (tmp_path / "attempt-1" / "agent.log").read_text()


def test_equal_values_have_equal_hashes_in_the_trials_of_one_run_only(
    context: TrialContext, tmp_path: Path
) -> None:
    def cart(name: str, key: str, scenario: Scenario | None = None) -> str:
        keyed = replace(context, redaction_key=key)
        run_trial(spec("page,cart", scenario), 1, tmp_path / name, keyed)
        requests = read_trace(tmp_path / name / EVENTS).events(RequestSeen)
        return next(request.url for request in requests if "/cart" in request.url)

    clean = cart("clean", "01" * 32)

    assert "[redacted:26:" in clean
    assert cart("hit", "01" * 32, BROKEN_ONCE) == clean
    assert cart("other run", "02" * 32) != clean


def test_a_model_endpoint_that_cannot_be_used_is_void_with_its_own_words(
    context: TrialContext, tmp_path: Path
) -> None:
    reason = void_reason(attempt(spec("page,4", BROKEN_ONCE), context, tmp_path))

    assert reason == "its model answered 401: no key"


def test_a_model_that_a_fault_made_unusable_counts_as_nothing_done(
    context: TrialContext, tmp_path: Path
) -> None:
    rule = {"name": "r", "trigger": {"first": 1}, "fault": {"kind": "llm_empty"}}
    failing = Scenario.model_validate({"name": "mute", "rules": [rule]})

    outcome = attempt(spec("page,model,4", failing), context, tmp_path)

    assert isinstance(outcome, Counted)
    assert (outcome.ending, outcome.score) == ("model_error", 0.0)
    assert outcome.reasons == ("its model answered 401: no key",)


def test_a_trial_that_was_not_judged_is_unscored(context: TrialContext, tmp_path: Path) -> None:
    class Unjudged(Shop):
        def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
            return TaskResult("answered", None)

    outcome = attempt(spec("page"), replace(context, benchmark=Unjudged()), tmp_path)

    assert isinstance(outcome, Unscored)
    assert outcome.ending == "answered"


def test_a_time_limit_counts_with_the_checks_score(context: TrialContext, tmp_path: Path) -> None:
    outcome = attempt(spec("page,sleep"), replace(context, timeout_s=2), tmp_path)

    assert isinstance(outcome, Counted)
    assert (outcome.ending, outcome.score) == ("time_limit", 0.5)
    assert outcome.latency_s == pytest.approx(2, abs=1)


def test_a_trial_that_is_stopped_has_no_outcome(context: TrialContext, tmp_path: Path) -> None:
    timer = threading.Timer(0.5, context.stop.set)
    timer.start()

    with pytest.raises(TrialInterrupted):
        run_trial(spec("page,sleep"), 1, tmp_path / "attempt-1", context)

    timer.join()
    assert read_outcome(tmp_path / "attempt-1") is None


def breaking(how: Callable[[Proxy], None]) -> Callable[..., AbstractContextManager[Sandbox]]:
    """Return a way behind a proxy to which something happens after a while."""

    @contextmanager
    def place(*args: Any, **kwargs: Any) -> Iterator[Sandbox]:
        with open_sandbox(*args, **kwargs) as sandbox:
            timer = threading.Timer(1, how, (sandbox.proxy,))
            timer.start()
            yield sandbox
            timer.join()

    return place


def test_a_proxy_that_dies_voids_the_trial(
    context: TrialContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        trials, "open_sandbox", breaking(lambda proxy: os.kill(proxy.pid, signal.SIGKILL))
    )

    # Were it not at once, the time limit would be met.
    outcome = attempt(spec("page,sleep"), replace(context, timeout_s=600), tmp_path)

    assert void_reason(outcome) == "the proxy died before the trial's end"


def test_an_error_of_the_proxy_is_the_reason_of_the_void(
    context: TrialContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broke(proxy: Proxy) -> None:
        proxy.void = TrialVoid("KeyError: 'x'")

    monkeypatch.setattr(trials, "open_sandbox", breaking(broke))

    assert void_reason(attempt(spec("page,0"), context, tmp_path)) == "KeyError: 'x'"


@pytest.mark.parametrize(
    "method",
    [
        "start_environment",
        pytest.param("read", marks=pytest.mark.slow),
        pytest.param("score_after_trial", marks=pytest.mark.slow),
    ],
)
def test_an_installed_adapter_that_fails_voids_the_trial_and_is_named(
    context: TrialContext, tmp_path: Path, method: str
) -> None:
    entry = "other = other_shop:OtherShop"
    module = f"""from tests.trials.shop import Shop

class OtherShop(Shop):
    def {method}(self, *_, **__):
        raise ValueError("no such shop")
"""
    (folder := tmp_path / "installed").mkdir()
    with installed(folder, "warex.benchmarks", entry, other_shop=module):
        other = import_module("other_shop").OtherShop()
        outcome = attempt(spec("page"), replace(context, benchmark=other), tmp_path)

    assert void_reason(outcome) == (
        "the package warex-other 1.0 failed in other_shop.py, line 5 (ValueError: no such shop);"
        " fix, update or uninstall the package"
    )


def test_a_failure_of_warex_in_a_trial_is_raised(context: TrialContext, tmp_path: Path) -> None:
    class Defect(Shop):
        @contextmanager
        def _served(self) -> Iterator[TaskEnvironment]:
            raise ValueError("not a plug-in's")
            yield

    with pytest.raises(ValueError, match="not a plug-in's"):
        run_trial(spec("page"), 1, tmp_path / "attempt-1", replace(context, benchmark=Defect()))


def test_a_world_that_does_not_come_up_voids_the_trial(
    context: TrialContext, tmp_path: Path
) -> None:
    class Closed(Shop):
        @contextmanager
        def _served(self) -> Iterator[TaskEnvironment]:
            raise TrialVoid("the shop is closed")
            yield

    outcome = attempt(spec("page"), replace(context, benchmark=Closed()), tmp_path)

    assert void_reason(outcome) == "the shop is closed"


def test_an_attempt_needs_a_folder_of_its_own(context: TrialContext, tmp_path: Path) -> None:
    (tmp_path / "attempt-1").mkdir()
    (tmp_path / "attempt-1" / "events.jsonl").write_text("{}\n")

    with pytest.raises(InputError, match="holds an attempt already"):
        run_trial(spec("page"), 1, tmp_path / "attempt-1", context)

    assert (tmp_path / "attempt-1" / "events.jsonl").read_text() == "{}\n"


def test_without_a_proxy_the_benchmark_is_as_it_is(context: TrialContext, tmp_path: Path) -> None:
    theirs = replace(context, base_environment=dict(os.environ) | {"HTTPS_PROXY": "http://x:1"})

    outcome = attempt(spec("model,tell", proxied=False), theirs, tmp_path)

    assert isinstance(outcome, Counted)
    folder = tmp_path / "attempt-1"
    assert not (folder / "events.jsonl").exists()
    environment = json.loads((folder / "agent.log").read_text().splitlines()[-1])
    assert not [name for name in environment if name.lower() in ("http_proxy", "https_proxy")]


def test_without_a_proxy_no_fault_can_be_to_blame_for_a_crash(
    context: TrialContext, tmp_path: Path
) -> None:
    assert "crashed" in void_reason(attempt(spec("1", proxied=False), context, tmp_path))


def test_a_folder_that_cannot_be_made_is_a_sentence(context: TrialContext, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(MachineError, match="cannot be written"):
        run_trial(spec("page"), 1, tmp_path / "file" / "attempt-1", context)


@pytest.mark.parametrize("isolation", ["namespace", "environment"])
def test_a_killed_namespace_or_reaper_voids_the_trial(
    context: TrialContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: Isolation
) -> None:
    kind = {"namespace": b"warex.sandbox.namespace.setup", "environment": b"import reaper"}[
        isolation
    ]

    def kill(proxy: Proxy) -> None:
        for entry in Path("/proc/self/task").glob("*/children"):
            for pid in entry.read_text().split():
                if kind in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(int(pid), signal.SIGKILL)

    monkeypatch.setattr(trials, "open_sandbox", breaking(kill))

    outcome = attempt(
        spec("page,sleep"), replace(context, timeout_s=600, isolation=isolation), tmp_path
    )

    assert isinstance(outcome, Void)
    assert outcome.died
    assert isolation in outcome.reason or "reaper" in outcome.reason
