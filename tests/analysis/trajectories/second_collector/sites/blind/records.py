"""A shop for records, rendered by its server: search, basket, checkout, pages, a login, a chart."""

from urllib.parse import quote

from tests.analysis.trajectories.second_collector.sites import (
    Answer,
    Asked,
    World,
    as_json,
    redirect,
)

HOST = "records.test"
BASE = f"https://{HOST}"

DISCS = {
    "dusk": ("Dusk Quartet", "DQ-881", "18.50"),
    "lagoon": ("Lagoon Tapes", "LT-204", "22.00"),
    "ember": ("Ember Suite", "ES-517", "31.75"),
    "polar": ("Polar Choir", "PC-099", "14.25"),
    "velvet": ("Velvet Engines", "VE-640", "27.40"),
    "orchard": ("Orchard Radio", "OR-333", "19.90"),
}

_SCRIPT = """
document.documentElement.dataset.ready = '1';
const box = document.getElementById('chart');
if (box) fetch('/chart.json').then(r => { if (!r.ok) throw r.status; return r.json() })
  .then(d => box.textContent = 'Number one: ' + d.first)
  .catch(() => box.innerHTML = 'The chart is missing. <a id=anew href=/chart>Try again</a>');
"""


def _page(title: str, body: str, head: str = "") -> Answer:
    return Answer(
        f"<!doctype html><title>{title}</title><link rel=icon href=data:,>{head}"
        "<link rel=stylesheet href=/site.css><nav><a id=home href=/>Shop</a>"
        " <a id=all href=/list/1>All records</a> <a id=basket href=/basket>Basket</a>"
        " <a id=wishes href=/wishes>Wishes</a> <a id=chartlink href=/chart>Chart</a></nav>"
        f"<h1>{title}</h1>{body}<script src=/site.js></script>"
    )


def _links(names: list[str]) -> str:
    return "".join(f"<li><a id={n} href=/disc/{n}>{DISCS[n][0]}</a>" for n in names)


def _disc(name: str, world: World) -> Answer | None:
    if name not in DISCS:
        return None
    title, number, price = DISCS[name]
    wish = "On your list of wishes." if name in world.done else ""
    return _page(
        title,
        f"<p>Number {number}. Price: ${price}. {wish}"
        f"<form method=post action=/basket><input type=hidden name=disc value={name}>"
        f"<button id=add>Add to basket</button></form>"
        f"<form method=post action=/wish/{name}><button id=wish>Wish</button></form>",
    )


def _post(asked: Asked, world: World) -> Answer | None:
    path = asked.path
    if path == "/basket":
        world.reserved.append(asked.form["disc"])
        return redirect("/basket")
    if path == "/checkout":
        world.orders.append({"discs": " ".join(world.reserved)})
        world.reserved.clear()
        return redirect(f"/receipt/{len(world.orders)}")
    if path.startswith("/wish/"):
        world.done.add(path.removeprefix("/wish/"))
        return redirect(f"/disc/{path.removeprefix('/wish/')}")
    if path == "/login":
        return redirect(asked.query.get("next", "/"), cookie="session=ok; Path=/")
    return None


def _list(asked: Asked) -> Answer | None:
    number = int(asked.path.removeprefix("/list/"))
    names = list(DISCS)[2 * number - 2 : 2 * number]
    further = f"<a id=next href=/list/{number + 1}>Next page</a>" if number < 3 else "Last page"
    ahead = f"<link rel=prefetch href=/list/{number + 1}>" if number < 3 else ""
    return _page(f"Records, page {number}", f"<ul>{_links(names)}</ul>{further}", ahead)


def page(asked: Asked, world: World) -> Answer | None:
    """Answer for the shop."""
    path = asked.path
    if asked.method == "POST":
        return _post(asked, world)
    if path.startswith("/disc/"):
        return _disc(path.removeprefix("/disc/"), world)
    if path.startswith("/d/"):
        return redirect(f"/disc/{path.removeprefix('/d/')}", 301)
    if path.startswith("/list/"):
        return _list(asked)
    if path.startswith("/receipt/"):
        return _page("Thank you", f"<p>Receipt R-{700 + int(path[9:])}. It will be shipped.")
    match path:
        case "/site.js":
            return Answer(_SCRIPT, "text/javascript", headers={"Cache-Control": "no-store"})
        case "/site.css":
            return Answer("body { font: 15px serif }", "text/css")
        case "/":
            return _page(
                "Records",
                "<p>New: <a id=newest href=/d/ember>our newest record</a>."
                "<form action=/search><input id=q name=q placeholder=Search><button id=go>Search"
                "</button></form>",
            )
        case "/search":
            word = asked.query.get("q", "").lower()
            names = [n for n, d in DISCS.items() if word in d[0].lower()]
            return _page("Results", f"<p>{len(names)} found<ul>{_links(names)}</ul>")
        case "/basket":
            titles = ", ".join(DISCS[n][0] for n in world.reserved) or "nothing"
            return _page(
                "Basket",
                f"<p>In the basket: {titles}.<form method=post action=/checkout>"
                "<button id=checkout>Check out</button></form>",
            )
        case "/orders":
            return _page("Orders", f"<p>You have placed {len(world.orders)} order(s).")
        case "/wishes" | "/profile":
            if "session=" not in asked.headers.get("cookie", ""):
                return redirect(f"/login?next={quote(path)}", 302)
            wishes = ", ".join(DISCS[n][0] for n in sorted(world.done)) or "none"
            return _page("Wishes", f"<p>Your wishes: {wishes}. Voucher: WX-55.")
        case "/login":
            return _page(
                "Log in",
                "<form method=post><input id=name name=name placeholder=Name>"
                "<button id=login>Log in</button></form>",
            )
        case "/chart":
            return _page("Chart", "<p id=chart>The chart is loading.")
        case "/chart.json":
            return as_json({"first": "Velvet Engines"})
    return None
