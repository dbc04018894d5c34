import urllib.error
import urllib.request
from pathlib import Path

import pytest

from warex.benchmarks.file_server import serve_folder
from warex.errors import TrialVoid

pytestmark = pytest.mark.wire


def test_a_folder_is_served_and_every_request_counts(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>hello")
    with serve_folder(tmp_path) as served:
        address = f"http://127.0.0.1:{served.port}"
        assert served.requests == 0
        with urllib.request.urlopen(f"{address}/page.html") as answer:
            assert answer.read() == b"<p>hello"
            assert answer.headers["Content-Type"] == "text/html"
        with pytest.raises(urllib.error.HTTPError) as missing:
            urllib.request.urlopen(f"{address}/none")
        missing.value.close()
        assert served.requests == 2

    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{address}/page.html")


def test_pages_that_do_not_exist_void_the_trial(tmp_path: Path) -> None:
    with pytest.raises(TrialVoid, match="is not a folder"), serve_folder(tmp_path / "none"):
        pass
