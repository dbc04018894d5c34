"""Labels that a framework holds in several nodes are reworded as one."""

import pytest
from playwright.sync_api import Browser

from tests.browser.pages.interface import is_shown
from tests.browser.pages.site import ICON, lane_to, opened
from tests.proxy.support.lanes import Begin, scenario
from tests.proxy.support.origin import Answer, Origin
from warex.faults import Fault
from warex.faults.variation.relabel import Relabel
from warex.faults.variation.translate import Translate
from warex.traces import FaultDelivered

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGE = f"""<!doctype html><html lang=en><meta charset=utf-8><title>t</title>{ICON}
<style>.f {{ display: flex; gap: 4px }} .narrow {{ width: 60px }} .off {{ display: none }}
.material-icons {{ font-size: 20px }}</style>
<button id=nodes></button><a href=# id=spans><span>Add</span> to cart</a>
<button id=flex class=f><span>Add</span><span>to</span><span>cart</span></button>
<button id=narrow class=narrow><b>Add</b> <i>to</i> <b>cart</b></button>
<button id=letter><u>C</u>heckout</button>
<button id=icon><i class=material-icons>shopping_cart</i><span>Add</span> to cart</button>
<a href=# id=badge><span>My</span> account<sup>3</sup></a>
<a href=# id=more>Cart <span>(2 items)</span></a>
<a href=# id=sentence><b>New</b> message from Bob</a>
<button id=sizes><span class=off>Add to cart</span><span>Add</span></button>
<div hidden><a href=# id=hidden><span>Sign</span> <span>in</span></a></div>
<a href=# id=lines><div>Save</div><div>Share</div></a>
<my-app id=app></my-app>
<script>
nodes.append("Add", " ", "to", " ", "cart");
setTimeout(() => {{
  app.attachShadow({{mode: "open"}}).innerHTML = "<button><span>Add</span> to <b>cart</b></button>";
}}, 300);
onclick = () => {{ nodes.childNodes[0].data = "Add"; }};
</script>"""


RELABELLED = {
    "nodes": "Add to bag",
    "spans": "Add to bag",
    "flex": "Addtobag",
    "narrow": "Add to bag",
    "letter": "Proceed to payment",
    "icon": "shopping_cartAdd to bag",
    "badge": "Your profile3",
    "more": "Basket (2 items)",
    "sentence": "New message from Bob",
    "sizes": "Add to bagInsert",
    "hidden": "Access your account",
    "lines": "Store changesPass on",
    "app": "Add to bag",
}
TRANSLATED = {
    "nodes": "In den Warenkorb",
    "spans": "In den Warenkorb",
    "flex": "IndenWarenkorb",
    "narrow": "In den Warenkorb",
    "letter": "Zur Kasse",
    "icon": "shopping_cartIn den Warenkorb",
    "badge": "Mein Konto3",
    "more": "Warenkorb (2 items)",
    "sentence": "New message from Bob",
    "sizes": "In den WarenkorbHinzuf\u00fcgen",
    "hidden": "Anmelden",
    "lines": "SpeichernTeilen",
    "app": "In den Warenkorb",
}


@pytest.mark.parametrize(
    ("fault", "wanted"),
    [
        (Relabel(strength=1), RELABELLED),
        (Translate(strength=1, language="de"), TRANSLATED),
    ],
    ids=["relabel", "translate"],
)
def test_a_label_of_several_nodes_stays_reworded_after_rendering(
    browser: Browser, begin: Begin, site: Origin, fault: Fault, wanted: dict[str, str]
) -> None:
    html = [(b"Content-Type", b"text/html; charset=utf-8")]
    site.routes["/joint"] = Answer(headers=html, body=PAGE.encode())
    with lane_to(begin, site, scenario(fault)) as lane:
        page = opened(browser, lane, "joint")
        is_shown(lane)
        page.wait_for_function("app.shadowRoot && !/cart$/.test(app.shadowRoot.textContent)")
        texts = page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('[id]')].map((it) =>"
            " [it.id, (it.shadowRoot || it).textContent.trim()]))"
        )
        page.mouse.click(5, 590)
        page.wait_for_function(f"nodes.textContent === {wanted['nodes']!r}")
        page.context.close()

    assert texts == wanted
    reported = [(it.where, it.before) for it in lane.events(FaultDelivered)[0].changes]
    assert ("button", "Add to cart") in reported
    assert ("a", "My account3") in reported
