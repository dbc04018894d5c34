"""`warex prices`: what models cost, renewed from collections that a server or a file gives."""

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.conftest import Warex
from warex.llm.prices.table import built_in_prices

LISTED = {
    "house-large": {
        "mode": "chat",
        "input_cost_per_token": 2e-06,
        "output_cost_per_token": 8e-06,
        "input_cost_per_token_flex": 1e-06,
        "output_cost_per_token_flex": 4e-06,
    },
    "house-owing": {"mode": "chat", "input_cost_per_token": -1, "output_cost_per_token": 1e-6},
}


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own table, which is not there yet."""
    monkeypatch.delenv("WAREX_PRICES", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "warex" / "prices.json"


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    path = tmp_path / "collection.json"
    path.write_text(json.dumps(LISTED))
    os.utime(path, (1_770_000_000, 1_770_000_000))
    return path


@pytest.fixture
def server() -> Iterator[str]:
    """Serves a collection at any path, but nothing at `/gone`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(LISTED).encode()
            self.send_response(404 if self.path == "/gone" else 200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}"
        served.shutdown()
        thread.join()


def test_a_file_renews_the_prices_and_what_it_lacks_stays(
    warex: Warex, table: Path, collection: Path
) -> None:
    result = warex("prices", "update", collection)

    assert result.code == 0, result.err
    assert f"1 model from {collection}, 2026-02-02" in result.out
    assert (
        "left out: 1 with a price that is negative or cannot be right (house-owing)" in result.out
    )
    assert f"written to {table}" in result.out
    assert table.stat().st_mode & 0o777 == 0o600
    shown = warex("prices", "show", "house-large").out
    assert "usual      input 2, output 8" in shown
    assert "flex       input 1, output 4" in shown
    assert f"prices of 2026-02-02, from {collection}" in shown
    assert json.loads(warex("prices", "show", "gpt-4o", "--json").out)["input"] == 2.5
    assert json.loads(warex("prices", "--json").out)["date"] == "2026-02-02"
    assert str(table) in warex("prices").out


@pytest.mark.wire
def test_an_address_renews_the_prices(warex: Warex, table: Path, server: str) -> None:
    result = warex("prices", "update", f"{server}/prices.json?key=secret", "--date", "2026-02-03")

    assert result.code == 0, result.err
    document = json.loads(table.read_text())
    assert (document["date"], "house-large" in document["models"]) == ("2026-02-03", True)
    assert document["source"].startswith(server)
    assert "secret" not in table.read_text() + result.out


@pytest.mark.wire
def test_nothing_is_lost_where_one_source_cannot_be_used(
    warex: Warex, table: Path, collection: Path, server: str, tmp_path: Path
) -> None:
    warex("prices", "update", collection)
    before = table.read_bytes()
    (tmp_path / "page.html").write_text("<html>")
    (tmp_path / "own.json").write_text('{"a": 1}')

    for source, code, words in (
        (f"{server}/gone", 3, "404"),
        ("http://127.0.0.1:1/x", 3, "refused"),
        (tmp_path / "page.html", 2, "is not JSON"),
        (tmp_path / "own.json", 2, "it has no prices of models"),
        (tmp_path / "missing.json", 2, "No such file"),
        (tmp_path, 2, "Is a directory"),
        ("http://[", 3, "cannot be fetched"),
    ):
        result = warex("prices", "update", collection, source)
        assert (result.code, table.read_bytes()) == (code, before), result
        assert words in result.err


def test_a_table_may_be_written_elsewhere(
    warex: Warex, table: Path, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = table.parent.parent / "mine.json"

    assert warex("prices", "update", collection, "--out", out).code == 0
    assert not table.exists()
    assert warex("prices", "show", "house-large").code == 2
    monkeypatch.setenv("WAREX_PRICES", str(out))
    assert warex("prices", "show", "house-large").code == 0


def test_a_damaged_table_is_replaced(warex: Warex, table: Path, collection: Path) -> None:
    table.parent.mkdir(parents=True)
    table.write_text("{")

    assert warex("prices").code == 2
    assert warex("prices", "update", collection).code == 0
    assert warex("prices").code == 0


def test_an_unknown_model_is_unknown_and_not_free(warex: Warex, table: Path) -> None:
    result = warex("prices", "show", "gpt-4oo")

    assert result.code == 2
    assert "have no 'gpt-4oo'; did you mean 'gpt-4o'? Its cost is unknown" in result.err
    assert str(built_in_prices().date) in result.err
