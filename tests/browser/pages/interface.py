"""A page with what an interface has, drawn by the server and later by a script."""

from functools import partial

from playwright.sync_api import Page, expect

from tests.browser.pages.site import ICON, STRICT, has_said
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
HTML = (b"Content-Type", b"text/html")
PAGES = {
    "interface": Answer(
        headers=[
            HTML,
            (b"Content-Security-Policy", STRICT + b"; style-src 'self'; form-action 'self'"),
        ],
        body=BODY.encode(),
    ),
    "look.css": Answer(headers=[(b"Content-Type", b"text/css")], body=b".boxed {color: #333}"),
    "silent": Answer(headers=[HTML], body=f"<!doctype html>{ICON}<p>Nothing at all.".encode()),
    "sent": Answer(headers=[HTML], body=f"{ICON}<h1>Thanks</h1>".encode()),
}


def is_shown(lane: Lane) -> None:
    """Wait until the page has said that its change is shown, and nothing else."""
    wait_until(partial(has_said, lane, "shown"))
    wait_until(partial(lane.events, FaultDelivered))


def still_works(page: Page) -> None:
    """Use the page as a person does, whatever its parts are called now."""
    page.locator("#told").wait_for(state="attached")
    expect(page.get_by_role("heading", name="Here")).to_be_visible()


def errors_of(page: Page) -> list[str]:
    """Return the list that the page's errors are going to be in."""
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda it: said.append(it.text) if it.type == "error" else None)
    return said


__all__ = ["PAGES", "errors_of", "is_shown", "still_works"]
