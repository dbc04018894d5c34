"""Bodies of pages are recorded if that is asked for: as the client was sent them, and bounded."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from tests.lane.support.played import Client, Trial, answer, trial
from tests.proxy.support.lanes import scenario
from warex.engine.http.heads import RequestHead, ResponseHead
from warex.errors import TraceError
from warex.faults.server.http_error import HttpError
from warex.faults.transport.truncated_body import TruncatedBody
from warex.lane.record import recorded_bodies
from warex.lane.record.recorded_bodies import LARGEST, RecordedBodies
from warex.traces import RequestSeen, ResponseSeen
from warex.traces.blobs import BlobStore
from warex.traces.redaction.redactor import Redactor

HTML = "text/html"
PAGE = b"<!doctype html><html><head></head><body><p>Hello</p></body></html>"


def records(began: Trial, folder: Path) -> BlobStore:
    """Have a trial record bodies; return where."""
    blobs = BlobStore(folder)
    began.recorder.bodies = RecordedBodies(blobs, began.recorder.redactor)
    return blobs


def site(head: RequestHead, body: bytes) -> tuple[ResponseHead, bytes]:
    return answer(PAGE)


def compressed(head: RequestHead, body: bytes) -> tuple[ResponseHead, bytes]:
    return answer(gzip.compress(PAGE), content_encoding="gzip")


def test_a_form_and_its_answer_are_recorded(tmp_path: Path) -> None:
    form: dict[str, Any] = {"content_type": "application/x-www-form-urlencoded"}
    with trial() as began:
        blobs = records(began, tmp_path)
        began.ask(compressed, method="POST", body=b"qty=1&password=Otter%214711", **form)

    assert blobs.get(began.the(RequestSeen).body_blob) == b"qty=1&password=[redacted]"
    assert blobs.get(began.the(ResponseSeen).body_blob) == PAGE
    assert began.the(ResponseSeen).size == len(gzip.compress(PAGE))


def test_without_the_option_no_body_is_recorded() -> None:
    with trial() as began:
        began.ask(site, method="POST", body=b"a=1")

    assert (began.the(RequestSeen).body_blob, began.the(ResponseSeen).body_blob) == ("", "")


def test_what_the_client_was_sent_in_the_sites_place_is_recorded(tmp_path: Path) -> None:
    with trial(scenario=scenario(HttpError())) as began:
        blobs = records(began, tmp_path)
        got = began.ask(site)

    assert got.body
    assert blobs.get(began.the(ResponseSeen).body_blob) == got.body != PAGE


def test_the_sent_part_of_a_cut_body_is_recorded(tmp_path: Path) -> None:
    with trial(scenario=scenario(TruncatedBody(share=0.5))) as began:
        blobs = records(began, tmp_path)
        got = began.ask(site, sec_fetch_dest="document", sec_fetch_mode="navigate")

    assert 0 < len(got.body) < len(PAGE)
    assert blobs.get(began.the(ResponseSeen).body_blob) == got.body


def test_calls_of_a_model_are_not_recorded_twice(tmp_path: Path) -> None:
    with trial() as began:
        records(began, tmp_path)
        began.ask(
            lambda head, body: answer(b"{}", kind="application/json"),
            "https://model.test/v1/chat/completions",
            method="POST",
            body=b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}',
            content_type="application/json",
        )

    assert (began.the(RequestSeen).body_blob, began.the(ResponseSeen).body_blob) == ("", "")
    assert not list(tmp_path.iterdir())


def test_a_body_that_is_too_large_passes_unrecorded(tmp_path: Path) -> None:
    large = b"x" * (LARGEST + 1)
    bomb = gzip.compress(large)
    with trial() as began:
        records(began, tmp_path)
        client = Client()
        began.ask(lambda head, body: answer(large), client=client)
        began.ask(lambda head, body: answer(bomb, content_encoding="gzip"))

    assert client.body == large
    assert [event.body_blob for event in began.all(ResponseSeen)] == ["", ""]


def test_all_bodies_of_a_trial_take_bounded_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded_bodies, "MOST", 10)
    bodies = RecordedBodies(BlobStore(tmp_path), Redactor())

    assert [bool(bodies.keep(b"1234", HTML, "")) for _ in range(4)] == [True, True, False, False]


def test_a_body_with_a_secret_that_showed_later_is_removed(tmp_path: Path) -> None:
    blobs, redactor = BlobStore(tmp_path), Redactor()
    bodies = RecordedBodies(blobs, redactor)
    secret, plain = (bodies.keep(text, HTML, "") for text in (b"<p>Otter!4711</p>", b"<p>a</p>"))

    redactor.learned.add(b"Otter!4711", True)
    bodies.close()

    assert blobs.get(plain) == b"<p>a</p>"
    with pytest.raises(TraceError, match="cannot be read"):
        blobs.get(secret)
