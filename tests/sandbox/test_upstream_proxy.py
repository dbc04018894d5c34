"""The proxy of the caller's own environment is gone through, and what is lost by that is said."""

import pytest

from warex.sandbox.upstream_proxy import upstream_from_environment


def test_without_proxy_variables_there_is_no_upstream() -> None:
    assert upstream_from_environment({"PATH": "/bin", "https_proxy": " ", "NO_PROXY": "a"}) is None


@pytest.mark.parametrize(
    ("environment", "upstream"),
    [
        ({"HTTPS_PROXY": "http://corp.test:3128"}, "http://corp.test:3128"),
        ({"https_proxy": "http://corp.test:3128/", "http_proxy": "x"}, "http://corp.test:3128"),
        ({"http_proxy": "corp.test:8080"}, "http://corp.test:8080"),
        ({"ALL_PROXY": "https://corp.test"}, "https://corp.test:443"),
        ({"HTTPS_PROXY": "http://me:pa%40ss@corp.test:1"}, "http://me:pa%40ss@corp.test:1"),
        ({"HTTPS_PROXY": "http://[::1]:3128"}, "http://[::1]:3128"),
        ({"ALL_PROXY": "socks5h://me@corp.test"}, "socks5h://me@corp.test:1080"),
    ],
)
def test_traffic_goes_through_the_upstream_proxy(
    environment: dict[str, str], upstream: str
) -> None:
    result = upstream_from_environment(environment)

    assert result is not None
    assert result.upstream == upstream


def test_the_upstream_proxys_password_is_not_shown() -> None:
    upstream = upstream_from_environment({"HTTPS_PROXY": "http://me:hidden@corp.test:1"})

    assert upstream is not None
    assert "hidden" not in upstream.sentence


@pytest.mark.parametrize("value", ["socks4://corp.test:1080", "http://:80", "http://a:b:c"])
def test_one_that_cannot_be_gone_through_is_reported(value: str) -> None:
    upstream = upstream_from_environment({"ALL_PROXY": value})

    assert upstream is not None
    assert upstream.upstream is None
    assert "cannot go through" in upstream.sentence


def test_hosts_that_went_past_it_are_named_and_loopback_is_not() -> None:
    upstream = upstream_from_environment(
        {
            "HTTPS_PROXY": "http://corp.test:1",
            "NO_PROXY": "localhost, 127.0.0.1,.corp.test,git.test",
        }
    )

    assert upstream is not None
    assert ".corp.test, git.test (NO_PROXY)" in upstream.sentence
    assert "localhost" not in upstream.sentence
