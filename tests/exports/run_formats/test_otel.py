import json
import re
from pathlib import Path
from typing import Any

from tests.analysis.builders import Story
from tests.exports.runs import recovering, several_sites
from warex.exports.interchange.selection import select_trials
from warex.exports.run_formats.otel import otlp, write_otel
from warex.traces.paths import TrialKey
from warex.traces.reader import read_trace

KEY = TrialKey("testbed", "patient", "server-error", "t")


def spans_of(story: Story, folder: Path) -> list[dict[str, Any]]:
    entries = read_trace(story.write(folder / "events.jsonl"), lean=True).entries
    data = json.loads(json.dumps(otlp(entries, KEY, "trial")))
    (resource,) = data["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    spans: list[dict[str, Any]] = scope["spans"]
    return spans


def values(of: dict[str, Any]) -> dict[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in of["attributes"]}


def test_a_trial_is_an_agents_span_with_its_calls_below(tmp_path: Path) -> None:
    root, *children = spans_of(recovering(), tmp_path)

    assert root["name"] == "invoke_agent patient"
    assert "parentSpanId" not in root
    assert values(root)["gen_ai.operation.name"] == "invoke_agent"
    chats = [span for span in children if span["name"].startswith("chat ")]
    assert len(chats) == 3
    for span in children:
        assert span["parentSpanId"] == root["spanId"]
        assert span["traceId"] == root["traceId"]
        assert re.fullmatch(r"[0-9a-f]{16}", span["spanId"])
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
    assert values(chats[0])["gen_ai.operation.name"] == "chat"
    assert values(chats[0])["gen_ai.provider.name"] == "openai"
    assert values(chats[0])["gen_ai.usage.input_tokens"].isdigit()
    assert re.fullmatch(r"[0-9a-f]{32}", root["traceId"])


def test_a_delivered_fault_is_an_event_of_the_agents_span(tmp_path: Path) -> None:
    root, *_ = spans_of(recovering(), tmp_path)

    (event,) = root["events"]
    assert event["name"] == "warex.fault.delivered"
    assert values(event)["warex.fault.kind"] == "http_error"


def test_a_trace_without_events_has_no_span(tmp_path: Path) -> None:
    assert spans_of(Story(), tmp_path) == []


def test_a_stamp_that_is_not_a_time_is_second_0(tmp_path: Path) -> None:
    (root, *_) = otlp(Story(t=1e300).page("x1").entries(), KEY, "trial")["resourceSpans"][0][
        "scopeSpans"
    ][0]["spans"]

    assert int(root["startTimeUnixNano"]) < 2**64


def test_each_trial_is_a_line_and_a_trace_of_its_own(tmp_path: Path) -> None:
    several_sites(tmp_path / "run", ("shop",))
    trials = select_trials([tmp_path / "run"]).trials

    write_otel(trials, tmp_path / "out")

    lines = (tmp_path / "out/traces.jsonl").read_text().splitlines()
    ids = {re.findall('"traceId": "([^"]*)"', line)[0] for line in lines}
    assert len(lines) == len(ids) == len(trials) == 3
