import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from warex.scenarios import Match
from warex.scenarios.matching.url_patterns import (
    any_of,
    glob_regex,
    host_of,
    matcher,
    may_concern_host,
    names_host,
    normalise,
    on_sites,
    site_regex,
)

SITES = ("https://shop.test", "http://127.0.0.1:8001/admin/")

SCHEMES = st.sampled_from(["http", "https"])
HOSTS = st.sampled_from(["shop.test", "a.shop.test", "b", "127.0.0.1", "[::1]", "evil.test"])
PORTS = st.sampled_from(["", ":80", ":443", ":8080"])
PATHS = st.text("/ab?=.*[]&%#:-", max_size=8).map(lambda path: f"/{path}")
URLS = st.builds("{}://{}{}{}".format, SCHEMES, HOSTS, PORTS, PATHS)
STARRED_HOSTS = st.sampled_from(
    ["*", "*.shop.test", "shop.*", "sh*t", "*shop*", "*.*", "shop.test"]
)
GLOBS = st.one_of(
    st.builds(
        "{}://{}{}{}".format,
        st.sampled_from(["*", "http", "http*"]),
        STARRED_HOSTS,
        st.sampled_from(["", ":8080", ":*"]),
        st.one_of(PATHS, st.just("")),
    ),
    st.text("*/ab.:", min_size=1, max_size=6),
)


def fits(pattern: str, url: str, sites: tuple[str, ...] = SITES) -> bool:
    return matcher(Match(url=pattern), sites)(normalise(url))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTPS://Shop.TEST/Cart?Q=A", "https://shop.test/Cart?Q=A"),
        ("https://shop.test:443/", "https://shop.test/"),
        ("http://shop.test:80/", "http://shop.test/"),
        ("http://shop.test:443/", "http://shop.test:443/"),
        ("https://shop.test:8443/", "https://shop.test:8443/"),
        ("https://shop.test:/", "https://shop.test/"),
        ("https://shop.test", "https://shop.test/"),
        ("https://shop.test?Q=A", "https://shop.test/?Q=A"),
        ("https://shop.test/#/cart", "https://shop.test/"),
        ("https://shop.test/a?b#c?d", "https://shop.test/a?b"),
        ("http://[::1]:80/", "http://[::1]/"),
        ("http://[2001:DB8::80]/", "http://[2001:db8::80]/"),
        ("http://[::1]:8080/", "http://[::1]:8080/"),
        ("wss://shop.test:443/live", "https://shop.test/live"),
        ("ws://shop.test/live", "http://shop.test/live"),
        ("https://shop.test/?to=HTTPS://X/", "https://shop.test/?to=HTTPS://X/"),
        ("about:blank#x", "about:blank"),
    ],
)
def test_equal_urls_have_one_form(url: str, expected: str) -> None:
    assert normalise(url) == expected


@settings(deadline=None)
@given(URLS)
def test_a_normal_form_is_its_own(url: str) -> None:
    assert normalise(normalise(url)) == normalise(url)


@settings(deadline=None)
@given(URLS)
def test_a_url_without_stars_is_a_glob_for_itself_alone(url: str) -> None:
    assume("*" not in url)

    assert fits(url, url)
    assert not fits(url, f"{normalise(url)}x")


@settings(deadline=None)
@given(URLS, st.data())
def test_a_star_in_the_path_matches_any_text(url: str, data: st.DataObject) -> None:
    plain = normalise(url).replace("*", "x")
    path_begins = plain.index("/", plain.index("://") + 3) + 1
    start = data.draw(st.integers(path_begins, len(plain)))
    end = data.draw(st.integers(start, len(plain)))

    assert fits(f"{plain[:start]}*{plain[end:]}", plain)


@pytest.mark.parametrize(
    ("pattern", "url", "expected"),
    [
        ("https://shop.test/a?b", "https://shop.test/a?b", True),
        ("https://shop.test/a?b", "https://shop.test/axb", False),
        ("https://shop.test/a?", "https://shop.test/ab", False),
        ("https://shop.test/[ab]", "https://shop.test/[ab]", True),
        ("https://shop.test/[ab]", "https://shop.test/a", False),
        ("https://shop.test/a.b", "https://shop.test/axb", False),
        ("https://shop.test", "https://shop.test/", True),
        ("https://shop.test", "https://shop.test/cart", False),
        ("https://shop.test*", "https://shop.test/cart", True),
        ("https://SHOP.test:443/*", "https://shop.test/cart", True),
        ("https://shop.test/#cart", "https://shop.test/", True),
        ("wss://shop.test/*", "https://shop.test/live", True),
        ("*/cart", "https://shop.test/cart", True),
        ("*", "https://shop.test/line\nbreak", True),
        ("https://*/checkout*", "https://shop.test/en/checkout?a=b", True),
        ("https://*.shop.test/*", "https://www.shop.test/", True),
        ("https://*.shop.test/*", "https://shop.test/", False),
        ("https://*.shop.test/*", "https://www.shop.test:8443/", False),
        ("https://*.shop.test:*/", "https://www.shop.test:8443/", True),
        ("https://*.shop.test/*", "https://evil.test/?to=www.shop.test/", False),
        ("*://shop.test/*", "https://evil.test/?to=http://shop.test/", False),
        ("http*://shop.test/*", "https://shop.test/", True),
    ],
)
def test_only_the_star_is_special_in_a_glob(pattern: str, url: str, expected: bool) -> None:
    assert fits(pattern, url) is expected


