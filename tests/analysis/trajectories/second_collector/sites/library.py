"""A library: pages of a server, with forms, redirects, a shared script, a queue and a login."""

from tests.analysis.trajectories.second_collector.sites import Answer, Asked, World, redirect

HOST = "library.test"
BASE = f"https://{HOST}"

BOOKS = {
    "tides": ("The Tides", "Shelf C-14", "1961"),
    "moss": ("A Guide to Moss", "Shelf F-02", "1988"),
    "clocks": ("Clocks of Prague", "Shelf A-77", "2003"),
    "harbour": ("Harbour Nights", "Shelf D-31", "1974"),
}

_SCRIPT = (
    "for (const at of document.querySelectorAll('[data-shelf]'))"
    " at.textContent = at.dataset.shelf;"
    "document.documentElement.dataset.ready = '1'"
)


def _page(title: str, body: str, head: str = "") -> Answer:
    nav = (
        "<a id=home href=/>Home</a> <a id=books href=/books>Books</a>"
        " <a id=account href=/account>My account</a> <a id=hours href=/hours>Opening hours</a>"
    )
    return Answer(
        f"<!doctype html><title>{title}</title><link rel=icon href=data:,>"
        f"<link rel=stylesheet href=/main.css>{head}<nav>{nav}</nav><h1>{title}</h1>{body}"
        "<script src=/main.js></script>"
    )


def _book(name: str, world: World) -> Answer | None:
    if name not in BOOKS:
        return None
    title, shelf, year = BOOKS[name]
    state = "Reserved for you." if name in world.reserved else "On the shelf."
    return _page(
        title,
        f"<p>Published {year}. <b data-shelf='{shelf}'>…</b><p id=state>{state}"
        f"<form method=post action=/book/{name}/reserve><button id=reserve>Reserve</button></form>",
    )


def _post(asked: Asked, world: World) -> Answer | None:
    if asked.path == "/login":
        who = asked.form.get("user", "reader")
        return redirect("/account", cookie=f"who={who}; Path=/")
    if asked.path == "/suggest":
        world.comments.append(asked.form.get("title", ""))
        return redirect("/suggest")
    if asked.path.endswith("/reserve"):
        name = asked.path.split("/")[2]
        world.reserved.append(name)
        return redirect(f"/book/{name}")
    if asked.path.endswith("/renew"):
        world.done.add("renewed")
        return redirect("/account?renewed=1")
    return None


def _account(asked: Asked, world: World) -> Answer:
    if "who=" not in asked.headers.get("cookie", ""):
        return _page(
            "Sign in",
            "<form method=post action=/login><input id=user name=user placeholder='Card number'>"
            "<button id=signin>Sign in</button></form>",
        )
    titles = ", ".join(BOOKS[name][0] for name in world.reserved if name in BOOKS) or "none"
    due = "1 May" if "renewed" in world.done else "3 April"
    return _page(
        "My account",
        f"<p>Reservations: {titles}. Fine: 2.40 euros. Loan due: {due}."
        "<form method=post action=/account/renew><button id=renew>Renew</button></form>",
    )


def page(asked: Asked, world: World) -> Answer | None:
    """Answer for the library."""
    path = asked.path
    if asked.method == "POST":
        return _post(asked, world)
    if path.startswith("/book/"):
        return _book(path.removeprefix("/book/"), world)
    if path.startswith("/go/"):
        return redirect(f"/book/{path.removeprefix('/go/')}", 302)
    match path:
        case "/main.js":
            return Answer(_SCRIPT, "text/javascript", headers={"Cache-Control": "no-store"})
        case "/main.css":
            return Answer("body { font: 16px sans-serif }", "text/css")
        case "/":
            return _page(
                "Harbour Library",
                "<p>Welcome. <a id=picked href=/go/clocks>Book of the month</a>"
                " <a id=queue href=/queue>Hall queue</a> <a id=suggest href=/suggest>Suggest</a>",
            )
        case "/books":
            links = "".join(f"<li><a id={n} href=/book/{n}>{b[0]}</a>" for n, b in BOOKS.items())
            return _page("Books", f"<p>{len(BOOKS)} books<ul>{links}</ul>")
        case "/account":
            return _account(asked, world)
        case "/old-hours":
            return redirect("/hours", 301)
        case "/hours":
            prefetch = "<link rel=prefetch href=/contact>"
            return _page(
                "Opening hours",
                "<p>Monday to Friday, 9 to 18. <a id=contact href=/contact>Contact</a>",
                prefetch,
            )
        case "/contact":
            return _page("Contact", "<p>Telephone 555-0142. Pier 3.")
        case "/queue":
            left = 4 - world.count("queue")
            text = f"<p>You are number {left}." if left > 0 else "<p>Your code is HL-88."
            refresh = "<meta http-equiv=refresh content=3>" if left > 0 else ""
            return _page("Hall queue", text, refresh)
        case "/suggest":
            inputs = ", ".join(world.comments) or "none yet"
            return _page(
                "Suggest a book",
                f"<p>Suggestions: {inputs}<form method=post><input id=title name=title>"
                "<button id=send>Send</button></form>",
            )
    return None
