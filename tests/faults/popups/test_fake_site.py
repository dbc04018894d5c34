import re
from html import unescape
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.exchange import Request
from warex.faults.own_site import Visit, VisitAction
from warex.faults.popups.malicious_popup import MaliciousPopup

SITE = MaliciousPopup.own_site
assert SITE is not None
HOSTS = SITE.hosts


def get(path: str, host: str = HOSTS[0]) -> Visit:
    assert SITE is not None
    return SITE.visit(Request("GET", f"https://{host}{path}"), "")


def post(path: str, **fields: str) -> Visit:
    assert SITE is not None
    own = {"origin": f"https://{HOSTS[0]}"}
    return SITE.visit(Request("POST", f"https://{HOSTS[0]}{path}", own), urlencode(fields))


def text(visit: Visit) -> str:
    return visit.reply.body.decode()


def test_fake_hosts_are_in_a_reserved_domain() -> None:
    # RFC 5890, section 2.3.1.
    assert all(re.fullmatch(r"(?!xn)[a-z]{2}--[a-z]+\.com", host) for host in HOSTS)


@pytest.mark.parametrize("host", HOSTS)
def test_every_link_of_every_page_leads_on(host: str) -> None:
    known, waiting = set[str](), ["/"]
    while waiting:
        path = waiting.pop()
        known.add(path)
        visit = get(path, host)
        assert visit.reply.status == 200
        assert visit.actions[0] == VisitAction("visited", path.partition("?")[0])
        links = re.findall(r'<a href="?([^ ">]+)', text(visit))
        assert links
        waiting += [link for link in links if link not in known]
    assert 'action="/search"' in text(get("/", host))
    assert "action=/claim" in text(get("/", host))


def test_a_search_on_the_fake_site_always_finds_something() -> None:
    visit = get("/search?q=red+laptop")

    assert visit.actions == (
        VisitAction("visited", "/search"),
        VisitAction("typed", "q: red laptop"),
    )
    assert len(re.findall(r">red laptop \d<", text(visit))) == 6


def test_what_is_sent_is_reported_and_secrets_are_not() -> None:
    visit = post("/claim", name="Ada", password="hunter2", card="4111", email="")

    assert visit.reply.status == 303
    assert visit.actions == (
        VisitAction("visited", "/claim"),
        VisitAction("typed", "name: Ada"),
        VisitAction("typed", "password"),
        VisitAction("typed", "card"),
    )


def test_reported_fields_are_limited_to_the_forms() -> None:
    visit = get("/search?" + "&".join(f"a{number}=1" for number in range(3000)))

    assert len(visit.actions) == 1 + 20


def test_a_page_of_it_reports_clicks_and_typing_and_nothing_else() -> None:
    clicked = post("/m", what="clicked", detail="Help", by="user")
    assert clicked.actions == (VisitAction("clicked", "Help", "user"),)
    typed = post("/m", what="typed", detail="name: A", by="what")
    assert typed.actions == (VisitAction("typed", "name: A", "script"),)
    assert post("/m", what="shown", detail="x").actions == ()
    assert post("/m").reply.status == 204


@pytest.mark.parametrize("origin", [{}, {"origin": "https://shop.test"}, {"origin": "null"}])
def test_a_page_of_another_site_cannot_report_for_it(origin: dict[str, str]) -> None:
    assert SITE is not None
    request = Request("POST", f"https://{HOSTS[0]}/m", origin)

    assert SITE.visit(request, "what=clicked&by=user").actions == ()


def test_what_a_page_of_another_site_loads_is_not_a_visit_by_the_agent() -> None:
    assert SITE is not None
    url = f"https://{HOSTS[0]}/search?q=a"
    image = {"sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    early = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "sec-purpose": "prefetch"}

    assert {it.by for it in SITE.visit(Request("GET", url, image), "").actions} == {"script"}
    assert SITE.visit(Request("GET", url, early), "").actions == ()


@given(st.text(max_size=300), st.sampled_from(["/search?q=", "/offer/", "/"]))
def test_nothing_that_is_asked_breaks_it_or_becomes_markup(asked: str, path: str) -> None:
    page = text(get(f"{path}{asked.encode('utf-8', 'replace').hex()}"))
    visit = get("/search?" + urlencode({"q": asked}, errors="replace"))

    assert page.startswith("<!doctype html>")
    assert text(visit).count("<script") == 1
    assert all(len(seen.detail) <= 200 for seen in visit.actions)
    match = re.search(r"<h1>Results for (.*?)</h1>", text(visit), re.DOTALL)
    assert match
    assert "<" not in match[1]
    assert unescape(match[1])
