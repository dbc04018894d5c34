import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from tests.analysis.builders import RunFolder, Story, solved
from tests.exports.conftest import Program
from tests.exports.runs import recovering, several_sites
from warex.exports.interchange.samples import evaluations, read_sample
from warex.exports.interchange.selection import select_trials
from warex.exports.run_formats.inspect import eval_log
from warex.traces.blobs import BlobStore
from warex.traces.outcome import Void

PNG = b"\x89PNG\r\n\x1a\n"


def logs(run: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the logs of a run by agent and condition."""
    return {
        (each.agent, each.condition): eval_log(each, [read_sample(trial) for trial in each.trials])
        for each in evaluations(select_trials([run]).trials)
    }


def test_a_log_is_an_agent_under_a_condition_and_a_trial_its_sample(tmp_path: Path) -> None:
    several_sites(tmp_path / "run")
    results = logs(tmp_path / "run")

    assert [*results] == [
        ("giveup", "server-error"),
        ("patient", "clean"),
        ("patient", "server-error"),
    ]
    log = results["patient", "server-error"]
    assert [sample["id"] for sample in log["samples"]] == ["forum-task", "mail-task", "shop-task"]
    assert [score["metrics"]["mean"]["value"] for score in log["results"]["scores"]] == [1.0, 1.0]
    shop = log["samples"][2]
    assert [message["role"] for message in shop["messages"]] == [
        *("system", "user", "assistant", "user", "assistant", "user", "assistant")
    ]
    (fault,) = shop["metadata"]["faults"]
    assert (fault["kind"], fault["fate"], fault["verdict"]) == (
        *("http_error", "delivered", "recovered"),
    )
    sources = [event.get("source") for event in shop["events"] if event["event"] == "info"]
    assert sources == ["warex fault_planned", "warex fault_delivered"]
    assert not log["eval"]["viewer"]["trust_content"]


def test_a_void_trial_is_an_error_and_has_no_score(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").manifest()
    folder.trial("clean", "a", Void(reason="no browser"), recovering())
    folder.trial("clean", "b", solved(), Story())
    (log,) = logs(tmp_path / "run").values()

    void, silent = log["samples"]
    assert void["error"]["message"] == "void: no browser"
    assert void["scores"] is None
    assert silent["input"] == "b"
    assert silent["scores"]["score"]["value"] == 1.0
    assert log["results"]["scores"][0]["scored_samples"] == 1


def test_screenshots_are_in_the_messages_and_a_missing_one_is_named(tmp_path: Path) -> None:
    existing, removed = (BlobStore(tmp_path / name).put(PNG + name.encode()) for name in ("a", "b"))
    content: list[JsonValue] = [
        {"type": "image_url", "image_url": {"url": f"blob:{ref}"}} for ref in (existing, removed)
    ]
    folder = RunFolder(tmp_path / "run").manifest()
    folder.trial(
        "clean",
        "a",
        solved(),
        Story().thinks(1, "click", messages=[{"role": "user", "content": content}]).stops(),
    )
    (trial,) = select_trials([tmp_path / "run"]).trials
    BlobStore(trial.path / "blobs").put(PNG + b"a")
    (log,) = logs(tmp_path / "run").values()

    shown, missing = log["samples"][0]["messages"][0]["content"]
    assert shown["image"].startswith("data:image/png;base64,iVBOR")
    assert missing == {"type": "text", "text": f"[image {removed}]"}


READ = """
import json, sys
from pathlib import Path
from inspect_ai.log import bundle_log_dir, read_eval_log
from warex.cli import main

run, out, bundle = map(Path, sys.argv[1:])
try:
    main(["export", str(run), "--to", "inspect", "--out", str(out)])
except SystemExit as ended:
    assert not ended.code
runs = {}
for path in sorted(out.rglob("*.eval")):
    log = read_eval_log(str(path))
    runs[f"{log.eval.solver} {log.eval.task_args['condition']}"] = {
        "status": log.status,
        "samples": {
            sample.id: {
                "scores": {name: score.value for name, score in (sample.scores or {}).items()},
                "messages": [[message.role, message.text] for message in sample.messages],
                "faults": [fault["verdict"] for fault in sample.metadata["faults"]],
                "events": [event.event for event in sample.events],
                "error": sample.error and sample.error.message,
            }
            for sample in log.samples
        },
    }
bundle_log_dir(str(out), str(bundle))
print(json.dumps(runs))
"""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.mark.slow
@pytest.mark.browser
def test_inspect_reads_the_logs_and_shows_them(
    python_with: Callable[[str], Program], tmp_path: Path
) -> None:
    from playwright.sync_api import expect, sync_playwright

    from warex.sandbox.chromium import find_chromium

    several_sites(tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    hostile: JsonValue = [
        {"role": "user", "content": "<img src=x onerror=document.title='hit'> \ud800"}
    ]
    folder.trial(
        "server-error", "void", Void(reason="no browser"), Story().thinks(1, None, messages=hostile)
    )
    (tmp_path / "read.py").write_text(READ)
    python, out, bundle = python_with("inspect"), tmp_path / "out", tmp_path / "bundle"

    document = json.loads(
        python(tmp_path / "read.py", tmp_path / "run", out, bundle).splitlines()[-1]
    )

    assert {name: log["status"] for name, log in document.items()} == dict.fromkeys(
        ("giveup server-error", "patient clean", "patient server-error"), "success"
    )
    samples = document["patient server-error"]["samples"]
    assert samples["shop-task"]["scores"] == {"score": 1.0, "recovered": True}
    assert samples["shop-task"]["faults"] == ["recovered"]
    assert samples["shop-task"]["messages"][0] == ["system", "You are a web agent."]
    assert samples["shop-task"]["events"].count("model") == 3
    assert samples["void"]["error"] == "void: no browser"

    with served(bundle) as origin, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(headless_shell=True), args=["--no-sandbox"]
        )
        page = browser.new_page()
        place = f"{origin}/#/logs/trials/testbed/patient/server-error.eval"
        page.goto(place)
        expect(page.get_by_text("shop-task").first).to_be_visible(timeout=60_000)
        page.get_by_text("shop-task").first.click()
        expect(page.get_by_text("reload()").first).to_be_visible(timeout=60_000)
        expect(page.get_by_text("warex fault_delivered").first).to_be_visible()
        page.goto(f"{place}/samples/sample/void/1/messages")
        expect(page.get_by_text("onerror=document.title").first).to_be_visible(timeout=60_000)
        expect(page).not_to_have_title("hit")
        browser.close()
