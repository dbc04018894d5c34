import json
import os
from pathlib import Path

import pytest

from tests.analysis.builders import SHOP, RunFolder, Story, solved
from warex.errors import TraceError
from warex.traces.blobs import BlobStore, reference
from warex.traces.events import RequestSeen
from warex.traces.paths import BLOBS
from warex.view.body_document import LARGEST_BODY, LONGEST_TEXT, as_text
from warex.view.documents import Documents
from warex.view.static_site import write_static_site


def test_json_is_indented_and_its_values_stay_as_they_were_sent() -> None:
    shown = as_text(b'{"b":1.10,"a":[1e400,"\xc3\xa9\\u00e9"],"a":{}}', "text/plain")

    assert shown["form"] == "JSON"
    assert shown["text"].split() == [
        *("{", '"b":', "1.10,", '"a":', "[", "1e400,", '"é\\u00e9"', "],", '"a":', "{}", "}")
    ]


def test_html_is_indented_as_a_parser_reads_it() -> None:
    shown = as_text(b"<p>Buy<div><b onclick=x()>it</b></div>", "text/html; charset=utf-8")

    assert shown["form"] == "HTML"
    assert '  <p>Buy</p>\n  <div><b onclick="x()">it</b></div>' in shown["text"]


@pytest.mark.parametrize(
    ("data", "kind", "form"),
    [
        (b"\x89PNG\r\n\x1a\nrest", "application/json", "binary"),
        (b"GIF89a", "", "binary"),
        (b"a\0b", "text/plain", "binary"),
        (b"<svg onload=x()/>", "image/svg+xml", "text"),
        (b"name=a&other=b", "application/x-www-form-urlencoded", "text"),
        (b'{"cut": ', "application/json", "text"),
        (b'{"a": 1}\n{"a": 2}\n', "application/x-ndjson", "text"),
    ],
)
def test_what_is_neither_json_nor_html_is_shown_as_it_is_or_named(
    data: bytes, kind: str, form: str
) -> None:
    shown = as_text(data, kind)

    assert shown["form"] == form
    assert shown["text"] == ("" if form == "binary" else data.decode())


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 50_000 + b"]" * 50_000,
        b"[" * 500 + b"1," * 200_000,
        b'["' + b'\\"' * 100_000,
        b"<div>" * 500 + b"<p>" * 50_000,
    ],
)
@pytest.mark.timeout(10)
def test_a_deep_body_is_not_indented_beyond_what_is_shown(data: bytes) -> None:
    assert len(as_text(data, "text/html")["text"]) <= LONGEST_TEXT


def test_what_is_not_shown_as_it_was_sent_is_noted() -> None:
    (invalid,) = as_text(b"a\xffb\x1b[31m", "text/plain")["notes"]
    (long,) = as_text(b"a" * (LONGEST_TEXT + 1), "text/plain")["notes"]

    assert invalid == "It is not UTF-8; each byte that cannot be read is shown as �."
    assert long == "Only the first 1,000,000 characters are shown."
    assert as_text(b"a\xffb\x1b[31m", "text/plain")["text"] == "a�b␛[31m"


def with_body(run: Path, ref: str) -> tuple[Documents, str, Path]:
    """Return a run with a request that has a body, the trial's id, and its folder."""
    asked = RequestSeen(
        exchange="x1",
        method="POST",
        url=SHOP,
        resource="xhr",
        http_version="HTTP/2",
        connection="c1",
        size=12,
        body_blob=ref,
    )
    folder = RunFolder(run).manifest().trial("clean", "add", solved(), Story().add(asked).stops())
    documents = Documents([run])
    return documents, str(documents.run(0)["trials"][0]["id"]), folder


def test_a_body_is_read_by_the_line_that_refers_to_it(tmp_path: Path) -> None:
    ref = reference(b'{"a": 1}')
    documents, trial, folder = with_body(tmp_path / "run", ref)
    BlobStore(folder / BLOBS).put(b'{"a": 1}')

    body = documents.body(0, trial, 2)
    write_static_site(documents, tmp_path / "site")

    assert (body["file"], body["size"], body["text"]) == (f"blobs/{ref}", 8, '{\n "a": 1\n}')
    assert json.dumps(body["text"]) in (tmp_path / f"site/data/body-0-{trial}-2.js").read_text()
    with pytest.raises(TraceError, match=r"Line 1 of the trace .* refers to no body"):
        documents.body(0, trial, 1)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("missing", "No such file"),
        ("fifo", "it is a FIFO, not an ordinary file"),
        ("large", "it has more than 4,194,304 bytes"),
        ("changed", "no longer has that hash"),
    ],
)
def test_a_body_that_cannot_be_read_is_reported_in_a_sentence(
    tmp_path: Path, damage: str, sentence: str
) -> None:
    ref = reference(b"body")
    documents, trial, folder = with_body(tmp_path, ref)
    blob = folder / BLOBS / ref
    blob.parent.mkdir(parents=True)
    if damage == "fifo":
        os.mkfifo(blob)
    elif damage != "missing":
        blob.touch()
        os.truncate(blob, LARGEST_BODY + 1 if damage == "large" else 3)

    with pytest.raises(TraceError, match=sentence):
        documents.body(0, trial, 2)
