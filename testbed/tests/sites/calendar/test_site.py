import json
import re
from typing import Any

import pytest

from tests.visit import call, get, post, visit
from warex_testbed.sites.calendar import CalendarSite, make


@pytest.fixture
def site() -> CalendarSite:
    return make("calendar.warex.test")


def event(site: CalendarSite, number: int) -> dict[str, Any] | None:
    return next((each for each in site.state()["events"] if each["id"] == number), None)


PAGES = [
    "/",
    "/month",
    "/month?date=2026-12-01",
    "/week",
    "/day",
    "/schedule",
    "/search",
    "/search?q=room",
    "/events/new",
    "/events/1",
    "/events/12/edit",
    "/settings",
]


@pytest.mark.parametrize("target", PAGES)
def test_every_page_loads_three_scripts_and_nothing_from_elsewhere(
    site: CalendarSite, target: str
) -> None:
    answer = visit(site.app, "GET", target)
    html = answer.body.decode()
    assert answer.status == 200
    assert not answer.cacheable
    assert html.count("<script ") == html.count("</script>") == 3
    links = re.findall(r'(?:href|src|action)="([^"]*)"', html)
    assert links
    assert all(link.startswith("/") for link in links)


def test_every_static_file_a_page_names_is_there_and_cacheable(site: CalendarSite) -> None:
    for path in set(re.findall(r'"(/static/[^"]*)"', get(site, "/"))):
        answer = visit(site.app, "GET", path)
        assert answer.status == 200, path
        assert answer.cacheable


def test_what_a_person_types_is_shown_as_text(site: CalendarSite) -> None:
    nasty = "<script>alert(1)</script>"
    saved = post(site, "/events", title=nasty, date="2026-06-12", start="09:00", location=nasty)
    for target in ("/month", "/week", "/schedule", saved.location or "", "/search?q=%3Cscript%3E"):
        html = get(site, target)
        assert nasty not in html
        assert "&lt;script&gt;" in html


def test_a_form_saves_and_sends_the_browser_on(site: CalendarSite) -> None:
    answer = post(site, "/events", title="A", date="2026-06-12", start="2:30 pm", guests="B@c.de")
    assert answer.status == 303
    assert answer.location == "/events/49?done=created"
    saved = event(site, 49)
    assert saved is not None
    assert (saved["start"], saved["end"], saved["guests"]) == ("14:30", "15:30", ["b@c.de"])
    assert 'aria-label="Event saved"' in get(site, answer.location)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"title": ""}, "Give the event a title."),
        ({"date": "12 June"}, "Enter a date as YYYY-MM-DD"),
        ({"date": "0001-01-01"}, "Enter a date as YYYY-MM-DD"),
        ({"start": "25:00"}, "Enter a time as HH:MM"),
        ({"end": "08:00"}, "must end after it starts"),
        ({"calendar": "Nobody"}, "Choose one of Work"),
        ({"guests": "maya"}, "Enter e-mail addresses"),
        ({"title": "x" * 121}, "At most 120 characters"),
    ],
)
def test_a_wrong_form_comes_back_with_what_is_wrong(
    site: CalendarSite, fields: dict[str, str], says: str
) -> None:
    form = {"title": "A", "date": "2026-06-12", "start": "09:00", "calendar": "Work"} | fields
    before = site.state()
    answer = post(site, "/events", **form)
    assert answer.status == 422
    # The calendar is a list on the form; only a script can send a wrong one.
    assert says in answer.body.decode() or "calendar" in fields
    api = call(site, "POST", "/api/events", **form)
    assert api.status == 422
    assert says in json.loads(api.body)["error"]
    assert site.state() == before


def test_an_edit_form_shows_and_keeps_every_field(site: CalendarSite) -> None:
    before = event(site, 12)
    assert before is not None
    html = get(site, "/events/12/edit")
    fields = dict(re.findall(r'<input id="(\w+)" name="\w+" value="([^"]*)"', html))
    assert fields["start"] == "09:30"
    post(site, "/events/12", **fields, calendar="Work", notes=before["notes"])
    assert event(site, 12) == before


def test_the_scripts_can_create_delete_and_invite(site: CalendarSite) -> None:
    made = call(site, "POST", "/api/events", title="A", date="2026-06-17", start="10:00")
    assert json.loads(made.body) == {"location": "/month?date=2026-06-17&done=created"}
    call(site, "POST", "/api/events/49/guests", email="Maya@warex.test ")
    call(site, "POST", "/api/events/49/guests", email="maya@warex.test")
    invited = event(site, 49)
    assert invited is not None
    assert invited["guests"] == ["maya@warex.test"]
    assert call(site, "POST", "/api/events/49/guests", email="x").status == 422
    assert call(site, "DELETE", "/api/events/49").status == 200
    assert call(site, "DELETE", "/api/events/49").status == 404
    assert event(site, 49) is None


def test_what_is_gone_is_a_page_of_its_own(site: CalendarSite) -> None:
    for path in ("/events/999", "/events/999/edit", "/nowhere", "/events/" + "9" * 400):
        answer = visit(site.app, "GET", path)
        assert answer.status == 404
        assert b"There is nothing here" in answer.body


def test_an_unknown_answer_to_an_invitation_changes_nothing(site: CalendarSite) -> None:
    before = site.state()
    post(site, "/events/14/rsvp", answer="perhaps")
    assert site.state() == before


def test_hidden_calendars_are_not_shown_but_not_lost(site: CalendarSite) -> None:
    count = len(site.state()["events"])
    assert call(site, "POST", "/api/calendars", name="Work", visible=False).status == 200
    assert "Design review" not in get(site, "/")
    assert len(site.state()["events"]) == count
    call(site, "POST", "/api/calendars", name="Work", visible=True)
    assert "Design review" in get(site, "/")
    assert call(site, "POST", "/api/calendars", name="Work", visible="no").status == 422
    assert call(site, "POST", "/api/calendars", name=["Work"], visible=True).status == 422


def test_settings_change_what_is_shown(site: CalendarSite) -> None:
    post(site, "/settings", week_start="sunday", time_format="12", view="week", duration="30")
    html = get(site, "/")
    assert "Design review, Wednesday 10 June, 9:30 AM" in html
    assert "Saturday 13 June" not in html  # weekends were left unchecked
    assert site.state()["settings"]["duration"] == 30


def test_today_is_always_the_same_day(site: CalendarSite) -> None:
    assert site.state()["today"] == "2026-06-10"
    assert "June 2026" in get(site, "/")
