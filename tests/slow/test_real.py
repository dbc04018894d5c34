"""REAL's harness and demo agent, unmodified, behind the proxy with a real Chromium.

Its sites cannot be reached from a test, so a stand-in is mapped in the place of one: it keeps its
state in the browser, as they do, and tells it under ``/finish`` for REAL's own jmespath checks.
"""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.slow.harness import Played, made, own_authority, play, site
from warex.agents.scripted_model.wire import usage
from warex.traces import (
    AgentAction,
    Armed,
    Disarmed,
    FaultDelivered,
    FaultMissed,
    FaultPlanned,
    LlmCall,
    RequestSeen,
)

pytestmark = pytest.mark.slow

TASK = "v1.gomail-2"
"""Mark the first mail as read; solved if ``differences.emails.updated[0].isRead`` is true."""

ORIGIN = "https://evals-gomail.vercel.app"

MAIL = {
    "/": """<!doctype html><title>Mail</title><h1>Inbox</h1>
<p id="said">One mail is unread.</p>
<button onclick="
  fetch('/api/mails/1/read', {method: 'POST'}).then(answer => {
    if (answer.ok) localStorage.setItem('read', 'yes');
    said.textContent = answer.ok ? 'All mails are read.' : 'Not saved: status ' + answer.status;
  })">Mark as read</button>""",
    "/api/mails/1/read": "{}",
    "/config": "<!doctype html><pre>ready</pre><script>localStorage.clear()</script>",
    "/finish": """<!doctype html><pre id="state"></pre><script>
  const updated = localStorage.getItem('read') ? [{id: 1, isRead: true}] : [];
  state.textContent = JSON.stringify({differences: {emails: {updated}}});
</script>""",
}

MARK_AS_READ = {
    "rules": [
        {"last": "All mails are read", "say": 'It is.\n```send_msg_to_user("It is read.")```'},
        {
            "last": r"\[(?P<bid>\w+)\] button 'Mark as read'",
            "say": 'I mark it.\n```click("$bid")```',
        },
        {"say": 'There is no mail.\n```send_msg_to_user("The page is broken.")```'},
    ]
}

NOT_SAVED = {
    "name": "not-saved",
    "arm": "first_llm_call",
    "rules": [
        {
            "name": "saving",
            "match": {"url": "{sites}", "method": ["POST"]},
            "trigger": {"first": 1},
            "fault": {"kind": "http_error", "status": 500},
        }
    ],
}

ALWAYS_DOWN = {
    "name": "always-down",
    "rules": [
        {
            "name": "down",
            "match": {"url": "{sites}", "resource": ["document"]},
            "trigger": {"always": True},
            "fault": {"kind": "http_error", "body": "<h1>Down for today</h1>"},
        }
    ],
}

CONDITIONS = ("clean", "saving", "down")


@pytest.fixture(scope="module")
def real(environments: Path, tmp_path_factory: pytest.TempPathFactory) -> Played:
    own_authority(environments)
    with site(MAIL) as port:
        fields = {
            "name": "real",
            "benchmark": {
                "name": "real",
                "dir": str(made("real", environments)),
                "sites": {"gomail": f"http://127.0.0.1:{port}"},
            },
            "tasks": {"names": [TASK]},
            "timeout_s": 180,
            "agents": [{"name": "demo", "model": "playbook:playbook.yaml", "max_steps": 6}],
            "conditions": [
                {"name": "clean"},
                {"name": "saving", "scenario": "saving.yaml"},
                {"name": "down", "scenario": "down.yaml"},
            ],
        }
        folder = tmp_path_factory.mktemp("real")
        return play(folder, fields, playbook=MARK_AS_READ, saving=NOT_SAVED, down=ALWAYS_DOWN)


def summary(real: Played, condition: str) -> dict[str, Any]:
    (path,) = real.folder(condition).glob("results/*/summary_info.json")
    document: dict[str, Any] = json.loads(path.read_bytes())
    return document


def paths(real: Played, condition: str) -> list[str]:
    requests = real.trace(condition).events(RequestSeen)
    seen = [urlsplit(event.url) for event in requests if event.url.startswith(ORIGIN)]
    return [url.path for url in seen if url.path != "/favicon.ico"]


def test_success_is_by_reals_own_checks(real: Played) -> None:
    assert {name: trial.solved for name, trial in real.trials.items()} == {
        "clean": True,
        "saving": True,
        "down": False,
    }
    for condition in CONDITIONS:
        assert summary(real, condition)["success"] is real.trials[condition].solved


def test_a_server_error_after_the_first_call_shows_in_the_next_observation(real: Played) -> None:
    trace = real.trace("saving")
    (planned,) = trace.events(FaultPlanned)
    (delivered,) = trace.events(FaultDelivered)
    calls = list(trace.events(LlmCall))

    assert delivered.injection == planned.injection
    assert planned.url == f"{ORIGIN}/api/mails/1/read"
    order = [entry.event.event for entry in trace.of(FaultPlanned, LlmCall)]
    assert order == ["llm_call", "fault_planned", "llm_call", "llm_call"]
    assert "Not saved: status 500" not in json.dumps(calls[0].messages)
    assert "Not saved: status 500" in json.dumps(calls[1].messages)


def test_set_up_and_judging_go_by_untouched(real: Played) -> None:
    trace = real.trace("down")
    (armed,) = trace.events(Armed)
    (planned,) = trace.events(FaultPlanned)
    never = [missed.count for missed in trace.events(FaultMissed) if missed.reason == "never"]

    assert paths(real, "down") == ["/config", "/finish", "/", "/finish"]
    assert (armed.by, planned.url) == ("first_page", f"{ORIGIN}/")
    assert sum(never) >= 3
    assert summary(real, "down")["err_msg"] is None
    assert summary(real, "down")["finish_state"]["env_state"] == {
        "differences": {"emails": {"updated": []}}
    }


@pytest.mark.parametrize("condition", CONDITIONS)
def test_what_the_harness_logged_and_what_was_seen_agree(real: Played, condition: str) -> None:
    answer, trace = summary(real, condition), real.trace(condition)
    (log,) = real.folder(condition).glob("results/*/experiment.log")
    calls = list(trace.events(LlmCall))
    configured = next(e.url for e in trace.events(RequestSeen) if "/config?" in e.url)
    seen = [action.name for action in trace.events(AgentAction)]

    assert parse_qs(urlsplit(configured).query)["task_id"] == [answer["task_name"]] == [TASK]
    assert answer["n_steps"] == len(calls) == len({call.step for call in calls})
    assert log.read_text().count("HTTP Request: POST https://api.openai.com/v1") == len(calls)
    assert re.findall(r"^```(\w+)\(", log.read_text(), re.MULTILINE) == seen
    assert len(trace.events(Disarmed)) == 1
    assert paths(real, condition)[-1] == "/finish"


@pytest.mark.parametrize("condition", CONDITIONS)
def test_every_call_to_its_model_is_recorded_with_its_tokens(real: Played, condition: str) -> None:
    calls = list(real.trace(condition).events(LlmCall))

    assert {call.url for call in calls} == {"https://api.openai.com/v1/chat/completions"}
    for call in calls:
        messages: Any = call.messages
        reported = usage(call.family, messages, call.answer)
        assert (call.usage, call.error) == ("reported", None)
        assert call.input_tokens == reported.input_total
        assert call.output_tokens == reported.output_total
