import pytest

from warex.analysis.recovery.clients import by_program
from warex.traces.events import RequestSeen

_CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36"


@pytest.mark.parametrize(
    ("headers", "url", "program"),
    [
        ({"User-Agent": "python-requests/2.32"}, "https://shop.example/", True),
        # Node's fetch sends Fetch Metadata as well.
        ({"user-agent": "node", "sec-fetch-mode": "cors"}, "https://shop.example/", True),
        ({"user-agent": _CHROME, "sec-fetch-mode": "navigate"}, "https://shop.example/", False),
        ({"user-agent": _CHROME}, "https://shop.example/", True),
        ({"user-agent": _CHROME}, "http://shop.example/", False),
        ({"user-agent": "Mozilla/5.0 (X11) Firefox/140.0"}, "https://shop.example/", False),
        ({}, "https://shop.example/", False),
    ],
)
def test_a_program_is_known_by_its_name_or_by_what_a_browser_would_send(
    headers: dict[str, str], url: str, program: bool
) -> None:
    request = RequestSeen(
        exchange="x1",
        method="GET",
        url=url,
        resource="document",
        http_version="HTTP/1.1",
        connection="c1",
        size=0,
        headers=list(headers.items()),
    )

    assert by_program(request) is program
