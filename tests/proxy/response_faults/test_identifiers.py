"""Which names a page may change is known to the proxy, which has read the site's scripts."""

import gzip
import json

import httpx
import pytest

from tests.proxy.support.lanes import Begin, scenario
from tests.proxy.support.origin import Answer, Origin
from tests.proxy.support.page_reports import PageScript
from warex.faults.variation.id_drift import IdDrift
from warex.traces import HarnessBroke, ResponseSeen, Witness

pytestmark = pytest.mark.wire

BROWSER = {"sec-fetch-dest": "document", "accept": "text/html"}
SCRIPT = b"document.getElementById('used').focus();" * 100


class Asking:
    """A page that was changed, and asks."""

    def __init__(self, plain: Origin, client: httpx.Client) -> None:
        self.site, self._client = f"http://127.0.0.1:{plain.port}", client
        page = client.get(f"{self.site}/", headers=BROWSER).text
        self._script = PageScript(page)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self._client.get(self.site + path, headers={"sec-fetch-dest": "script", **headers})

    def post(self, what: str, text: str) -> httpx.Response:
        sent = self._script.query(what, text)
        return self._client.post(self.site + self._script.path, content=sent)

    def free(self, *addresses: str) -> list[str]:
        about = {"addresses": [self.site + it for it in addresses], "names": ["used", "unused"]}
        return list(self.post("names", json.dumps(about)).json())


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_ids_that_a_script_mentions_are_not_free_to_change(
    begin: Begin, plain: Origin, coding: str
) -> None:
    body = gzip.compress(SCRIPT) if coding else SCRIPT
    kind = [(b"Content-Type", b"text/javascript"), (b"Content-Encoding", coding.encode())]
    plain.routes["/a.js"] = Answer(headers=kind[: 2 if coding else 1], body=body)
    plain.routes["/"] = Answer(headers=[(b"Content-Type", b"text/html")], body=b"<p>text")
    with begin(scenario=scenario(IdDrift())) as lane, httpx.Client(proxy=lane.url) as client:
        page = Asking(plain, client)
        assert page.free() == ["used", "unused"]
        answer = page.get("/a.js")
        assert (answer.content, answer.headers["content-length"]) == (SCRIPT, str(len(body)))
        assert page.free("/a.js") == ["unused"]
        assert page.post("mentions", ".unused {}").json() == []
        assert page.free("/a.js") == []
    assert [it.size for it in lane.events(ResponseSeen)][1:] == [len(body)]
    assert not lane.events(Witness)


@pytest.mark.parametrize("status", [206, 304])
def test_nothing_is_free_on_a_page_whose_script_was_not_read(
    begin: Begin, plain: Origin, status: int
) -> None:
    plain.routes["/"] = Answer(headers=[(b"Content-Type", b"text/html")], body=b"<p>text")
    plain.routes["/a.js"] = Answer(status=status)
    with begin(scenario=scenario(IdDrift())) as lane, httpx.Client(proxy=lane.url) as client:
        page = Asking(plain, client)
        assert page.free("/never.js") == []
        page.get("/a.js")
        assert page.free("/a.js") == []
        assert page.free() == ["used", "unused"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"addresses": 1}', '{"names": [1]}', "\ud800", "[" * 9**5]
)
def test_an_invalid_question_is_answered_with_no_name(
    begin: Begin, plain: Origin, text: str
) -> None:
    plain.routes["/"] = Answer(headers=[(b"Content-Type", b"text/html")], body=b"<p>text")
    with begin(scenario=scenario(IdDrift())) as lane, httpx.Client(proxy=lane.url) as client:
        page = Asking(plain, client)
        assert page.post("names", text).json() == []
    assert not lane.events(HarnessBroke)
