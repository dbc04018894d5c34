import json

from warex.testbed.admin import Admin
from warex.testbed.sites import Sites
from warex.testbed.web import Request

HOST = "calendar.warex.test"


def test_reset_brings_the_first_state_back() -> None:
    sites = Sites()
    admin = Admin(sites)
    before = admin(Request("GET", "/state")).body
    sites.handle(Request("DELETE", "/api/events/1", host=HOST))
    assert admin(Request("GET", "/state")).body != before
    assert json.loads(admin(Request("POST", "/reset")).body) == {"ok": True}
    assert admin(Request("GET", "/state")).body == before


def test_it_answers_health_and_refuses_what_it_does_not_know() -> None:
    admin = Admin(Sites())
    assert admin(Request("GET", "/health")).status == 200
    assert admin(Request("GET", "/nothing")).status == 404
    assert admin(Request("GET", "/reset")).status == 405
