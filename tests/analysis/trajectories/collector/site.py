"""The shop of the collected agents, with separate state for each trial.

One server serves all hosts. The end of the browser's User-Agent names the trial, so that each has
its own orders, notes and reviews.
"""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from tests.http_server import Handler, serving

WWW = "https://www.shop.warex.test"
BARE = "https://shop.warex.test"
PLAIN = "http://plain.warex.test"
PAY = "https://pay.warex.test"
NEWS = "https://news.warex.test"
UNSAFE_WWW = "http://www.shop.warex.test"
STATS = ("https://stats.warex.test", "http://stats.warex.test")

ORIGINS = (WWW, BARE, PLAIN, PAY, NEWS, UNSAFE_WWW, *STATS)

_ITEMS = {"kettle": 24, "lamp": 39, "rug": 85, "clock": 17, "vase": 12}
_WEIGHTS = {"kettle": 1210, "lamp": 930, "rug": 4100, "clock": 350, "vase": 640}

_SCRIPTS = {
    "/site.js": "document.documentElement.dataset.ready = '1'",
    "/a.js": "new Image().src = '//stats.warex.test/hit?p=' + location.pathname",
    "/price.js": "const at = document.getElementById('price');"
    "async function load() { at.textContent = 'Loading'; try {"
    "const a = await fetch('/api/price?item=' + at.dataset.item); if (!a.ok) throw 0;"
    "at.textContent = 'Price: ' + (await a.json()).price + ' euros' } catch {"
    "at.innerHTML = 'Could not load the price. <button id=again>Try again</button>';"
    "document.getElementById('again').onclick = load } } load()",
    "/quick.js": "const at = document.getElementById('status'), q = new URLSearchParams("
    "location.search); fetch('/api/stock?item=' + q.get('item')).then(a => a.json()).then("
    "s => at.textContent = 'Ready, ' + s.stock + ' in stock').catch(() => at.textContent ="
    " 'Stock unknown'); document.getElementById('buy').onclick = async () => {"
    "at.textContent = 'Sending'; try { const a = await fetch('/api/orders', {method: 'POST',"
    "headers: {'Content-Type': 'application/json'}, body: JSON.stringify({item: q.get('item')})});"
    "at.textContent = a.ok ? 'Order placed' : 'Something went wrong' } catch {"
    "at.textContent = 'Network problem' } }",
    "/note.js": "const box = document.getElementById('text'), at = document.getElementById("
    "'status'); let timer, dirty = false; async function save(how) { try { const a = await fetch("
    "'/api/note?by=' + how, {method: 'PUT', body: box.value}); if (!a.ok) throw 0; dirty = false;"
    "at.textContent = 'All changes saved' } catch { at.textContent = 'Not saved' } }"
    "box.oninput = () => { dirty = true; at.textContent = 'Editing'; clearTimeout(timer);"
    "timer = setTimeout(() => save('typing'), 700) };"
    "setInterval(() => { if (dirty || window.always) save('timer') }, 4000);"
    "document.getElementById('save').onclick = () => save('button')",
    "/board.js": "async function tick() { try { const a = await fetch('/api/tick');"
    "document.getElementById('count').textContent = 'Visitors today: ' + (await a.json()).count }"
    "catch { } } tick(); setInterval(tick, 2500)",
    "/spa.js": "const at = document.getElementById('view'); async function show(path) {"
    "const id = path.split('/')[2]; if (!id) return; at.textContent = 'Loading'; try {"
    "const a = await fetch('/api/items/' + id); if (!a.ok) throw 0; const i = await a.json();"
    "at.textContent = i.name + '. Weight: ' + i.weight + ' g' } catch {"
    "at.textContent = 'Oops, this item could not be shown' } }"
    "document.querySelectorAll('a[data-spa]').forEach(a => a.onclick = e => { e.preventDefault();"
    "history.pushState(null, '', a.href); show(location.pathname) });"
    "onpopstate = () => show(location.pathname); show(location.pathname)",
    "/reviews.js": "async function ask(operationName, query, variables) { const a = await fetch("
    "'/graphql', {method: 'POST', headers: {'Content-Type': 'application/json'},"
    "body: JSON.stringify({operationName, query, variables})}); if (!a.ok) throw 0;"
    "return (await a.json()).data } const el = i => document.getElementById(i);"
    "async function list() { try { const d = await ask('Reviews', 'query Reviews { reviews }');"
    "el('list').textContent = d.reviews + ' reviews' } catch {"
    "el('list').textContent = 'Reviews cannot be shown' } } list();"
    "ask('Stock', 'query Stock { stock }').then(d => el('stock').textContent = d.stock +"
    "' in stock').catch(() => el('stock').textContent = '');"
    "let t; el('text').oninput = () => { clearTimeout(t); t = setTimeout(() => ask('SaveDraft',"
    "'mutation SaveDraft($t: String) { saveDraft(t: $t) }', {t: el('text').value}).catch("
    "() => 0), 600) }; el('send').onclick = async () => { try { await ask('AddReview',"
    "'mutation AddReview($t: String) { addReview(t: $t) }', {t: el('text').value});"
    "el('said').textContent = 'Thanks for your review' } catch {"
    "el('said').textContent = 'Your review was not sent' } list() }",
}


