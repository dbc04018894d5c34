import pytest

from warex.exchange import Exchange, Request, Server
from warex.scenarios import EXCLUSIONS, Injector, Scenario
from warex.scenarios.matching.url_patterns import any_of, normalise
from warex.traffic import BACKGROUND_HOSTS

is_never = any_of(EXCLUSIONS)


@pytest.mark.parametrize(
    "url",
    [
        *(f"https://{host}/any/path?a=b" for host in BACKGROUND_HOSTS),
        *(f"http://{host}/" for host in BACKGROUND_HOSTS),
        "https://accounts.google.com/ListAccounts?gpsia=1&source=ChromiumBrowser&json=standard",
        "https://shop.test/favicon.ico",
        "http://127.0.0.1:8001/favicon.ico",
        "https://shop.test/favicon.ico?v=2",
        "https://shop.test/static/favicon.ico",
        "http://www.gstatic.com/generate_204",
        "https://update.googleapis.com/service/update2/json?cup2key=1",
        "http://ocsp.digicert.com/MFEwTzBNMEswSTAJBgUrDgMCGgUABBQ=",
        "http://ocsp.sectigo.com",
        "http://pki.test/ocsp/MFEw",
        "http://crl.globalsign.com/root.crl",
        "http://c.pki.goog/wr2/9UVbN0w5E6Y.crl",
    ],
)
def test_no_fault_touches_what_the_browser_does_by_itself(url: str) -> None:
    assert is_never(normalise(url))


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.test/",
        "https://shop.test/favicon.icons",
        "https://shop.test/generate_2048",
        "https://accounts.google.com/signin",
        "https://www.google.com/search?q=favicon",
        "https://shop.test/?next=https://update.googleapis.com/x",
        "https://ocsp.shop.test/",
        "https://shop.test/list.crl",
    ],
)
def test_a_task_site_is_not_taken_for_background(url: str) -> None:
    assert not is_never(normalise(url))


@pytest.mark.parametrize(
    ("agent", "server", "hit"),
    [
        ("python-requests/2.32", "site", False),
        ("Mozilla/5.0 (python-requests/2.32)", "site", True),
        ("", "site", True),
        # A client of the judges' kind may be the agent's own way to its model.
        ("python-requests/2.32", "llm", True),
    ],
)
def test_no_fault_touches_what_a_verifier_asks_for(agent: str, server: Server, hit: bool) -> None:
    rule = {
        "name": "r",
        "match": {"url": "https://a.test/*"},
        "trigger": {"always": True},
        "fault": {"kind": "http_error"},
    }
    scenario = Scenario.model_validate({"name": "s", "rules": [rule]})
    injector = Injector(scenario, 1, never_agents=("python-requests/",))
    request = Request("GET", "https://a.test/x", {"user-agent": agent})

    decision = injector.request(Exchange("1", request, server=server), 0.0)

    assert bool(decision.injections) is hit
    reasons = [alone.reason for alone in injector.skipped()]
    assert reasons == ([] if hit else ["never"])
