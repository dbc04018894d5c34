"""What is read out of a HAR file, and what is said of a file that is none."""

import json
from pathlib import Path

import pytest

from warex.errors import TraceError
from warex.scenarios.preview.har import read_har


def entry(content: str) -> str:
    return f'{{"log": {{"entries": [{content}]}}}}'


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is not a HAR file: it is not JSON"),
        ("[" * 100_000, "is not a HAR file: it is not JSON"),
        ("\x80", "is not a HAR file: it is not JSON"),
        ("[]", "is not a HAR file: it: "),
        ("{}", "is not a HAR file: log: Field required"),
        ('{"log": {"entries": 3}}', "is not a HAR file: log.entries: "),
        (
            entry('{"startedDateTime": "soon", "request": {"method": "GET", "url": "u"}}'),
            "is not a HAR file: log.entries[0].startedDateTime: Invalid isoformat string: 'soon'",
        ),
        (
            entry('{"startedDateTime": 3, "request": {"method": "GET", "url": "u"}}'),
            "log.entries[0].startedDateTime: a time must be text such as 2026-05-04T12:00:00.000Z",
        ),
        (
            entry('{"startedDateTime": "2026-05-04", "request": {"method": "GET"}}'),
            "log.entries[0].request.url: Field required",
        ),
    ],
)
def test_a_file_that_is_not_a_har_is_reported_with_its_place(
    tmp_path: Path, content: str, sentence: str
) -> None:
    path = tmp_path / "shop.har"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(TraceError) as caught:
        read_har(path)
    assert sentence in str(caught.value)
    assert str(path) in str(caught.value)


def test_exchanges_come_in_order_with_what_the_browser_said_of_them(tmp_path: Path) -> None:
    def row(start: str, url: str, **more: object) -> object:
        headers = [{"name": "Accept", "value": "*/*"}]
        request = {"method": "get", "url": url, "headers": headers}
        return {"startedDateTime": start, "request": request, **more}

    path = tmp_path / "shop.har"
    rows = [
        row("2026-05-04T12:00:01.500Z", "https://shop.example/b", time=-1, _resourceType="fetch"),
        row("2026-05-04T14:00:00+02:00", "https://shop.example/a", response={"status": 204}),
        row("2026-05-04T12:00:00", "blob:https://shop.example/1"),
        row("2026-05-04T12:00:02Z", "https://shop.example/c", response={"status": 0}),
    ]
    path.write_text(json.dumps({"log": {"entries": rows}}))
    first, second, unanswered = read_har(path)
    assert (first.request.url, first.at, first.resource) == ("https://shop.example/a", 0, "")
    assert first.response is not None
    assert first.response.status == 204
    assert (second.request.method, second.at, second.seconds) == ("GET", 1.5, 0)
    assert (second.response, second.resource) == (None, "xhr")
    assert second.request.headers == {"accept": "*/*"}
    assert unanswered.response is None
