"""The calendar's pages and the small API that its scripts call."""

import functools
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import Response

from warex_testbed.sites.calendar import dates
from warex_testbed.sites.calendar.brands import Brand
from warex_testbed.sites.calendar.drafts import (
    TIME_ZONES,
    Problems,
    read_date,
    read_email,
    read_event,
    read_settings,
)
from warex_testbed.sites.calendar.layout import FIRST_HOUR, LAST_HOUR, blocks, share
from warex_testbed.sites.calendar.model import NOW, TODAY, Event
from warex_testbed.sites.calendar.seed import fresh
from warex_testbed.web import (
    application,
    as_json,
    form,
    json_fields,
    page,
    route,
    see_other,
    templates,
)

_HERE = Path(__file__).parent

_SCHEDULE_DAYS = 21


@functools.cache
def _templates(folder: Path) -> Environment:
    return templates(folder, _HERE, today=TODAY, now=NOW, dates=dates)


class CalendarSite:
    """One person's calendar, fresh; requests are answered one at a time."""

    def __init__(self, brand: Brand) -> None:
        self._brand = brand
        self._calendar = fresh(brand)
        routes = (
            route("GET", "/", self._home),
            route("GET", "/month", self._month),
            route("GET", "/week", self._week),
            route("GET", "/day", self._day),
            route("GET", "/schedule", self._schedule),
            route("GET", "/search", self._search),
            route("GET", "/events/new", self._new),
            route("POST", "/events", self._create),
            route("GET", "/events/{id:int}", self._event),
            route("GET", "/events/{id:int}/edit", self._edit),
            route("POST", "/events/{id:int}", self._update),
            route("POST", "/events/{id:int}/rsvp", self._rsvp),
            route("GET", "/settings", self._settings),
            route("POST", "/settings", self._configure),
            route("POST", "/api/events", self._api_create),
            route("DELETE", "/api/events/{id:int}", self._api_delete),
            route("POST", "/api/events/{id:int}/guests", self._api_invite),
            route("POST", "/api/calendars", self._api_calendars),
        )
        self.app = application(routes, self._missing, brand.folder, _HERE)

    def state(self) -> dict[str, Any]:
        """Return `today`, `events`, `settings` and `calendars`."""
        return self._calendar.as_json()

    def _missing(self, request: Request) -> Response:
        return self._page("missing.html", request, status=HTTPStatus.NOT_FOUND)

    def _page(
        self,
        template: str,
        request: Request,
        status: int = HTTPStatus.OK,
        day: date | None = None,
        **values: Any,
    ) -> Response:
        brand, settings = self._brand, self._calendar.settings
        shown = day or TODAY
        html = (
            _templates(brand.folder)
            .get_template(template)
            .render(
                brand=brand,
                w=brand.words,
                plain=self._in(brand.days.plain),
                short=self._in(brand.days.short),
                long=self._in(brand.days.long),
                month_name=self._in(brand.days.month),
                typed=self._typed,
                settings=settings,
                hidden=self._calendar.hidden,
                # By its address, so that a reload says it again.
                done=brand.words["done"].get(request.query_params.get("done", "")),
                day=shown,
                weeks=dates.month_weeks(shown, settings.week_start),
                clock=lambda moment: dates.clock(moment, settings.time_format),
                words=request.query_params.get("q", ""),
                **values,
            )
        )
        return page(html, status)

    def _in(self, pattern: str) -> Callable[[date], str]:
        return functools.partial(self._brand.days.say, pattern)

    def _typed(self, day: date) -> str:
        return day.strftime(self._brand.typed)

    def _wanted_day(self, request: Request) -> date:
        return read_date(request.query_params.get("date", "")) or TODAY

    # Views

    def _home(self, request: Request) -> Response:
        views = {
            "month": self._month,
            "week": self._week,
            "day": self._day,
            "schedule": self._schedule,
        }
        return views[self._calendar.settings.view](request)

    def _month(self, request: Request) -> Response:
        day = self._wanted_day(request)
        weeks = dates.month_weeks(day, self._calendar.settings.week_start)
        if not self._calendar.settings.weekends:
            weeks = [[each for each in week if each.weekday() < 5] for week in weeks]
        return self._page(
            "month.html",
            request,
            day=day,
            view="month",
            heading=self._in(self._brand.days.month)(day),
            before=dates.month_after(day, -1),
            after=dates.month_after(day, 1),
            rows=weeks,
            events=self._by_day(weeks[0][0], weeks[-1][-1]),
        )

    def _week(self, request: Request) -> Response:
        day = self._wanted_day(request)
        days = dates.week_days(day, self._calendar.settings.week_start)
        if not self._calendar.settings.weekends:
            days = [each for each in days if each.weekday() < 5]
        return self._hours(
            request, "week", day, days, timedelta(7), self._in(self._brand.days.month)(day)
        )

    def _day(self, request: Request) -> Response:
        day = self._wanted_day(request)
        return self._hours(
            request, "day", day, [day], timedelta(1), self._in(self._brand.days.long)(day)
        )

    def _hours(
        self,
        request: Request,
        view: str,
        day: date,
        days: list[date],
        step: timedelta,
        heading: str,
    ) -> Response:
        events = self._by_day(days[0], days[-1])
        return self._page(
            "hours.html",
            request,
            day=day,
            view=view,
            heading=heading,
            before=day - step,
            after=day + step,
            days=days,
            events=events,
            blocks={each: blocks(events.get(each, [])) for each in days},
            hours=range(FIRST_HOUR, LAST_HOUR),
            now_line=share(NOW),
        )

    def _schedule(self, request: Request) -> Response:
        words = self._brand.words
        day = self._wanted_day(request)
        last = day + timedelta(_SCHEDULE_DAYS - 1)
        return self._page(
            "list.html",
            request,
            day=day,
            view="schedule",
            heading=words["schedule"].format(day=self._in(self._brand.days.long)(day)),
            before=day - timedelta(_SCHEDULE_DAYS),
            after=day + timedelta(_SCHEDULE_DAYS),
            events=self._by_day(day, last),
            empty=words["empty"],
        )

    def _search(self, request: Request) -> Response:
        query = request.query_params
        words, calendar = query.get("q", ""), query.get("calendar", "")
        results = self._calendar.search(words, calendar) if words.strip() else []
        say = self._brand.words["search"]
        count = {0: say["none"], 1: say["one"]}.get(
            len(results), say["many"].format(count=len(results))
        )
        return self._page(
            "search.html",
            request,
            view="search",
            heading=say["heading"].format(words=words) if words.strip() else say["button"],
            chosen=calendar,
            count=count,
            events=_grouped(results),
            empty=say["empty"],
        )

    def _by_day(self, first: date, last: date) -> dict[date, list[Event]]:
        return _grouped(self._calendar.between(first, last))

    # Events: pages and forms

    def _event(self, request: Request, number: int) -> Response:
        event = self._calendar.events[number]
        return self._page("event.html", request, day=event.date, view="event", event=event)

    def _new(self, request: Request) -> Response:
        first = next(iter(self._brand.calendars))
        fields = {"date": self._typed(self._wanted_day(request)), "calendar": first}
        return self._form(request, fields)

    def _edit(self, request: Request, number: int) -> Response:
        event = self._calendar.events[number]
        known = event.as_json()
        fields = {key: str(value or "") for key, value in known.items()}
        fields["date"] = self._typed(event.date)
        fields["guests"] = ", ".join(event.guests)
        return self._form(request, fields, event)

    def _form(
        self,
        request: Request,
        fields: Mapping[str, str],
        event: Event | None = None,
        problems: Mapping[str, str] | None = None,
    ) -> Response:
        return self._page(
            "form.html",
            request,
            status=HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
            view="form",
            fields=fields,
            event=event,
            problems=problems or {},
        )

    def _draft(self, fields: Mapping[str, Any]) -> Event:
        return read_event(fields, self._calendar.settings.duration, self._brand)

    def _create(self, request: Request) -> Response:
        fields = form(request)
        try:
            event = self._calendar.add(self._draft(fields))
        except Problems as problems:
            return self._form(request, fields, problems=problems.sentences)
        return see_other(f"/events/{event.id}?done=created")

    def _update(self, request: Request, number: int) -> Response:
        event, fields = self._calendar.events[number], form(request)
        try:
            draft = self._draft(fields)
        except Problems as problems:
            return self._form(request, fields, event, problems.sentences)
        self._calendar.change(
            number,
            title=draft.title,
            date=draft.date,
            start=draft.start,
            end=draft.end,
            calendar=draft.calendar,
            location=draft.location,
            notes=draft.notes,
            guests=draft.guests,
        )
        return see_other(f"/events/{number}?done=updated")

    def _rsvp(self, request: Request, number: int) -> Response:
        answer = form(request).get("answer", "")
        if answer not in ("yes", "no", "maybe"):
            return see_other(f"/events/{number}")
        self._calendar.change(number, rsvp=answer)
        return see_other(f"/events/{number}?done=answered")

    # Settings

    def _settings(self, request: Request) -> Response:
        return self._page("settings.html", request, view="settings", time_zones=TIME_ZONES)

    def _configure(self, request: Request) -> Response:
        self._calendar.settings = read_settings(form(request), self._brand.settings)
        return see_other("/settings?done=settings")

    # What the scripts call; the reply's `location` is where the browser goes next

    def _api_create(self, request: Request) -> Response:
        try:
            draft = self._draft(json_fields(request))
        except Problems as problems:
            return as_json({"error": str(problems)}, HTTPStatus.UNPROCESSABLE_ENTITY)
        event = self._calendar.add(draft)
        return as_json({"location": _month_of(event, "created")}, HTTPStatus.CREATED)

    def _api_delete(self, request: Request, number: int) -> Response:
        event = self._calendar.remove(number)
        return as_json({"location": _month_of(event, "deleted")})

    def _api_invite(self, request: Request, number: int) -> Response:
        event = self._calendar.events[number]
        guest = read_email(str(json_fields(request).get("email", "")))
        if guest is None:
            sentence = self._brand.words["problems"]["guest"]
            return as_json({"error": sentence}, HTTPStatus.UNPROCESSABLE_ENTITY)
        self._calendar.change(number, guests=tuple(dict.fromkeys((*event.guests, guest))))
        return as_json({"location": f"/events/{number}?done=invited"})

    def _api_calendars(self, request: Request) -> Response:
        known, fields = self._brand.calendars, json_fields(request)
        name, visible = fields.get("name"), fields.get("visible")
        if not isinstance(name, str) or name not in known or not isinstance(visible, bool):
            sentence = f"Send a calendar's name ({', '.join(known)}) and whether it is visible."
            return as_json({"error": sentence}, HTTPStatus.UNPROCESSABLE_ENTITY)
        (self._calendar.hidden.discard if visible else self._calendar.hidden.add)(name)
        return as_json({"done": "calendars"})


def _grouped(events: list[Event]) -> dict[date, list[Event]]:
    days: dict[date, list[Event]] = {}
    for event in events:
        days.setdefault(event.date, []).append(event)
    return days


def _month_of(event: Event, done: str) -> str:
    return "/month?" + urlencode({"date": event.date.isoformat(), "done": done})
