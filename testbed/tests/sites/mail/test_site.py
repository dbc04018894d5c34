import re

import pytest

from tests.sites.mail.client import HOSTS, Client
from tests.visit import visit

PAGES = [
    "/",
    "/starred",
    "/sent",
    "/drafts",
    "/spam",
    "/label/1",
    "/search?q=a",
    "/search/options",
    "/t/1",
    "/compose",
    "/compose?reply=3&all=1",
    "/contacts",
    "/contacts/1",
    "/contacts/new",
    "/contacts/1/edit",
    "/settings",
    "/settings/away",
    "/settings/rules",
    "/settings/labels",
    "/nowhere",
]


@pytest.mark.parametrize("host", HOSTS)
def test_every_page_asks_only_its_own_host_and_is_light(host: str) -> None:
    client = Client(host)
    for target in PAGES:
        answer = client.ask(target)
        html = answer.body.decode()
        assert answer.status == (404 if target == "/nowhere" else 200), target
        assert not answer.cacheable
        links = re.findall(r'(?:href|src|action|data-sheet)="([^"]*)"', html)
        assert all(link.startswith(("/", "?")) and not link.startswith("//") for link in links)
        assets = [client.ask(path).body for path in set(re.findall(r'"(/static/[^"]*)"', html))]
        assert all(assets)
        assert len(answer.body) + sum(map(len, assets)) < 150_000


def test_only_one_brand_opens_conversations_in_place() -> None:
    scripts = [re.findall(r'src="/static/(\w+\.js)"', Client(host).get("/")) for host in HOSTS]
    assert ["open.js" in each for each in scripts] == [True, False, False]
    assert all({"core.js", "list.js", "compose.js"} <= set(each) for each in scripts)


@pytest.mark.parametrize("host", HOSTS)
def test_what_a_person_types_is_shown_as_text(host: str) -> None:
    client, nasty = Client(host), '"><script>alert(1)</script>'
    client.post("/compose", to="a@b.test", subject=nasty, body=nasty)
    client.post("/contacts", name=nasty, email="x@y.test", notes=nasty)
    client.post("/settings/labels", name=nasty[:40])
    client.post("/settings/rules", contains=nasty, deed="star", field="from")
    client.post("/compose", to=nasty, subject=nasty, do="draft")
    number = max(each["id"] for each in client.state("messages"))
    for target in ("/", "/sent", f"/t/{number}", "/contacts", "/drafts", "/settings/rules"):
        html = client.get(target)
        assert "<script>alert" not in html
        assert target == "/" or "&lt;script&gt;alert" in html
    assert "<script>alert" not in client.get("/search?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")


def test_an_api_path_always_answers_in_json() -> None:
    client = Client()
    assert client.call("/api/nothing")[0] == 404
    assert client.call("/api/star", message=99, starred=False)[1] == {
        "error": "That is not there any more."
    }


@pytest.mark.parametrize(
    "target",
    [
        f"/?page={'9' * 5000}",
        f"/compose?draft={'9' * 5000}",
        "/compose?reply=x",
        "/t/4?in=label-x",
        "/t/4?open=²",
        "/search?q=%22%22%20from:%20-",
        "/search/run?before=soon",
        "/label/99",
        "/t/999999999",
    ],
)
def test_an_address_made_up_by_hand_breaks_nothing(target: str) -> None:
    assert Client().ask(target).status in (200, 303, 404)


def test_a_form_made_up_by_hand_breaks_nothing() -> None:
    client = Client()
    for path in ("/actions", "/t/4/labels", "/empty", "/compose", "/contacts", "/settings/rules"):
        for body in (b"", b"=x&t=1&tx=1", b"\xff\xfe", b"t%C2%B2=1&do=read"):
            answer = visit(client.site.app, "POST", path, body)
            assert answer.status in (200, 303, 422), (path, body)
