# ruff: noqa: E501  (What a model says stays on one line.)
"""Single-page apps: a hash router, fragments swapped in, frames, endless lists, optimistic writes."""

from tests.analysis.trajectories.second_collector.cases import answers, rule
from tests.analysis.trajectories.second_collector.scripts.blind.wording import script
from tests.analysis.trajectories.second_collector.sites.blind import clinic, ferry

_F = ferry.BASE
_C = clinic.BASE
_FERRY = {ferry.HOST: ferry.page}
_CLINIC = {clinic.HOST: clinic.page}

_DEPARTS = script(
    "bs-departs", ("spa",), "webvoyager", _FERRY,
    "From which pier does the Isles line depart?",
    [
        ("North line", ("The lines are listed; I open Isles.", "click", "isles")),
        (r"from pier (\d)", ("The pier is shown.", "end", "It departs from pier %FOUND%.")),
    ],
    ("I can't proceed.", "fail", "The pier cannot be determined because the line's page could not be shown."),
    answers("pier 7"),
    [
        ("a", [rule("http_error", f"{_F}/data/line/isles", status=500)], [("An alert is displayed, and a Retry button.", "click", "retry")], None),
        ("b", [rule("http_error", f"{_F}/data/lines.json", times=2, status=503)], [("The timetable is unavailable. There's a Retry button.", "click", "retry"), ("Again.", "click", "retry")], None),
        ("c", [rule("connection_cut", f"{_F}/data/line/isles")], [("It could not be shown. I return and choose it again.", "back"), ("The list is back.", "click", "isles")], None),
        ("d", [rule("http_error", f"{_F}/data/line/south", times={"always": True}), rule("http_error", f"{_F}/data/clock", times=1)], [], None),
        ("e", [rule("http_error", f"{_F}/data/line/isles", times=2, status=502)], [("Wait for it.", "wait"), ("I go to the lines from the menu.", "click", "lines"), ("Isles.", "click", "isles")], ("Not shown.", "fail", "I could not open the Isles line, so the pier is unknown.")),
    ],
    start=f"{_F}/",
)  # fmt: skip

_BOOK = script(
    "bs-book", ("spa",), "stagehand", _FERRY,
    f"Book a seat on the North line at {_F}/ and tell the ticket's number.",
    [
        ("", ("", "goto", f"{_F}/#/line/north")),
        ("Seats left: 12", ("", "click", "Book a seat")),
        (r"ticket (F\d+)", ("", "end", "A seat is booked, ticket %FOUND%.")),
    ],
    ("", "fail", "The booking did not succeed; the app said that no seat was booked."),
    lambda world, message: len(world.orders) == 1 and "F101" in message,
    [
        ("a", [rule("http_error", f"{_F}/data/bookings", status=500)], [("No seat was booked. Press the button once more.", "click", "Book a seat")], None),
        ("b", [rule("http_error", f"{_F}/data/bookings", stage="response", status=504)], [("It says that no seat was booked. Let me see the tickets first.", "click", "Tickets"), ("", "end", "A seat is booked: the tickets page lists one ticket (F101) for north.")], None),
        ("c", [rule("http_error", f"{_F}/data/bookings", stage="response", status=504)], [("Sorry? I press it again.", "click", "Book a seat")], None),
        ("d", [rule("lost_write", f"{_F}/data/bookings", method=["POST"])], [("There is no number on the ticket. Look at the list.", "click", "Tickets"), ("No ticket. Book again.", "goto", f"{_F}/#/line/north"), ("", "click", "Book a seat")], None),
        ("e", [rule("network_error", f"{_F}/data/bookings", delay=0.5), rule("http_error", f"{_F}/data/line/north")], [("The line cannot be shown. Retry.", "click", "Retry")], ("", "end", "A seat on the North line is booked.")),
    ],
)  # fmt: skip

_SLOT = script(
    "bs-slot", ("spa",), "devtools", _CLINIC,
    f"When is the next free slot of Dr Costa? {_C}/doctors",
    [
        ("", ("", "goto", f"{_C}/doctors")),
        ("Dr Bonnet", ("", "click", "costa")),
        ("Room 7", ("The slot is in a frame.", "js", "() => document.getElementById('slots').contentDocument.body.innerText")),
        (r"free slot: (\w+ \d+:\d+)", ("", "end", "Dr Costa's next free slot is %FOUND%.")),
    ],
    ("", "fail", "I couldn't find out the next slot; the clinic's site showed errors."),
    answers("Monday 16:45"),
    [
        ("a", [rule("http_error", f"{_C}/doctors/costa", status=500)], [("The toast says: the server answered 500. Click it again.", "click", "costa")], None),
        ("b", [rule("http_error", f"{_C}/slots/costa", status=503)], [("The frame has an error. I reload the page.", "reload"), ("The frame's text.", "js", "() => document.getElementById('slots').contentDocument.body.innerText")], None),
        ("c", [rule("http_error", f"{_C}/slots/costa", status=500)], [("Reload only the frame.", "js", "() => { const f = document.getElementById('slots'); f.contentWindow.location.reload(); return 'reloaded' }"), ("Read it.", "js", "() => document.getElementById('slots').contentDocument.body.innerText")], None),
        ("d", [rule("connection_cut", f"{_C}/doctors/costa", times=2)], [("Network problem, says the toast. Open it by its address.", "goto", f"{_C}/doctors/costa"), ("The address fails as well. Again.", "goto", f"{_C}/doctors/costa")], None),
        ("e", [rule("http_error", f"{_C}/slots/costa", status=502)], [], ("", "end", "Dr Costa's next free slot is Monday 15:30.")),
    ],
)  # fmt: skip

SCRIPTS = [_DEPARTS, _BOOK, _SLOT]
