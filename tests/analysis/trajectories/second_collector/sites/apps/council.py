"""A town council, by htmx: boosted links, rows on scroll, a poll, forms, errors as toasts."""

from tests.analysis.trajectories.second_collector.sites import Answer, Asked, World
from tests.analysis.trajectories.second_collector.sites.apps.libraries import library, script

HOST = "council.test"
BASE = f"https://{HOST}"

_PERMITS = {
    "k101": ("Kiosk at the quay", "Ms Orban", "granted"),
    "k102": ("Street concert", "Mr Feld", "refused"),
    "k103": ("Skip on Mill Lane", "Ms Tanaka", "granted"),
    "k104": ("Cafe tables", "Mr Okoro", "pending"),
    "k105": ("Film crew", "Ms Lind", "granted"),
}
_TOASTS = """
const toast = t => document.getElementById('toast').textContent = t;
document.addEventListener('htmx:responseError', e => toast('The council\\'s server reported '
  + e.detail.xhr.status + '.'));
document.addEventListener('htmx:sendError', () => toast('No connection to the council.'));
document.addEventListener('htmx:afterOnLoad', e => { if (e.detail.successful) toast('') });
"""


def _rows(first: int) -> str:
    names = list(_PERMITS)[first : first + 2]
    rows = "".join(
        f"<tr><td><a id={n} href=/permits/{n}>{n}</a><td>{_PERMITS[n][0]}" for n in names
    )
    rest = first + 2
    if rest < len(_PERMITS):
        rows += (
            f"<tr id=further><td colspan=2><button id=more hx-get=/rows?from={rest}"
            " hx-target=#further hx-select=unset hx-swap=outerHTML>More permits</button>"
        )
    return rows


def _main(asked: Asked, world: World) -> str | None:
    path = asked.path
    name = path.removeprefix("/permits/")
    if name in _PERMITS:
        title, _, state = _PERMITS[name]
        return (
            f"<h2>{title}</h2><p>Decision: {state}.</p>"
            f"<div hx-get=/clerk/{name} hx-trigger=load hx-target=this hx-select=unset>"
            f"Looking up the clerk</div><button id=file hx-get=/file/{name} hx-target=#annex"
            " hx-select=unset>Show the file</button><div id=annex></div>"
        )
    match path:
        case "/":
            return "<h2>Town council</h2><p>Choose a service.</p>"
        case "/permits":
            return f"<h2>Permits</h2><table>{_rows(0)}</table>"
        case "/report":
            return (
                "<h2>Report a fault</h2><form id=form hx-post=/report hx-target=#main"
                " hx-select=unset><input id=place name=place placeholder=Place>"
                "<button id=send>Send</button></form>"
            )
        case "/reports":
            return f"<h2>Reports</h2><p>Reports received: {len(world.comments)}.</p>"
        case "/queue":
            return (
                "<h2>Queue</h2><p>Now serving: <b hx-get=/now hx-target=this hx-select=unset"
                " hx-trigger='load, every 1500ms'>...</b>"
            )
    return None


def page(asked: Asked, world: World) -> Answer | None:
    """Answer for the council."""
    path = asked.path
    name = path.rsplit("/", 1)[1]
    if path == "/toasts.js":
        return script(_TOASTS)
    if path.startswith("/lib/"):
        return library(path)
    if path == "/rows":
        return Answer(_rows(int(asked.query["from"])))
    if path == "/now":
        return Answer(f"ticket {30 + world.count('now')}")
    if path.startswith("/clerk/") and name in _PERMITS:
        return Answer(f"Clerk in charge: {_PERMITS[name][1]}")
    if path.startswith("/file/") and name in _PERMITS:
        return Answer(f"File number T-{name[1:]}-88")
    if path == "/report" and asked.method == "POST":
        world.comments.append(asked.form.get("place", ""))
        number = len(world.comments)
        return Answer(f"<h2>Thank you</h2><p>Your report has the number R{500 + number}.</p>")
    main = _main(asked, world)
    if main is None:
        return None
    return Answer(
        "<!doctype html><title>Council</title><link rel=icon href=data:,>"
        "<script src=/lib/htmx.js></script><script src=/toasts.js></script>"
        "<body hx-boost=true hx-target=#main hx-select='#main > *' hx-swap=innerHTML>"
        "<nav><a id=home href=/>Home</a> <a id=permits href=/permits>Permits</a>"
        " <a id=report href=/report>Report</a> <a id=reports href=/reports>Reports</a>"
        " <a id=queue href=/queue>Queue</a></nav><p id=toast></p>"
        f"<main id=main>{main}</main>"
    )
