"""What a changed page asks of the proxy for itself, on the wire: a worker, and what never comes."""

import httpx
import pytest

from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from tests.proxy.support.page_reports import PageScript
from warex.faults.browser.endless_spinner import EndlessSpinner
from warex.faults.browser.native_dialog import NativeDialog
from warex.faults.browser.stale_service_worker import StaleServiceWorker
from warex.traces import HarnessBroke, RequestSeen, Witness

pytestmark = pytest.mark.wire

BROWSER = {"sec-fetch-dest": "document", "accept": "text/html"}


def asking(lane: Lane) -> httpx.Client:
    return httpx.Client(proxy=lane.url, headers=BROWSER)


def page_of(plain: Origin) -> str:
    headers = [(b"Content-Type", b"text/html")]
    plain.routes["/"] = Answer(headers=headers, body=b"<!doctype html><title>a</title><p>text")
    return f"http://127.0.0.1:{plain.port}"


def test_only_a_browser_that_asks_for_a_service_worker_gets_its_script(
    begin: Begin, plain: Origin
) -> None:
    url = page_of(plain)
    with begin(scenario=scenario(StaleServiceWorker())) as lane:
        with asking(lane) as client:
            page = PageScript(client.get(url).content)
            dests = ("serviceworker", "script", "empty")
            answers = [
                client.get(f"{url}{page.path}", headers={"sec-fetch-dest": it}) for it in dests
            ]
            reported = client.post(f"{url}{page.path}", content=page.report("shown"))

        assert [it.status_code for it in (*answers, reported)] == [200, 204, 204, 204]
        assert page.key in answers[0].text
        assert answers[0].headers["content-type"] == "text/javascript"
        wait_until(lambda: [it.what for it in lane.events(Witness)] == ["forged", "shown"])
    assert len(lane.events(RequestSeen)) == 1


def test_only_requests_of_an_endless_page_wait_for_ever(begin: Begin, plain: Origin) -> None:
    url = page_of(plain)
    with (
        begin(scenario=scenario(EndlessSpinner())) as lane,
        httpx.Client(proxy=lane.url, headers=BROWSER) as client,
    ):
        page = PageScript(client.get(url).content)
        for method in ("GET", "POST"):
            with pytest.raises(httpx.ReadTimeout):
                client.request(method, f"{url}{page.path}?1", timeout=0.3)
        assert client.post(f"{url}{page.path}", content=page.report("shown")).is_success
        assert client.get(url).is_success

    assert [it.what for it in lane.events(Witness)] == ["shown"]
    assert [it.target for it in plain.seen] == ["/", "/"]
    assert not lane.events(HarnessBroke)


def test_what_was_answered_to_a_dialog_is_in_its_report(begin: Begin, plain: Origin) -> None:
    url = page_of(plain)
    with (
        begin(scenario=scenario(NativeDialog(dialog="prompt"))) as lane,
        httpx.Client(proxy=lane.url, headers=BROWSER) as client,
    ):
        page = PageScript(client.get(url).content)
        answer = '0\n[["answer to prompt","","Ada"]]'
        for sent in (page.report("shown"), page.report("accepted", payload=answer)):
            client.post(f"{url}{page.path}", content=sent)

    inputs = [(it.what, [change.after for change in it.changes]) for it in lane.events(Witness)]
    assert inputs == [("shown", []), ("accepted", ["Ada"])]
