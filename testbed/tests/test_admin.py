import json

from tests.visit import visit
from warex_testbed.admin import Admin
from warex_testbed.sites import Sites

HOST = "calendar.warex.test"


def test_reset_brings_the_first_state_back() -> None:
    sites = Sites()
    admin = Admin(sites, lambda: None)
    before = visit(admin, "GET", "/state").body
    visit(sites.visit(), "DELETE", "/api/events/1", host=HOST)
    assert visit(admin, "GET", "/state").body != before
    assert json.loads(visit(admin, "POST", "/reset").body) == {"ok": True}
    assert visit(admin, "GET", "/state").body == before


def test_health_counts_requests_since_the_last_reset() -> None:
    sites = Sites()
    admin = Admin(sites, lambda: None)
    assert json.loads(visit(admin, "GET", "/health").body) == {"ok": True, "requests": 0}
    visit(sites.visit(), "GET", "/", host=HOST)
    visit(sites.visit(), "GET", "/nothing", host="127.0.0.1")
    visit(admin, "GET", "/state")
    assert json.loads(visit(admin, "GET", "/health").body) == {"ok": True, "requests": 2}
    visit(admin, "POST", "/reset")
    assert json.loads(visit(admin, "GET", "/health").body) == {"ok": True, "requests": 0}


def test_the_state_of_one_known_host_can_be_asked_for() -> None:
    admin = Admin(Sites(), lambda: None)
    state = json.loads(visit(admin, "GET", f"/state?host={HOST}").body)
    assert list(state) == [HOST]
    assert state[HOST] == json.loads(visit(admin, "GET", "/state").body)[HOST]
    assert visit(admin, "GET", "/state?host=elsewhere.test").status == 404


def test_admin_answers_health_and_refuses_unknown_paths() -> None:
    admin = Admin(Sites(), lambda: None)
    assert visit(admin, "GET", "/health").status == 200
    assert visit(admin, "GET", "/nothing").status == 404
    assert visit(admin, "GET", "/reset").status == 405


def test_a_page_is_refused_wherever_its_browser_thinks_it_is() -> None:
    sites = Sites()
    admin = Admin(sites, lambda: None)
    visit(sites.visit(), "DELETE", "/api/events/1", host=HOST)
    changed = visit(admin, "GET", "/state").body
    for host, headers in (
        ("127.0.0.1", {"origin": "https://evil.test"}),
        ("127.0.0.1", {"origin": "null"}),
        ("evil.test", {}),
    ):
        assert visit(admin, "POST", "/reset", host=host, headers=headers).status == 403
        assert visit(admin, "GET", "/state", host=host, headers=headers).status == 403
    assert visit(admin, "GET", "/state", host="localhost").body == changed
