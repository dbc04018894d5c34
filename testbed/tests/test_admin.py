import json

from warex_testbed.admin import Admin
from warex_testbed.sites import Sites
from warex_testbed.web import Request

HOST = "calendar.warex.test"


def test_reset_brings_the_first_state_back() -> None:
    sites = Sites()
    admin = Admin(sites, lambda: None)
    before = admin(Request("GET", "/state")).body
    sites.handle(Request("DELETE", "/api/events/1", host=HOST))
    assert admin(Request("GET", "/state")).body != before
    assert json.loads(admin(Request("POST", "/reset")).body) == {"ok": True}
    assert admin(Request("GET", "/state")).body == before


def test_health_tells_how_often_the_sites_were_asked_since_the_last_reset() -> None:
    sites = Sites()
    admin = Admin(sites, lambda: None)
    assert json.loads(admin(Request("GET", "/health")).body) == {"ok": True, "requests": 0}
    sites.handle(Request("GET", "/", host=HOST))
    sites.handle(Request("GET", "/nothing", host="127.0.0.1"))
    admin(Request("GET", "/state"))
    assert json.loads(admin(Request("GET", "/health")).body) == {"ok": True, "requests": 2}
    admin(Request("POST", "/reset"))
    assert json.loads(admin(Request("GET", "/health")).body) == {"ok": True, "requests": 0}


def test_the_state_of_one_host_is_told_alone_and_an_unknown_one_refused() -> None:
    admin = Admin(Sites(), lambda: None)
    state = json.loads(admin(Request("GET", "/state", {"host": HOST})).body)
    assert list(state) == [HOST]
    assert state[HOST] == json.loads(admin(Request("GET", "/state")).body)[HOST]
    assert admin(Request("GET", "/state", {"host": "elsewhere.test"})).status == 404


def test_it_answers_health_and_refuses_what_it_does_not_know() -> None:
    admin = Admin(Sites(), lambda: None)
    assert admin(Request("GET", "/health")).status == 200
    assert admin(Request("GET", "/nothing")).status == 404
    assert admin(Request("GET", "/reset")).status == 405


def test_a_page_is_refused_wherever_its_browser_thinks_it_is() -> None:
    sites = Sites()
    admin = Admin(sites, lambda: None)
    sites.handle(Request("DELETE", "/api/events/1", host=HOST))
    changed = admin(Request("GET", "/state")).body
    for host, origin in (("127.0.0.1", "https://evil.test"), ("", "null"), ("evil.test", "")):
        assert admin(Request("POST", "/reset", host=host, origin=origin)).status == 403
        assert admin(Request("GET", "/state", host=host, origin=origin)).status == 403
    assert admin(Request("GET", "/state", host="localhost")).body == changed