@dataclass(slots=True)
class World:
    """The state that one trial has changed."""

    orders: list[str] = field(default_factory=list)
    cart: list[str] = field(default_factory=list)
    reviews: list[str] = field(default_factory=list)
    note: str = ""


class Worlds:
    """Every trial's world, by the trial's name."""

    def __init__(self) -> None:
        self._of: dict[str, World] = {}

    def of(self, trial: str) -> World:
        """Return the trial's world; create it if there is none."""
        return self._of.setdefault(trial, World())


@dataclass(frozen=True, slots=True)
class _Answer:
    body: str
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    location: str | None = None
    keep: bool = False


def _json(value: object) -> _Answer:
    return _Answer(json.dumps(value), "application/json")


def _to(place: str, status: int = 303) -> _Answer:
    return _Answer("", status=status, location=place)


def _page(title: str, body: str, *scripts: str, head: str = "", stats: bool = False) -> _Answer:
    nav = " ".join(
        f"<a id={name} href={path}>{text}</a>"
        for name, path, text in (
            *(("home", "/", "Home"), ("catalog", "/catalog", "Catalog"), ("cart", "/cart", "Cart")),
            *(("orders", "/orders", "My orders"), ("help", "/help", "Help")),
        )
    )
    tags = "".join(f"<script src={s}></script>" for s in scripts)
    if stats:
        tags += "<script async src=//stats.warex.test/a.js></script>"
    return _Answer(
        f"<!doctype html><title>{title}</title><link rel=icon href=data:,>"
        f"<link rel=stylesheet href=/style.css>{head}"
        f"<nav>{nav}</nav><h1>{title}</h1>{body}<img src=/logo.svg width=40 height=20>{tags}"
    )


def _catalog() -> _Answer:
    links = "".join(f"<li><a id=item-{i} href=/p/{i}>{i.title()}</a>" for i in _ITEMS)
    return _page("Catalog", f"<p>{len(_ITEMS)} items<ul>{links}</ul>", stats=True)


def _checkout(item: str, action: str) -> _Answer:
    return _page(
        "Checkout",
        f"<p>Delivery of 1 x {item}<form method=post action={action}>"
        f"<input type=hidden name=item value={item}><input id=name name=name placeholder=Name>"
        "<button id=place>Place the order</button></form>",
        "/site.js",
    )


def _pages(path: str, query: dict[str, str], world: World) -> _Answer | None:
    item = query.get("item", "kettle")
    match path:
        case "/":
            offers = "<p>Welcome to the shop <a id=quick href=/quick?item=lamp>Quick order</a>"
            return _page("Shop", offers, "/site.js", stats=True)
        case "/catalog":
            return _to("/catalog/", 301)
        case "/catalog/":
            return _catalog()
        case "/cart":
            lines = "".join(f"<li>1 x {i}" for i in world.cart) or "<li>empty"
            link = "<a id=checkout href=/checkout>Checkout</a>"
            return _page("Cart", f"<ul>{lines}</ul>{link}", "/site.js")
        case "/checkout":
            return _checkout(item, "/orders")
        case "/checkout-pay":
            return _checkout(item, f"{PAY}/confirm")
        case "/orders":
            lines = "".join(f"<li>1 x {i}" for i in world.orders) or "<li>none yet"
            return _page("My orders", f"<ul>{lines}</ul>")
        case "/thanks":
            return _page("Thank you", "<p>Thank you, your order is on its way")
        case "/help":
            return _page("Help", "<a id=returns href=/help/returns>Returns</a>")
        case "/help/returns":
            return _page("Returns", "<p>You have 30 days to return an item", "/site.js")
        case "/quick":
            body = "<p id=status>Loading</p><button id=buy>Buy now</button>"
            return _page("Quick order", body, "/quick.js")
        case "/note":
            body = "<textarea id=text></textarea><button id=save>Save</button><p id=status></p>"
            always = "<script>window.always = true</script>" if query.get("eager") else ""
            return _page("Note", body + always, "/note.js")
        case "/board":
            again = "<meta http-equiv=refresh content=7>" if query.get("refresh") else ""
            return _page("Board", "<p id=count>Counting</p>", "/board.js", head=again)
        case "/reviews":
            body = "<p id=list></p><p id=stock></p><textarea id=text></textarea>"
            return _page(
                "Reviews", body + "<button id=send>Send</button><p id=said>", "/reviews.js"
            )
        case "/news":
            return _page("News", "<p>Nothing new today")
    if path.startswith("/spa"):
        links = "".join(f"<a data-spa id=show-{i} href=/spa/{i}>{i}</a> " for i in _ITEMS)
        return _page("Explorer", f"{links}<p id=view>Choose an item</p>", "/spa.js")
    if match := re.fullmatch(r"/p/(\w+)", path):
        form = f"<form method=post action=/cart/add><input type=hidden name=item value={match[1]}>"
        body = (
            f"<p id=price data-item={match[1]}></p>{form}<button id=add>Add to cart</button></form>"
        )
        return _page(match[1].title(), body, "/site.js", "/price.js")
    return None


