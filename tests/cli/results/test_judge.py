import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.builders import RunFolder, Story, solved
from warex.analysis.recovery import Claim
from warex.analysis.run.load import load_run
from warex.analysis.trial.claim_judge import labelled_answers
from warex.cli import main
from warex.traces.judged_claim import CLAIM
from warex.traces.outcome import Counted

pytestmark = pytest.mark.wire

UNSOLVED = Counted(ending="answered", score=0, latency_s=2.0)
GREETING = "Hello there, how nice to see you"


def code(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


@contextmanager
def judge(claims: dict[str, str], fails_after: int | None = None) -> Iterator[str]:
    """Serve a model that knows what some answers claim, and says "unclear" of all others."""
    answered: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = self.rfile.read(int(self.headers["content-length"]))
            text = json.loads(question)["messages"][0]["content"].split("\n-----")[1].strip("\n")
            reply = f"I weigh success and failure. {claims.get(text, 'unclear').upper()}"
            body = json.dumps({"choices": [{"message": {"content": reply}}]}).encode()
            answered.append(text)
            refused = fails_after is not None and len(answered) > fails_after
            self.send_response(401 if refused else 200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


def a_run(path: Path) -> RunFolder:
    run = RunFolder(path).manifest()
    run.trial("clean", "greets", UNSOLVED, Story().thinks(1, None, answer=GREETING))
    run.trial("clean", "solves", solved(), Story().thinks(1, None, answer="Ordered."))
    run.trial(
        "clean",
        "flags",
        UNSOLVED,
        Story().thinks(1, None, answer='{"success": false, "text": "Eh"}'),
    )
    return run


def read_claim(path: Path, task: str) -> Claim | None:
    return next(trial.claim for trial in load_run(path).trials if trial.key.task == task)


def test_a_judge_replaces_the_reading_of_words_and_no_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_run(tmp_path / "run")
    assert read_claim(tmp_path / "run", "greets") == "unclear"
    known: dict[str, str] = {answer.text: answer.claim for answer in labelled_answers()}
    known |= {GREETING: "success", '{"success": false, "text": "Eh"}': "success"}

    with judge(known) as url:
        inputs = ("judge", tmp_path / "run", "--model", "wise-1", "--base-url", url)
        assert code(*inputs) == 0
        first = capsys.readouterr().out
        assert code(*inputs) == 0
        again = capsys.readouterr().out

    n = len(labelled_answers())
    assert f"wise-1 agrees with {n} of {n} labels (kappa 1.00)" in first
    assert "WAREX's own reading agrees with" in first
    assert "2 unsolved trials with an answer in words: 2 success" in first
    assert "0 unsolved trials with an answer in words: none left to judge" in again
    assert read_claim(tmp_path / "run", "greets") == "success"
    assert read_claim(tmp_path / "run", "flags") == "failure"
    assert len(list((tmp_path / "run").rglob(CLAIM))) == 2


def test_what_was_judged_before_a_failure_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_run(tmp_path / "run")

    with judge({}, fails_after=len(labelled_answers()) + 1) as url:
        inputs = ("judge", tmp_path / "run", "--model", "m", "--base-url", url, "--jobs", 1)
        assert code(*inputs) == 3

    assert "answered 401" in (errors := capsys.readouterr().err)
    assert "1 trial judged before it: kept." in errors
    assert len(list((tmp_path / "run").rglob(CLAIM))) == 1


def test_a_folder_without_trials_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code("judge", tmp_path, "--model", "m", "--base-url", "http://127.0.0.1:9/v1") == 2
    assert "holds no trials" in capsys.readouterr().err