@pytest.mark.timeout(10)
def test_a_glob_of_many_stars_takes_no_time() -> None:
    assert not fits("https://shop.test/" + "*a" * 12 + "*b", "https://shop.test/" + "a" * 5000)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    ("match", "url"),
    [
        (Match(url_regex="(a+)+$"), f"https://shop.test/{'a' * 1_000_000}!"),
        (Match(url="{sites}/*z"), f"https://shop.test{'/app' * 250_000}"),
        (Match(url="{sites}*a*b"), f"https://shop.test{'/app' * 250_000}"),
        (Match(url="*" + "/app*" * 100), f"https://shop.test{'/ap' * 300_000}"),
    ],
    ids=["regex", "sites", "sites-rest", "glob"],
)
def test_a_long_url_takes_no_time(match: Match, url: str) -> None:
    matches = matcher(match, ("https://shop.test/*/app", "https://shop.test/*p*/app"))

    assert not matches(url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://shop.test/a/app/cart", True),
        ("https://shop.test/a/app/b/app/cart", True),
        ("https://shop.test/a/app?x/cart", False),
        ("https://shop.test/a/apple/cart", False),
        ("https://shop.test/a/cart", False),
    ],
)
def test_a_site_with_a_star_in_its_path_is_followed_by_the_rest(url: str, expected: bool) -> None:
    assert matcher(Match(url="{sites}/cart"), ("https://shop.test/*/app",))(url) is expected


@pytest.mark.parametrize(
    ("pattern", "url", "expected"),
    [
        ("{sites}", "https://shop.test/", True),
        ("{sites}", "https://shop.test/cart?a=b", True),
        ("{sites}/*", "https://shop.test/cart", True),
        ("{sites}*", "https://shop.test/cart", True),
        ("{sites}*", "https://shop.test.evil.test/", False),
        ("{sites}", "https://shop.test.evil.test/", False),
        ("{sites}", "https://shop.test:8443/", False),
        ("{sites}", "http://shop.test/", False),
        ("{sites}/", "https://shop.test/", True),
        ("{sites}/", "https://shop.test/cart", False),
        ("{sites}/checkout/*", "https://shop.test/checkout/pay", True),
        ("{sites}/checkout/*", "https://shop.test/cart", False),
        ("{sites}/checkout/*", "http://127.0.0.1:8001/admin/checkout/pay", True),
        ("{sites}/checkout/*", "http://127.0.0.1:8001/checkout/pay", False),
        ("{sites}", "http://127.0.0.1:8001/admin", True),
        ("{sites}", "http://127.0.0.1:8001/administrator", False),
        ("{sites}/?a=b", "https://shop.test/?a=b", True),
        ("{sites}/#/cart", "https://shop.test/", True),
    ],
)
def test_sites_means_the_benchmarks_task_sites(pattern: str, url: str, expected: bool) -> None:
    if url.endswith("/admin"):
        assert fits(pattern, f"{url}?") is fits(pattern, f"{url}/") is expected
    else:
        assert fits(pattern, url) is expected


def test_where_nobody_knows_the_sites_every_origin_is_one() -> None:
    assert fits("{sites}", "https://any.test:8443/cart", ())
    assert fits("{sites}/checkout/*", "http://any.test/checkout/pay", ())
    assert not fits("{sites}/checkout/*", "http://any.test/cart", ())
    assert not fits("{sites}/checkout/*", "http://any.test/x?/checkout/", ())
    assert on_sites(())("https://any.test/")


@pytest.mark.parametrize(
    "site", ["https://Shop.test", "https://shop.test:443/", "https://shop.test/*"]
)
def test_a_site_may_be_written_in_any_form(site: str) -> None:
    assert fits("{sites}/cart", "https://shop.test/cart", (site,))
    assert on_sites((site,))("https://shop.test/")
    assert not on_sites((site,))("https://other.test/")
    assert site_regex(site) == site_regex("https://shop.test")


