import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.analysis.builders import SHOP, Story
from tests.exports.run_formats.har_schema import HAR
from tests.exports.runs import several_sites
from warex.analysis.trial.record import read_attempt
from warex.exports.interchange.selection import SelectedTrial, select_trials
from warex.exports.run_formats.har import har, write_har
from warex.traces.blobs import BlobStore
from warex.traces.event_parts import Timings
from warex.traces.events import RequestSeen, ResponseSeen
from warex.traces.paths import TrialKey
from warex.traces.reader import read_trace

KEY = TrialKey("testbed", "a", "c", "t")


def archived(story: Story, folder: Path) -> dict[str, Any]:
    """Return the archive of a story, which the schema of HAR 1.2 accepts."""
    trace = read_trace(story.write(folder / "events.jsonl"), lean=True)
    archive = har(trace, KEY, BlobStore(folder / "blobs"))
    read: dict[str, Any] = json.loads(json.dumps(archive))
    jsonschema.validate(read, HAR, format_checker=jsonschema.FormatChecker())
    log: dict[str, Any] = read["log"]
    return log


def exchange(
    url: str,
    sent: list[tuple[str, str]],
    received: list[tuple[str, str]],
    timings: Timings,
    status: int = 302,
) -> Story:
    return (
        Story()
        .add(
            RequestSeen(
                exchange="x1",
                method="POST",
                url=url,
                resource="document",
                http_version="HTTP/2",
                connection="c1",
                headers=sent,
                size=12,
            )
        )
        .add(
            ResponseSeen(
                exchange="x1",
                status=status,
                resource="document",
                by="site",
                http_version="HTTP/1.1",
                headers=received,
                size=7,
                timings=timings,
            )
        )
    )


def test_an_exchange_has_all_that_a_trace_knows_of_it(tmp_path: Path) -> None:
    sent = [("Referer", SHOP), ("Cookie", "a=1")]
    received = [("Content-Type", "text/html; charset=utf-8"), ("Location", "/next")]
    timings = Timings(connect=0.01, tls=0.02, wait=0.1, receive=0.05, total=0.2)
    story = exchange(f"{SHOP}a?q=x+y&e=#z", sent, received, timings)
    (entry,) = archived(story, tmp_path)["entries"]

    request, response = entry["request"], entry["response"]
    assert request["queryString"] == [{"name": "q", "value": "x y"}, {"name": "e", "value": ""}]
    assert {"name": "Referer", "value": SHOP} in request["headers"]
    assert (request["bodySize"], request.get("postData")) == (12, None)
    assert (response["status"], response["statusText"]) == (302, "Found")
    assert response["redirectURL"] == "/next"
    assert response["content"]["size"] == response["bodySize"] == 7
    assert response["content"]["mimeType"] == "text/html; charset=utf-8"
    assert entry["startedDateTime"].startswith("2023-11-14T")
    assert entry["timings"]["connect"] == 30.0
    assert entry["timings"]["ssl"] == 20.0
    assert entry["time"] == 200.0


def test_a_fault_is_at_its_exchange_or_else_at_the_log(tmp_path: Path) -> None:
    story = Story().fault(1).thinks(1, "reload").page("x2").fails_to_reach(9).stops()
    log = archived(story, tmp_path)

    hit = [fault for entry in log["entries"] for fault in entry["_warex"]["faults"]]
    assert [(fault["kind"], fault["fate"]) for fault in hit] == [("http_error", "delivered")]
    assert [fault["injection"] for fault in log["_warex"]["faults"]] == ["i9"]
    assert log["_warex"]["condition"] == "c"


def test_a_request_without_a_response_has_status_0_and_the_reason(tmp_path: Path) -> None:
    story = Story().asks("x1").gets("x1", None, by="none").asks("x2")
    errors = [
        (entry["response"]["status"], entry["response"]["_error"])
        for entry in archived(story, tmp_path)["entries"]
    ]

    assert errors == [(0, "connection cut"), (0, "the trace ends before the response")]


@pytest.mark.parametrize(
    "received",
    [
        [("Set-Cookie", ""), ("Content-Type", "")],
        [("Location", "http://[::1"), ("Content-Type", "\x1b")],
    ],
)
def test_a_hostile_exchange_is_an_entry(tmp_path: Path, received: list[tuple[str, str]]) -> None:
    story = exchange(
        "http://[bad/?\ud800%ff&&=&a", [("Cookie", ";=;")], received, Timings(total=0.0), 999
    )
    (entry,) = archived(story, tmp_path)["entries"]

    assert entry["response"]["status"] == 999


def test_each_trial_is_a_file_of_its_own(tmp_path: Path) -> None:
    several_sites(tmp_path / "run", ("shop",))
    trials = select_trials([tmp_path / "run"]).trials

    write_har(trials, tmp_path / "out")
    write_har(trials[:1], tmp_path / "one.har")

    files = sorted((tmp_path / "out").rglob("*.har"))
    assert len(files) == len(trials) == 3
    assert (tmp_path / "one.har").read_bytes() in {file.read_bytes() for file in files}
    for file in files:
        jsonschema.validate(json.loads(file.read_bytes()), HAR)


@pytest.mark.slow
@pytest.mark.browser
def test_playwright_answers_from_it(tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    from warex.sandbox.chromium import find_chromium

    story = Story().fault(1, f"{SHOP}down").page("x2", SHOP)
    story.write(tmp_path / "trial" / "events.jsonl")
    trial = SelectedTrial(KEY, tmp_path / "trial", "")
    assert read_attempt(trial.path).entries
    write_har([trial], tmp_path / "trial.har")

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(headless_shell=True), args=["--no-sandbox"]
        )
        context = browser.new_context()
        context.route_from_har(tmp_path / "trial.har", not_found="abort")
        page = context.new_page()
        statuses = [getattr(page.goto(url), "status", None) for url in (SHOP, f"{SHOP}down")]
        browser.close()
    assert statuses == [200, 500]
