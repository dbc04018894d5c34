"""One trial behind the proxy and one without, end to end: a real agent in a real Chromium."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from warex.benchmarks import AgentSpec, benchmark_kind
from warex.proxy.certificates.ca import ensure_ca
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.isolation import Isolation
from warex.scenarios.load import load_preset
from warex.traces import (
    AgentAction,
    Canary,
    Counted,
    FaultDelivered,
    LlmCall,
    RequestSeen,
    TrialKey,
    read_trace,
)
from warex.trials import TrialContext, TrialSpec, run_trial
from warex.trials.scripted_model import ScriptedModelProcess
from warex_testbed.tasks import FILES

pytestmark = pytest.mark.browser

TASK = "calendar-friday-evening"


@pytest.fixture(scope="module")
def context(chromium: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrialContext]:
    forkserver = Forkserver()
    with ScriptedModelProcess(FILES) as model:
        yield TrialContext(
            benchmark=benchmark_kind("testbed")(),
            forkserver=forkserver,
            ca=ensure_ca(tmp_path_factory.mktemp("authority") / "ca"),
            chromium=chromium,
            timeout_s=90,
            model=model,
        )
    forkserver.close()


@pytest.mark.parametrize(
    "isolation", ["namespace", pytest.param("environment", marks=pytest.mark.slow)]
)
def test_an_agent_behind_the_proxy_meets_a_recorded_fault(
    context: TrialContext, isolation: Isolation, tmp_path: Path
) -> None:
    context = replace(context, isolation=isolation)
    spec = TrialSpec(
        TrialKey("testbed", "patient", "server-error", TASK),
        AgentSpec("patient", "scripted:patient"),
        seed=5,
        scenario=load_preset("paper/server-error"),
    )

    outcome = run_trial(spec, 1, tmp_path / "attempt-1", context)

    assert isinstance(outcome, Counted)
    assert (outcome.ending, outcome.score) == ("answered", 1.0), outcome.reasons
    trace = read_trace(tmp_path / "attempt-1" / "events.jsonl")
    assert all(canary.passed for canary in trace.events(Canary))
    (delivered,) = trace.events(FaultDelivered)
    documents = [
        seen for seen in trace.events(RequestSeen) if seen.url == "https://calendar.warex.test/"
    ]
    assert documents[0].exchange == delivered.exchange
    assert len(documents) == 2
    assert [action.name for action in trace.events(AgentAction)] == ["reload", "send_msg_to_user"]
    assert all(call.input_tokens and call.output_tokens for call in trace.events(LlmCall))


@pytest.mark.slow
def test_an_agent_without_a_proxy_does_its_task_on_a_tls_site(
    context: TrialContext, tmp_path: Path
) -> None:
    spec = TrialSpec(
        TrialKey("testbed", "giveup", "no-proxy", TASK),
        AgentSpec("giveup", "scripted:giveup"),
        seed=5,
        proxied=False,
    )

    outcome = run_trial(spec, 1, tmp_path / "attempt-1", context)

    assert isinstance(outcome, Counted)
    assert (outcome.ending, outcome.score) == ("answered", 1.0), outcome.reasons
    assert not (tmp_path / "attempt-1" / "events.jsonl").exists()
