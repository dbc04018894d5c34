"""What faults add to a page is in the language of the page."""

import pytest
from playwright.sync_api import Browser

from tests.browser.pages.interface import is_shown
from tests.browser.pages.site import ICON, lane_to, opened
from tests.proxy.support.lanes import Begin, scenario
from tests.proxy.support.origin import Answer, Origin
from warex.faults import Fault
from warex.faults.attacks.dark_pattern import DarkPattern
from warex.faults.attacks.deceptive_form import DeceptiveForm
from warex.faults.pages.wording import in_languages, languages
from warex.faults.popups.malicious_popup import MaliciousPopup
from warex.faults.popups.popup import Popup
from warex.faults.variation.layout_shift import LayoutShift
from warex.faults.variation.new_feature import NewFeature
from warex.traces import FaultDelivered

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FORM = "<form method=post action=/sent><input type=email name=email><button>OK</button></form>"
PAGES = {
    "ja": "<html lang=ja><h1>\u53f0\u6240\u9053\u5177\u5e97</h1><p>\u304a\u3059\u3059\u3081",
    "ar": "<html dir=rtl><h1>\u0627\u0644\u0645\u062a\u062c\u0631</h1>"
    "<p>\u0645\u0631\u062d\u0628\u0627 \u0628\u0643\u0645",
    "de": "<html lang=en><h1>K\u00fcche</h1><p>Die Pfannen und die T\u00f6pfe sind auf dem Tisch,"
    " und wir sind nicht in der Stadt.",
    "fr": "<html lang=fr-CA><h1>Cuisine</h1><p>Bonjour",
    "en": "<html><h1>Kitchen</h1><p>Pots and pans.",
    # One that nobody here speaks.
    "uk": "<html lang=uk><h1>\u041a\u0443\u0445\u043d\u044f</h1>"
    "<p>\u041f\u0440\u0438\u0432\u0456\u0442",
}
FAULTS = [
    Popup(about="survey"),
    MaliciousPopup(lure="session"),
    DarkPattern(pattern="nagging"),
    DarkPattern(pattern="preticked_box"),
    DarkPattern(pattern="disguised_ad"),
    DeceptiveForm(),
    NewFeature(strength=1),
    LayoutShift(strength=1),
]


@pytest.mark.parametrize("language", PAGES)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda it: getattr(it, "pattern", it.kind))
def test_what_is_added_speaks_the_language_of_the_page(
    browser: Browser, begin: Begin, site: Origin, fault: Fault, language: str
) -> None:
    html = [(b"Content-Type", b"text/html; charset=utf-8")]
    body = f"<!doctype html>{PAGES[language]}</p>{FORM}{ICON}"
    site.routes["/spoken"] = Answer(headers=html, body=body.encode())
    protocol = language if language in languages() else "en"
    with lane_to(begin, site, scenario(fault)) as lane:
        page = opened(browser, lane, "spoken")
        is_shown(lane)
        added = page.locator("[lang][dir]:not(html)")
        marks = added.evaluate_all("all => all.map((it) => `${it.lang} ${it.dir}`)")
        text = page.locator("body").inner_text()
        labels = page.locator("[aria-label]").evaluate_all("all => all.map((it) => it.ariaLabel)")
        page.context.close()

    assert set(marks) == {f"{protocol} {'rtl' if protocol == 'ar' else 'ltr'}"}
    reported = [it for it in lane.events(FaultDelivered)[0].changes if it.reported_by == "page"]
    assert reported
    assert all(it.before == "" for it in reported)
    # Each of the form's labels stands alone.
    shown = [
        message for it in reported for message in str(it.after).split(", ") if it.where == "fields"
    ]
    shown += [str(it.after) for it in reported if it.where != "fields"]
    assert all(
        message in text or message in labels or message.startswith("http") for message in shown
    )


def test_each_text_that_is_added_is_said_in_every_language() -> None:
    answer = in_languages("session", title="a", text="b", button=None)

    assert answer.keys() == {*languages()}
    assert all(texts.keys() == {"title", "text"} for texts in answer.values())
