"""Pages with the elements of interfaces, some rendered by the server and some by scripts."""

from functools import partial

from playwright.sync_api import Page, expect

from tests.browser.pages.site import ICON, STRICT, has_reported
from tests.proxy.support.lanes import Lane, wait_until
from tests.proxy.support.origin import Answer
from warex.traces import FaultDelivered

BODY = f"""<!doctype html><html lang=en><head><title>t</title>{ICON}
<link rel=stylesheet href=/look.css>
<script nonce=a>
addEventListener("DOMContentLoaded", () => {{
  let clicks = 0, draws = 0;
  const count = () => {{ document.querySelector("#told").textContent = "clicks " + ++clicks; }};
  for (const it of document.querySelectorAll("nav a"))
    it.addEventListener("click", (event) => {{ event.preventDefault(); count(); }});
  document.querySelector("#keep").addEventListener("click", count);
  document.querySelector("#draw").addEventListener("click", () => {{
    const list = document.querySelector("#drawn"), button = document.createElement("button");
    button.textContent = "Delete";
    button.addEventListener("click", count);
    list.replaceChildren(button);
    list.dataset.draws = ++draws;
  }});
}});
</script></head><body>
<nav><a href=/a>Home</a> <a href=/b>Messages (3)</a> <a href=/c>Settings</a> <a href=/d>Help</a>
<a href=/e>Orders</a></nav>
<h1>Here</h1>
<form action=/sent method=get class="plain boxed" id=entry data-kind=entry>
<p><label for=first>First name</label> <input id=first name=first></p>
<p><label for=last>Last name</label> <input id=last name=last></p>
<p><label for=mail>Email</label> <input id=mail name=mail placeholder=Email></p>
<button>Submit</button></form>
<button id=keep>SAVE</button> <button id=draw>Draw</button> <div id=drawn></div>
<p id=told>clicks 0</p>
<table><tbody><tr><td>1<td>Save<tr><td>2<td>two<tr><td>3<td>three</tbody></table>
</body></html>"""
ORDERS = f"""<!doctype html><html lang=en><head><title>t</title>{ICON}
<script nonce=a>
addEventListener("DOMContentLoaded", () => {{
  const rows = () => [...document.querySelectorAll("#goods tr")];
  document.querySelector("#sort").addEventListener("click", () => {{
    const name = (row) => row.cells[0].textContent;
    const sorted = rows().sort((a, b) => name(a).localeCompare(name(b)));
    document.querySelector("#goods").append(...sorted);
  }});
  document.querySelector("#rewrite").addEventListener("click", () => {{
    const said = window.first.map((it) => it.textContent);
    window.first.forEach((it, at) => {{ it.textContent = [...said].sort()[at]; }});
  }});
  window.first = [...document.querySelectorAll("#plain li")];
}});
</script></head><body><h1>Here</h1>
<nav><div><a href=/a>Home</a> <a href=/b>Orders</a> <a href=/c>Deals</a>
<a href=/d>Help</a></div></nav>
<ul id=plain><li>Pear<li>Fig<li>Lime<li>Apple<li>Kiwi</ul>
<table><tbody id=goods><tr><td>Pen<td>3<tr><td>Bag<td>8<tr><td>Cup<td>5<tr><td>Hat<td>6
</table>
<form><p><label for=f1>Name</label><input id=f1 name=name></p>
<p><label for=f2>Mail</label><input id=f2 name=mail></p>
<p><label for=f3>City</label><input id=f3 name=city></p>
<select><option value="">Choose<option value=r>Red<option value=b>Blue<option value=g>Green
<option value=w selected>White<option value=t>Teal</select></form>
<button id=sort>Sort</button> <button id=rewrite>Rewrite</button>
<div id=kept><ol><li>Stir<li>Bake<li>Wait</ol>
<nav class=breadcrumbs><a href=/>Shop</a> <a href=/x>Audio</a> <a href=/y>Cables</a></nav>
<ul class=pagination><li><a href=/1>One</a><li><a href=/2>More</a><li><a href=/3>Last</a></ul>
<ul class=wizard-steps><li>Pay<li>Check<li>Address</ul>
<ul id=prices><li>Tent $10.00<li>Axe $25.50<li>Rope $110.00</ul>
<table><tr><th aria-sort=ascending>Name<tr><td>Zoe<td>1<tr><td>Adam<td>3<tr><td>Mia<td>2</table>
<table><tbody><tr><td rowspan=2>Fruit<td>Pear<tr><td>Fig<tr><td>Nut<td>Pecan</table>
<select><option value=3>Monday<option value=1>Tuesday<option value=2>Friday</select>
<ul><li><time>2 days ago</time> Zed<li><time>3 days ago</time> Amy<li>Tom</ul></div>
</body></html>"""
NAMES = f"""<!doctype html><html lang=en><head><title>t</title>{ICON}
<link rel=stylesheet href=/look.css><script src=/names.js nonce=a></script>
<style nonce=a>.inked {{ color: #123 }}</style></head><body>
<h1 id=headline class="large boxed">Here</h1>
<nav><a id=jump href=#below>Below</a></nav>
<form id=sheet action=/sent method=get><input type=hidden name=token value=t>
<p id=hint data-testid=hint-text>As in your passport</p>
<label for=given>Given name</label><input id=given name=given aria-describedby=hint>
<label for=family>Family name</label><input id=family name=family class="wide inked" value=Doe>
<select name=colour aria-label=Colour><option>Red<option>Blue</select><button>Submit</button></form>
<div id=line-4 class=line>Four</div><div id=target data-opens="#target">Opened</div>
<button id=keep data-testid=keep-button>Save</button><p id=told>clicks 0</p>
<p id=below class=unspoken>Below</p></body></html>"""
NAMES_JS = """document.addEventListener("DOMContentLoaded", () => {
  let clicks = 0;
  document.getElementById("keep").addEventListener("click", () => {
    document.querySelector("#told").textContent = "clicks " + ++clicks;
  });
  for (const at of [4]) document.querySelector(`#line-${at}`).title = "four";
});"""
HTML = (b"Content-Type", b"text/html")
PAGES = {
    "interface": Answer(
        headers=[
            HTML,
            (b"Content-Security-Policy", STRICT + b"; style-src 'self'; form-action 'self'"),
        ],
        body=BODY.encode(),
    ),
    "orders": Answer(
        headers=[HTML, (b"Content-Security-Policy", STRICT)],
        body=ORDERS.encode(),
    ),
    "names": Answer(
        headers=[
            HTML,
            (
                b"Content-Security-Policy",
                STRICT + b"; style-src 'self' 'nonce-a'; form-action 'self'",
            ),
        ],
        body=NAMES.encode(),
    ),
    "names.js": Answer(headers=[(b"Content-Type", b"text/javascript")], body=NAMES_JS.encode()),
    "look.css": Answer(headers=[(b"Content-Type", b"text/css")], body=b".boxed {color: #333}"),
    "silent": Answer(headers=[HTML], body=f"<!doctype html>{ICON}<p>Nothing at all.".encode()),
    "sent": Answer(headers=[HTML], body=f"{ICON}<h1>Thanks</h1>".encode()),
}


def is_shown(lane: Lane) -> None:
    """Wait until the page has reported that its change is shown, and nothing else."""
    wait_until(partial(has_reported, lane, "shown"))
    wait_until(partial(lane.events, FaultDelivered))


def still_works(page: Page) -> None:
    """Check that the page's script has run and its heading is visible."""
    page.locator("#told").wait_for(state="attached")
    expect(page.get_by_role("heading", name="Here")).to_be_visible()


def errors_of(page: Page) -> list[str]:
    """Return a list to which the page's future errors are added."""
    messages: list[str] = []
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("console", lambda it: messages.append(it.text) if it.type == "error" else None)
    return messages


__all__ = ["PAGES", "errors_of", "is_shown", "still_works"]
