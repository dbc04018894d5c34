"""How a client names a task, and which clients may."""

from base64 import b64encode

import pytest

from warex.exchange import Request, resource_of
from warex.lane.tasks import may_begin_task, read_marker, task_name, user_name
from warex.seeds import derive_seed

CHROMIUM = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36"


def marker(path: str, method: str = "GET", **headers: str) -> Request:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request(method, f"http://warex.invalid{path}", sent)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize("program", ["curl/8.5.0", "python-requests/2.32.3", "node", ""])
def test_a_program_begins_a_task(method: str, program: str) -> None:
    # Node's fetch sends Sec-Fetch-Mode, and no other header of Fetch Metadata.
    reply = read_marker(
        marker("/task/book%20a%20room", method, user_agent=program, sec_fetch_mode="cors")
    )
    assert (reply.status, reply.begin, reply.ends) == (200, "book a room", False)


def test_a_program_ends_the_task() -> None:
    reply = read_marker(marker("/end"))
    assert (reply.status, reply.begin, reply.ends) == (200, None, True)


@pytest.mark.parametrize(
    "headers",
    [
        {"user_agent": CHROMIUM},
        {"user_agent": "own", "origin": "https://evil.example"},
        {"user_agent": "own", "origin": "null"},
        {"user_agent": "own", "referer": "https://evil.example/"},
        {"user_agent": "own", "sec_fetch_site": "cross-site"},
        {"user_agent": "own", "sec_fetch_site": "none"},
        {"user_agent": "own", "upgrade_insecure_requests": "1"},
    ],
)
@pytest.mark.parametrize("path", ["/task/mine", "/end", "/"])
def test_no_page_moves_the_tasks(path: str, headers: dict[str, str]) -> None:
    reply = read_marker(marker(path, **headers))
    assert (reply.status, reply.begin, reply.ends) == (403, None, False)


def test_a_preflight_is_refused() -> None:
    assert (
        read_marker(marker("/task/x", "OPTIONS", access_control_request_method="GET")).status == 403
    )


@pytest.mark.parametrize(
    ("path", "status"),
    [("/", 404), ("/task", 404), ("/tasks/x", 404), ("/task/", 400), ("/task/%0a%00", 400)],
)
def test_what_is_not_a_marker_says_what_one_is(path: str, status: int) -> None:
    reply = read_marker(marker(path))
    assert (reply.status, reply.begin, reply.ends) == (status, None, False)
    assert "/task/NAME" in reply.text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("one", "one"),
        (" v1.gomail-2 ", "v1.gomail-2"),
        ("Äpfel", "Äpfel"),
        ("x" * 200, "x" * 200),
        ("x" * 201, None),
        ("", None),
        ("  ", None),
        ("a\nb", None),
        ("\udcff", None),
    ],
)
def test_a_name_is_short_and_printable(text: str, name: str | None) -> None:
    assert task_name(text) == name


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("Basic " + b64encode(b"one:").decode(), "one"),
        ("basic " + b64encode(b"two:secret:s").decode(), "two"),
        ("Basic " + b64encode(b"three").decode(), "three"),
        ("Basic " + b64encode(b":secret").decode(), None),
        ("Basic " + b64encode(b"\xff:").decode(), None),
        ("Basic ?", None),
        ("Basic ä", None),
        ("Bearer abc", None),
        ("", None),
        (None, None),
    ],
)
def test_the_user_name_is_the_task_and_the_password_is_ignored(
    header: str | None, name: str | None
) -> None:
    assert user_name(header) == name


@pytest.mark.parametrize(
    ("headers", "opens"),
    [
        ({"user-agent": "python-requests/2"}, True),
        ({"user-agent": CHROMIUM, "sec-fetch-dest": "document", "sec-fetch-site": "none"}, True),
        ({"user-agent": CHROMIUM, "accept": "text/html", "upgrade-insecure-requests": "1"}, True),
        ({"user-agent": CHROMIUM, "sec-fetch-dest": "empty", "origin": "https://a.test"}, False),
        ({"user-agent": CHROMIUM, "accept": "*/*", "referer": "http://a.test/"}, False),
    ],
)
def test_the_script_of_a_page_begins_no_task(headers: dict[str, str], opens: bool) -> None:
    request = Request("GET", "http://a.test/x", headers)
    assert may_begin_task(request, resource_of(request)) is opens


def test_the_seed_of_a_task_is_that_of_its_name() -> None:
    assert derive_seed(1, "one") == derive_seed(1, "one")
    assert len({derive_seed(1, "one"), derive_seed(1, "two"), derive_seed(2, "one")}) == 3
