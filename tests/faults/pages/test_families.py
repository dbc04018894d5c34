import re
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import pytest

from warex.exchange import Request
from warex.faults.pages import (
    PAGE_STYLES,
    Incident,
    Page,
    PageStyle,
    render,
    style_names,
)
from warex.faults.pages.reasons import reason
from warex.seeds import KeyedRng

DOCS = (Path(__file__).parents[3] / "docs/reference/faults.md").read_text()
STATUSES = range(400, 600)
each_family = pytest.mark.parametrize("family", PAGE_STYLES, ids=lambda family: family.name)


def incident(status: int = 503, seed: int = 1, path: str = "/cart") -> Incident:
    return Incident(status, "shop.test", path, KeyedRng(seed, "rule"))


class Reader(HTMLParser):
    """What a person reads on a page, and its title."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.open: list[str] = []
        self.title = ""
        self.visible = ""
        if page.content_type.startswith("text/html"):
            self.feed(page.body.decode())
        else:
            self.visible = page.body.decode()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "title" in self.open:
            self.title += data
        elif not {"style", "script"} & set(self.open):
            self.visible += data


def test_there_are_enough_families_that_nobody_learns_one() -> None:
    assert len(style_names("server")) >= 12
    assert len(style_names("browser")) >= 4
    assert len({family.name for family in PAGE_STYLES}) == len(PAGE_STYLES)


@each_family
def test_every_status_has_a_page_with_a_body(family: PageStyle) -> None:
    for status in STATUSES:
        page = family.render(incident(status))

        assert len(page.body) > 60
        assert page.body.decode().strip()


@each_family
def test_an_error_page_visibly_names_the_error(family: PageStyle) -> None:
    for status in STATUSES:
        page = Reader(family.render(incident(status)))
        if family.audience == "browser":
            assert re.search(r"[A-Z]{2,}[_-][A-Z_-]{4,}|NSURLErrorDomain", page.visible)
        else:
            reported = f"{page.title} {page.visible}"
            # Some of the real ones name neither the status nor its phrase.
            assert re.search(rf"{status}|{re.escape(reason(status))}|(?i:error|wrong)", reported)


@each_family
def test_a_page_of_html_has_a_title(family: PageStyle) -> None:
    page = family.render(incident())

    # HAProxy's own pages have none.
    if page.content_type.startswith("text/html") and family.name != "haproxy":
        assert Reader(page).title.strip()


@each_family
def test_what_the_url_says_never_becomes_markup(family: PageStyle) -> None:
    evil = "<script>alert('x')</script>\"&"
    hurt = family.render(Incident(500, evil, "/" + evil, KeyedRng(1, "rule")))

    if hurt.content_type.startswith("text/html"):
        assert b"alert('x')" not in hurt.body
        assert b"<script>" not in hurt.body


@each_family
def test_the_same_luck_gives_the_same_page(family: PageStyle) -> None:
    assert family.render(incident(seed=7)) == family.render(incident(seed=7))


@each_family
def test_other_luck_gives_other_pages(family: PageStyle) -> None:
    pages = [family.render(incident(500, seed)) for seed in range(12)]

    assert len({(page.body, *page.headers.items()) for page in pages}) > 1


def test_no_two_families_share_a_long_line() -> None:
    lines: dict[str, set[str]] = {
        family.name: {
            line.strip()
            for seed in range(6)
            for status in (404, 500)
            for line in family.render(incident(status, seed)).body.decode().splitlines()
            # Shorter ones are the same in several of the real ones.
            if len(line.strip()) > 60
        }
        for family in PAGE_STYLES
        # The two share the frame of the site that they stand for.
        if family.name != "portal"
    }

    for one, other in combinations(lines, 2):
        assert not lines[one] & lines[other], (one, other)


@each_family
def test_headers_are_plain_and_in_lower_case(family: PageStyle) -> None:
    for name, value in family.render(incident()).headers.items():
        assert re.fullmatch(r"[a-z0-9-]+", name)
        assert re.fullmatch(r"[ -~]+", value)


def test_a_url_that_is_not_utf_8_still_has_a_page() -> None:
    request = Request("GET", "https://shop.test/\udcff")

    for family in PAGE_STYLES:
        assert family.render(Incident.of(request, 500, KeyedRng(1, "rule"))).body.decode()


def test_credentials_and_queries_stay_out_of_pages() -> None:
    request = Request("GET", "https://me:pass@shop.test:8443/a?key=secret#x")
    made = Incident.of(request, 500, KeyedRng(1, "rule"))

    assert (made.host, made.path) == ("shop.test:8443", "/a")


def test_every_page_a_host_can_get_is_got_by_some_seed() -> None:
    able = [f for f in PAGE_STYLES if f.audience == "server" and not f.by_name_only]
    got = {render("server", incident(500, seed)).body for seed in range(400)}

    for family in able:
        assert got & {family.render(incident(500, seed)).body for seed in range(400)}


def test_only_gateways_say_502_and_504() -> None:
    for status in (502, 504):
        for seed in range(100):
            at = incident(status, seed)
            page = render("server", at)
            families = [it.name for it in PAGE_STYLES if it.gateway and not it.by_name_only]
            assert page.family in families
            assert page == render("server", at, page.family)


def test_a_family_is_found_by_its_name() -> None:
    for family in PAGE_STYLES:
        page = render(family.audience, incident(), family.name)
        assert page.body == family.render(incident()).body
        assert page.family == page.reply(500).page == family.name


def test_the_docs_name_every_family_and_no_other() -> None:
    for audience in ("server", "browser"):
        (row,) = re.findall(rf"^\| a {audience} \| (.*) \|$", DOCS, re.MULTILINE)

        assert sorted(re.findall(r"`(\w+)`", row)) == sorted(
            family.name for family in PAGE_STYLES if family.audience == audience
        )


@pytest.mark.parametrize("seed", range(20))
def test_a_browsers_error_page_is_consistent(seed: int) -> None:
    page = render("browser", incident(seed=seed), "firefox").body.decode()

    assert ("took too long" in page) == ("NS_ERROR_NET_TIMEOUT" in page)