def _api(method: str, path: str, query: dict[str, str], body: str, world: World) -> _Answer | None:
    item = query.get("item", "kettle")
    match method, path:
        case "GET", "/api/price":
            return _json({"price": _ITEMS.get(item, 0)})
        case "GET", "/api/stock":
            return _json({"stock": 7})
        case "GET", "/api/tick":
            return _json({"count": 412})
        case "PUT", "/api/note":
            world.note = body
            return _json({"saved": True})
        case "POST", "/api/orders":
            world.orders.append(json.loads(body)["item"])
            return _json({"placed": True})
        case "POST", "/orders" | "/confirm":
            world.orders.append(parse_qs(body).get("item", ["?"])[0])
            return _to("/thanks")
        case "POST", "/cart/add":
            world.cart.append(parse_qs(body).get("item", ["?"])[0])
            return _to("/cart")
        case "POST", "/graphql":
            asked = json.loads(body)
            if asked["operationName"] == "AddReview":
                world.reviews.append(asked["variables"]["t"])
            return _json({"data": {"reviews": 3 + len(world.reviews), "stock": 7}})
    if method == "GET" and (match := re.fullmatch(r"/api/items/(\w+)", path)):
        return _json({"name": match[1], "weight": _WEIGHTS.get(match[1], 0)})
    return None


def _static(path: str) -> _Answer | None:
    if path in _SCRIPTS:
        return _Answer(_SCRIPTS[path], "text/javascript")
    if path == "/style.css":
        return _Answer("nav a { margin: 4px }", "text/css", keep=True)
    if path in ("/logo.svg", "/hit"):
        picture = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"/>'
        return _Answer(picture, "image/svg+xml", keep=True)
    return None


class _Site(Handler):
    worlds: Worlds
    safe: bool

    def _handle(self) -> None:
        body = self.read_body().decode()
        trial = self.headers.get("User-Agent", "").rpartition("Trial/")[2]
        parts = urlsplit(self.path)
        query = {k: v[0] for k, v in parse_qs(parts.query).items()}
        host = self.headers.get("Host", "").partition(":")[0]
        self._send(self._search_results(host, parts.path, query, body, self.worlds.of(trial)))

    do_GET = do_POST = do_PUT = _handle

    def _search_results(
        self, host: str, path: str, query: dict[str, str], body: str, world: World
    ) -> _Answer:
        moved = host == "shop.warex.test" or (host == "www.shop.warex.test" and not self.safe)
        if moved:
            return _to(WWW + self.path, 301)
        if host == "pay.warex.test" and (method := self.command) == "POST":
            return _api(method, path, query, body, world) or _Answer("", status=404)
        if host == "news.warex.test" and path == "/":
            path = "/news"
        made = _static(path) or _api(self.command, path, query, body, world)
        if made is None and self.command == "GET":
            made = _pages(path, query, world)
        return made or _Answer("<title>Not found</title>Nothing here", status=404)

    def _send(self, answer: _Answer) -> None:
        headers = {"Cache_Control": "max-age=600" if answer.keep else "no-store"}
        if answer.location:
            headers["Location"] = answer.location
        self.reply(answer.body.encode(), answer.kind, answer.status, **headers)


@contextmanager
def serve(worlds: Worlds) -> Iterator[dict[str, str]]:
    """Serve all hosts; yield the local URL of each origin."""
    with ExitStack() as stack:
        ports = {
            safe: stack.enter_context(
                serving(type("_Scheme", (_Site,), {"worlds": worlds, "safe": safe}))
            )
            for safe in (True, False)
        }
        yield {o: f"http://127.0.0.1:{ports[o.startswith('https')]}" for o in ORIGINS}
