import json

import pytest

from warex.effects import Reply
from warex.exchange import Exchange, Request, SiteLook
from warex.faults import FaultState
from warex.faults.world.write_conflict import WriteConflict
from warex.scenarios import Match, Rule, Trigger
from warex.scenarios.matching.candidate import Candidate, rule_matcher
from warex.seeds import KeyedRng

FORM = "https://notes.test/notes/3/edit?tab=1"
PAGE = {"accept": "text/html", "sec-fetch-dest": "document"}
DATA = {"sec-fetch-dest": "empty", "sec-fetch-mode": "cors"}


def saved(
    url: str = "https://notes.test/notes/3",
    method: str = "POST",
    digest: str = "",
    **headers: str,
) -> Exchange:
    return Exchange("1", Request(method, url, headers or {"referer": FORM, **PAGE}, digest))


def loaded(url: str, headers: dict[str, str] | None = None) -> Exchange:
    return Exchange("2", Request("GET", url, PAGE if headers is None else headers))


def refused(
    fault: WriteConflict, exchange: Exchange, state: FaultState | None = None
) -> tuple[Reply, FaultState]:
    (reply,), state = fault.effects(exchange, state or {}, KeyedRng(1, "rule"))
    assert isinstance(reply, Reply)
    return reply, state


def test_a_form_is_answered_with_a_page_that_leads_back_to_it() -> None:
    reply, _ = refused(WriteConflict(), saved())

    assert reply.status == 409
    assert b'href="/notes/3/edit?tab=1"' in reply.body
    assert b'role="alert"' in reply.body


def test_the_page_looks_and_speaks_like_the_site() -> None:
    look = SiteLook(name="Notizen", language="de", ground="#fffdf0", ink="#221100")
    exchange = Exchange("1", saved().request, look=look)
    text = refused(WriteConflict(), exchange)[0].body.decode()

    assert '<html lang="de"' in text
    assert "#fffdf0" in text
    assert "in der Zwischenzeit" in text


@pytest.mark.parametrize(
    ("inputs", "headers", "status"),
    [(None, {}, 409), (None, {"if-match": '"1"'}, 412), (409, {"if-match": '"1"'}, 409)],
)
def test_a_script_gets_json_and_412_where_it_names_a_version(
    inputs: int | None, headers: dict[str, str], status: int
) -> None:
    fault = WriteConflict.model_validate({"status": inputs})
    reply, _ = refused(fault, saved(method="PUT", **DATA, **headers))

    assert reply.status == status
    assert isinstance(json.loads(reply.body), dict)


def test_graphql_has_errors_of_its_own_form() -> None:
    reply, _ = refused(WriteConflict(), saved("https://notes.test/graphql", **DATA))

    assert json.loads(reply.body)["errors"][0]["extensions"] == {"code": "CONFLICT"}


def test_an_immediate_second_save_is_refused_again() -> None:
    fault = WriteConflict()
    _, state = refused(fault, saved())

    assert fault.still_applies(saved(), state)
    assert not fault.still_applies(saved("https://notes.test/notes/4"), state)
    assert not WriteConflict(until="retry").still_applies(saved(), state)


@pytest.mark.parametrize(
    ("url", "headers", "loads"),
    [
        (FORM, PAGE, True),
        ("https://notes.test/notes/3", PAGE, True),
        ("https://notes.test/", PAGE, False),
        ("https://other.test/notes/3/edit", PAGE, False),
        ("https://notes.test/notes/3", DATA, True),
        ("https://notes.test/notes", DATA, True),
        ("https://notes.test/users", DATA, False),
        ("https://notes.test/notes/3.png", {"sec-fetch-dest": "image"}, False),
    ],
)
def test_a_save_after_a_reload_succeeds(url: str, headers: dict[str, str], loads: bool) -> None:
    fault = WriteConflict()
    _, state = refused(fault, saved())
    state = fault.observed(state, loaded(url, headers))

    assert fault.still_applies(saved(), state) is not loads


def test_without_a_known_form_any_page_of_the_site_is_the_one() -> None:
    fault = WriteConflict()
    save = saved(referer="https://notes.test/", **DATA)
    _, state = refused(fault, save)

    assert not fault.still_applies(save, fault.observed(state, loaded("https://notes.test/")))


def test_only_the_same_operation_at_a_shared_url_is_refused_again() -> None:
    fault = WriteConflict()
    _, state = refused(fault, saved("https://notes.test/graphql", digest="a", **DATA))

    assert fault.still_applies(saved("https://notes.test/graphql", digest="a", **DATA), state)
    assert not fault.still_applies(saved("https://notes.test/graphql", digest="b", **DATA), state)


def test_a_rule_without_methods_is_about_saves() -> None:
    def matches(match: Match, method: str) -> bool:
        rule = Rule(name="r", match=match, trigger=Trigger(first=1), fault=WriteConflict())
        exchange = Exchange("1", Request(method, "https://notes.test/notes/3", DATA))
        return rule_matcher(rule, ())(Candidate.of(exchange))

    assert [it for it in ("GET", "POST", "PUT", "PATCH") if matches(Match(), it)] == [
        "POST", "PUT", "PATCH",
    ]  # fmt: skip
    assert matches(Match(method=("DELETE",)), "DELETE")
    assert not matches(Match(method=("DELETE",)), "POST")
