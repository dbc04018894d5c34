import pytest

from warex.llm.recognition.browser_origin import is_browser_request, is_site_request
from warex.llm.recognition.hosts import host_matches

PAGE = {"origin": "https://chat.example", "sec-fetch-dest": "empty", "sec-fetch-mode": "cors"}


@pytest.mark.parametrize(
    "headers",
    [
        PAGE,
        {"origin": "http://localhost:3000"},
        {"origin": "null", "sec-fetch-dest": "empty"},
        {"sec-fetch-dest": "empty"},
    ],
    ids=["a page", "one over plain HTTP", "a sandboxed frame", "without an origin"],
)
def test_a_page_of_the_web_is_known_by_its_origin(headers: dict[str, str]) -> None:
    assert is_browser_request(headers)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"sec-fetch-mode": "cors"},
        {"referer": "https://agent.example"},
        {"origin": "chrome-extension://abcdef", "sec-fetch-dest": "empty"},
        {"origin": "moz-extension://abcdef", "sec-fetch-dest": "empty"},
        {"origin": "file://", "sec-fetch-dest": "empty"},
        {"origin": "null"},
    ],
    ids=["Python", "Node", "a gateway's client", "Chromium's", "Firefox's", "Electron", "null"],
)
def test_a_program_or_an_extension_is_not_a_page(headers: dict[str, str]) -> None:
    assert not is_browser_request(headers)


@pytest.mark.parametrize(
    ("host", "llm_hosts", "of_site"),
    [
        ("chat.example", (), True),
        ("localhost", (), True),
        ("api.openai.com", (), False),
        ("chat.example", ("chat.example",), False),
        ("api.chat.example", ("*.chat.example",), False),
    ],
)
def test_what_a_page_asks_is_its_sites_unless_a_models_host_is_asked(
    host: str, llm_hosts: tuple[str, ...], of_site: bool
) -> None:
    assert is_site_request(host, PAGE, llm_hosts) is of_site
    assert not is_site_request(host, {}, llm_hosts)


@pytest.mark.parametrize(
    ("pattern", "host", "fits"),
    [
        ("a.example", "a.example", True),
        ("A.example", "a.example", True),
        ("*.example", "a.example", True),
        ("*.example", "example", False),
        ("a.example", "b.a.example", False),
    ],
)
def test_a_host_matches_itself_or_a_parent_domain(pattern: str, host: str, fits: bool) -> None:
    assert host_matches(pattern, host) is fits
