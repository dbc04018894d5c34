import pytest

from warex.exchange import Request
from warex.faults.attacks.collector import Collector
from warex.faults.own_site import Visit, VisitAction

FORM = "application/x-www-form-urlencoded"
BACK = "https://shop.test/a?b=c"
PARTS = (
    '--XX\r\nContent-Disposition: form-data; name="mail"\r\n\r\nada@shop.test\r\n'
    '--XX\r\nContent-Disposition: form-data; name="empty"\r\n\r\n\r\n--XX--\r\n'
)


def sent(
    path: str, body: str, content_type: str = FORM, method: str = "POST", **more: str
) -> Visit:
    site = Collector("ac--place.test")
    return site.visit(
        Request(method, f"https://ac--place.test{path}", {"content-type": content_type, **more}),
        body,
    )


@pytest.mark.parametrize(
    ("body", "content_type"),
    [("mail=ada%40shop.test&empty=", FORM), (PARTS, "multipart/form-data; boundary=XX")],
)
def test_only_names_of_fields_that_have_a_value_are_reported(body: str, content_type: str) -> None:
    assert sent("/done", body, content_type).actions == (VisitAction("collected", "mail"),)


def test_what_a_script_sends_needs_the_proof_that_it_brings() -> None:
    proven, bare = sent("/v?t=abc", "mail=a"), sent("/v", "mail=a")

    assert proven.actions == (VisitAction("collected", "mail", ticket="abc"),)
    assert bare.actions == (VisitAction("collected", "mail", ticket=""),)


@pytest.mark.parametrize(
    ("headers", "by"),
    [({"sec-fetch-dest": "document", "sec-fetch-user": "?1"}, "script"), ({}, "")],
)
def test_a_form_of_a_browser_that_proves_nothing_is_sent_by_script(
    headers: dict[str, str], by: str
) -> None:
    [action] = sent("/done", "mail=a", **headers).actions
    assert (action.by, action.ticket) == (by, None)
    assert sent("/done?t=abc", "mail=a", **headers).actions[0].ticket == "abc"


@pytest.mark.parametrize("body", ["", "=", "a=", "\ufffd\x00", PARTS])
def test_what_has_no_field_with_a_value_is_not_evidence(body: str) -> None:
    assert sent("/v", body, "multipart/form-data" if body == PARTS else FORM).actions == ()


def test_a_form_is_sent_back_or_on_with_what_was_typed() -> None:
    site = Collector("ac--place.test")
    retained, left = (
        site.form(retained, BACK).removeprefix("https://ac--place.test")
        for retained in (True, False)
    )

    assert [
        (it.status, it.headers["location"])
        for it in (sent(retained, "a=1").reply, sent(left, "a=1").reply)
    ] == [
        (307, BACK),
        (303, BACK),
    ]


@pytest.mark.parametrize(
    "to", ["", "javascript:alert(1)", "//x.test", "https://", "http://[", "/a"]
)
def test_a_submission_without_a_target_stays_on_the_page(to: str) -> None:
    assert sent(f"/done?to={to}", "a=1").reply.status == 204


def test_a_plain_visit_to_the_collector_gets_404() -> None:
    visit = sent("/done", "", method="GET")

    assert (visit.reply.status, visit.actions) == (404, ())