def test_an_exact_url_is_compared_in_its_normal_form() -> None:
    fits = matcher(Match(url_exact="HTTPS://Shop.test:443?a=*#x"), ())

    assert fits("https://shop.test/?a=*")
    assert not fits("https://shop.test/?a=b")


def test_a_regular_expression_is_searched_anywhere() -> None:
    fits = matcher(Match(url_regex=r"/cart/\d+$"), ())

    assert fits("https://shop.test/cart/12")
    assert not fits("https://shop.test/cart/12/pay")


def test_without_a_pattern_every_url_is_meant() -> None:
    assert matcher(Match(), SITES)("https://any.test/")


def test_no_patterns_match_nothing() -> None:
    assert not any_of(())("https://shop.test/")
    assert any_of(("https://a.test/*", "https://b.test/*"))("https://b.test/x")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://shop.test/", "shop.test"),
        ("https://shop.test:8443/a:1", "shop.test"),
        ("http://[::1]/", "::1"),
        ("http://[::1]:8080/", "::1"),
        ("https://shop.test:*/", "shop.test"),
        ("about:blank", ""),
    ],
)
def test_a_host_is_without_port_and_brackets(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("match", "host", "expected"),
    [
        (Match(url="https://api.openai.com/*"), "api.openai.com", True),
        (Match(url="https://API.openai.com:443/v1/*"), "api.openai.com", True),
        (Match(url="https://api.openai.com*"), "api.openai.com", True),
        (Match(url="http://127.0.0.1:*/v1/*"), "127.0.0.1", True),
        (Match(url="http://[::1]:8080/*"), "::1", True),
        (Match(url_exact="https://api.openai.com/v1/chat"), "api.openai.com", True),
        (Match(url="https://*.openai.com/*"), "api.openai.com", False),
        (Match(url="*openai*"), "api.openai.com", False),
        (Match(url="{sites}/*"), "api.openai.com", False),
        (Match(), "api.openai.com", False),
        (Match(url_regex=r"^https://api\.openai\.com/"), "api.openai.com", True),
        (Match(url_regex=r"\bapi\.openai\.com\b"), "api.openai.com", True),
        (Match(url_regex=r"https://(api.openai.com|llm.test)/"), "llm.test", True),
        (Match(url_regex=r"openai"), "api.openai.com", False),
        (Match(url_regex=r"https://myllm\.test/"), "llm.test", False),
        (Match(), "", False),
        (Match(url_regex="x"), "", False),
    ],
)
def test_a_host_is_named_when_it_is_spelled_out(match: Match, host: str, expected: bool) -> None:
    assert names_host(match, host) is expected


@example("https://shop.test*", "https://shop.test.evil/")
@settings(deadline=None)
@given(GLOBS, URLS)
def test_what_a_glob_fits_is_on_a_host_that_it_may_concern(glob: str, url: str) -> None:
    if fits(glob, url):
        assert may_concern_host(Match(url=glob), host_of(normalise(url)), SITES)


@pytest.mark.parametrize("pattern", ["{sites}", "{sites}/*", "{sites}/cart*"])
def test_sites_concern_their_own_hosts(pattern: str) -> None:
    match = Match(url=pattern)

    assert may_concern_host(match, "shop.test", SITES)
    assert may_concern_host(match, "127.0.0.1", SITES)
    assert not may_concern_host(match, "other.test", SITES)
    assert may_concern_host(match, "other.test", ())


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        (Match(url="https://shop.test/*"), True),
        (Match(url="https://*.test/*"), True),
        (Match(url="https://shop.test:8443/*"), True),
        (Match(url="https://*"), True),
        (Match(url="https://sh*"), True),
        (Match(url="*cart*"), True),
        (Match(url="https://*.shop.test/*"), False),
        (Match(url="https://other.test/*"), False),
        (Match(url="https://ot*"), False),
        (Match(url_exact="https://SHOP.test/a"), True),
        (Match(url_exact="https://other.test/shop.test"), False),
        (Match(url_regex="anything"), True),
        (Match(), True),
    ],
)
def test_a_host_is_ruled_out_before_there_is_a_url(match: Match, expected: bool) -> None:
    assert may_concern_host(match, "shop.test", ()) is expected
    assert may_concern_host(match, "SHOP.test", ()) is expected


def test_an_ipv6_host_is_the_same_with_and_without_brackets() -> None:
    for host in ("::1", "[::1]"):
        assert may_concern_host(Match(url="http://[::1]:8080/*"), host, ())
        assert names_host(Match(url="http://[::1]:8080/*"), host)


@settings(deadline=None)
@given(GLOBS)
def test_every_glob_makes_a_regular_expression(glob: str) -> None:
    assert any_of((glob,))("https://shop.test/") == any_of((normalise(glob),))("https://shop.test/")
    assert glob_regex(glob) == glob_regex(normalise(glob))
