import json
from pathlib import Path

import pytest

from tests.cli.conftest import Warex
from warex.scenarios.presets import preset_names


@pytest.fixture
def har(tmp_path: Path) -> Path:
    """A recording of two documents."""
    headers = [{"name": "Sec-Fetch-Dest", "value": "document"}]
    entries = [
        {
            "startedDateTime": f"2026-01-01T00:00:0{second}.000Z",
            "time": 5,
            "request": {"method": "GET", "url": f"https://a.b/{second}", "headers": headers},
            "response": {"status": 200, "headers": [], "content": {"mimeType": "text/html"}},
        }
        for second in range(2)
    ]
    path = tmp_path / "site.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))
    return path


def test_every_preset_is_listed(warex: Warex) -> None:
    rows = json.loads(warex("scenarios", "--json").out)

    assert [row["name"] for row in rows] == list(preset_names())
    assert all(row["description"] for row in rows)


def test_a_recording_is_told_what_would_have_been_hit(warex: Warex, har: Path) -> None:
    line = ("scenarios", "check", "paper/server-error", "--against", har)
    said, (row,) = warex(*line).out, json.loads(warex(*line, "--json").out)

    assert "server-error #1  GET https://a.b/0  [document]" in said
    assert (row["rule"], row["ordinal"], row["url"]) == ("server-error", 1, "https://a.b/0")


def test_a_recording_of_another_site_is_told_that_nothing_was_hit(warex: Warex, har: Path) -> None:
    line = ("scenarios", "check", "paper/server-error", "--against", har)
    said = warex(*line, "--site", "https://other.example").out

    assert said == f"paper/server-error would have hit nothing in {har}\n"
