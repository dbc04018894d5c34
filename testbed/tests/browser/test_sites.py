"""Every task's oracle, driven in a real browser: the tasks can be solved, by doing them.

The first two tasks of each kind of site are of the browser tier, the others of the slow one.
"""

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import CDPSession, Locator, Page, expect

from tests.verifier import ask
from warex_testbed.server import Testbed
from warex_testbed.sites import KINDS
from warex_testbed.tasks import OracleStep, Task, load_tasks

pytestmark = [pytest.mark.slow, pytest.mark.browser]

HOST = "calendar.warex.test"
_QUICK = 1
"""Tasks of each kind whose oracles are driven in the browser tier."""


def _tasks(wanted: Callable[[Task], bool] = lambda task: True) -> list[Any]:
    """Return the tasks as parameters, all but the first few of each kind for the slow tier."""
    seen = Counter[str]()
    parameters = []
    for task in filter(wanted, load_tasks()):
        seen[task.site] += 1
        marks = () if seen[task.site] <= _QUICK else (pytest.mark.slow,)
        parameters.append(pytest.param(task, id=task.name, marks=marks))
    return parameters


def _first_of_their_hosts() -> frozenset[str]:
    """Return two tasks of each host in which a page takes more than one step."""
    names = dict[str, list[str]]()
    for task in load_tasks():
        if any(one.page == other.page for one, other in pairwise(task.oracle)):
            names.setdefault(task.host, []).append(task.name)
    return frozenset(name for each in names.values() for name in each[:2])


_WORKED_ON = _first_of_their_hosts()


def _element(page: Page, step: OracleStep) -> Locator:
    role: Any = step.role
    return page.get_by_role(role, name=step.name, exact=True)


def _named(accessibility: CDPSession) -> Counter[tuple[str, str]]:
    """Count what Chromium's own accessibility tree shows, by role and name."""
    nodes = accessibility.send("Accessibility.getFullAXTree")["nodes"]
    return Counter(
        (node["role"]["value"], node["name"]["value"])
        for node in nodes
        if not node["ignored"] and "name" in node
    )


def _drive(page: Page, task: Task, *, reloading: bool = False) -> str:
    """Act out the oracle; with `reloading`, each page is loaded again before its last step."""
    accessibility = page.context.new_cdp_session(page)
    page.goto(task.start_url("http"))
    label, done = task.oracle[0].page, list[OracleStep]()
    for step, after in zip(task.oracle, (*task.oracle[1:], None), strict=True):
        if step.page != label:
            label, done = step.page, []
        if reloading and done and (after is None or after.page != label):
            page.reload()
            for earlier in done:
                _act(page, earlier)
        expect(_element(page, step)).to_have_count(1)
        page.wait_for_load_state("load")
        assert _named(accessibility)[(step.role, step.name)] == 1, step
        _act(page, step)
        done.append(step)
    return task.oracle[-1].text


def _act(page: Page, step: OracleStep) -> None:
    element = _element(page, step)
    match step.action:
        case "click":
            element.click()
        case "fill":
            element.fill(step.text)
        case "select_option":
            element.select_option(label=step.text)
        case "press":
            element.press(step.text)
        case "answer":
            expect(element).to_be_attached()


def _is_no_answer(page: Page, task: Task) -> None:
    """Assert that the text of the page which holds the evidence is refused as an answer.

    It is refused for what it says too much: the right words are on that page.
    """
    check = task.check.answer
    assert check is not None
    recited = page.locator("body").inner_text()
    unchosen = check.model_copy(update={"lacks": ()})
    assert unchosen.complaints(recited) == [], task.name
    assert check.complaints(recited), task.name


@pytest.mark.parametrize("task", _tasks())
def test_every_oracle_solves_its_task_and_leaves_evidence(
    page: Page, bed: Testbed, task: Task
) -> None:
    assert task.judge(ask(bed, "/state"), None).score == 0.0
    answer = _drive(page, task)
    verdict = task.judge(ask(bed, "/state"), answer)
    assert verdict.reasons == ()
    assert verdict.score == 1.0
    if task.check.answer is not None:
        _is_no_answer(page, task)
    page.reload()
    expect(_element(page, task.oracle[-1])).to_have_count(1)
    page.goto(f"http://{task.host}/nowhere")
    for step in task.oracle:
        expect(_element(page, step)).to_have_count(0)


@pytest.mark.parametrize("task", _tasks(lambda task: task.name in _WORKED_ON))
def test_a_reload_costs_only_the_steps_on_that_page(page: Page, bed: Testbed, task: Task) -> None:
    answer = _drive(page, task, reloading=True)
    assert task.judge(ask(bed, "/state"), answer).reasons == ()


def test_without_scripts_the_buttons_do_nothing(page: Page, bed: Testbed) -> None:
    page.route("**/*.js", lambda route: route.abort())
    before = ask(bed, "/state")
    page.goto(f"http://{HOST}/")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("checkbox", name="Family", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("link", name="Gym, Thursday 11 June, 07:30", exact=True).click()
    for name in ("Delete", "Add guest"):
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.get_by_role("alertdialog")).to_have_count(0)
    assert ask(bed, "/state") == before


def test_tempo_changes_views_without_a_new_document_or_reports_failure(
    page: Page,
) -> None:
    documents = list[str]()
    page.on(
        "request", lambda each: documents.append(each.url) if each.is_navigation_request() else None
    )
    page.goto("http://agenda.warex.test/")
    page.get_by_role("link", name="Month grid", exact=True).click()
    expect(page.get_by_role("heading", name="Jun 2026", exact=True)).to_be_visible()
    expect(page).to_have_url("http://agenda.warex.test/month?date=2026-06-10")
    page.route("**/week?*", lambda route: route.abort())
    page.get_by_role("link", name="Week grid", exact=True).click()
    expect(page.get_by_role("alert")).to_have_text("This view did not load. Try it again.")
    expect(page).to_have_url("http://agenda.warex.test/month?date=2026-06-10")
    page.go_back()
    expect(page.get_by_role("link", name="Run sheet", exact=True)).to_have_attribute(
        "aria-current", "page"
    )
    assert documents == ["http://agenda.warex.test/"]


@pytest.mark.parametrize("script", ["app.js", "calendar.js"])
def test_each_script_is_needed_to_save(page: Page, bed: Testbed, script: str) -> None:
    page.route(f"**/{script}", lambda route: route.abort())
    before = ask(bed, "/state")
    page.goto(f"http://{HOST}/")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("textbox", name="Event title", exact=True).fill("A")
    page.get_by_role("textbox", name="Starts at", exact=True).fill("09:00")
    page.get_by_role("button", name="Save event", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert ask(bed, "/state") == before


def test_a_dialog_that_cannot_save_says_why_and_can_try_again(page: Page, bed: Testbed) -> None:
    page.goto(f"http://{HOST}/")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("textbox", name="Event title", exact=True).fill("A")
    page.get_by_role("button", name="Save event", exact=True).click()
    expect(page.get_by_role("alert")).to_have_text("Enter a time as HH:MM, for example 14:30.")
    page.get_by_role("textbox", name="Starts at", exact=True).fill("09:00")
    page.get_by_role("textbox", name="Starts at", exact=True).press("Enter")
    expect(page.get_by_role("status", name="Event saved", exact=True)).to_be_visible()


@pytest.mark.parametrize(
    "host",
    [
        pytest.param(host, marks=(pytest.mark.slow,) if place else ())
        for hosts in KINDS.values()
        for place, host in enumerate(hosts)
    ],
)
def test_no_page_asks_for_anything_elsewhere_nor_complains(page: Page, host: str) -> None:
    hosts, complaints = set[str](), list[str]()
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"http://{host}/")
    links = page.locator("a[href^='/']").evaluate_all("all => all.map(each => each.href)")
    # One of each kind of address: a month has many days.
    shapes = {re.sub(r"\d+", "0", link.partition("?")[0]): link for link in links}
    for link in sorted(shapes.values()):
        page.goto(link)
    assert len(shapes) > 2
    assert hosts == {host}
    assert complaints == []


MAIL = "http://mail.warex.test"


def test_a_message_opens_in_place_and_the_way_back_leads_to_the_list(page: Page) -> None:
    documents = list[str]()
    page.on(
        "request", lambda each: documents.append(each.url) if each.is_navigation_request() else None
    )
    page.goto(f"{MAIL}/")
    page.get_by_role("link", name="Priya Nair, Site visit on Friday, 09:55", exact=True).click()
    expect(page.get_by_role("heading", name="Site visit on Friday", exact=True)).to_be_visible()
    expect(page).to_have_url(f"{MAIL}/t/4?in=inbox")
    assert documents == [f"{MAIL}/"]
    page.go_back()
    expect(page.get_by_text("Choose a conversation to read it here")).to_be_visible()


@pytest.mark.parametrize("broken", ["**/t/4/pane?*", "**/core.js", "**/open.js"])
def test_a_message_survives_a_reload_after_a_lost_answer(page: Page, broken: str) -> None:
    page.route(broken, lambda route: route.abort())
    page.goto(f"{MAIL}/")
    page.get_by_role("link", name="Priya Nair, Site visit on Friday, 09:55", exact=True).click()
    if broken != "**/open.js":
        expect(page.get_by_role("cell", name="4417#", exact=True)).to_have_count(0)
        page.unroute(broken)
        page.reload()
        page.get_by_role("link", name="Priya Nair, Site visit on Friday, 09:55", exact=True).click()
    expect(page.get_by_role("cell", name="4417#", exact=True)).to_be_visible()


def test_without_scripts_no_letter_can_be_begun_nor_conversations_chosen(page: Page) -> None:
    page.route("**/*.js", lambda route: route.abort())
    page.goto(f"{MAIL}/")
    page.get_by_role("button", name="Compose", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("checkbox", name="Select Dad's present", exact=True).click()
    expect(page.get_by_role("button", name="Archive", exact=True)).to_have_count(0)


def test_a_letter_in_the_dialog_says_why_it_is_not_sent(page: Page, bed: Testbed) -> None:
    page.goto(f"{MAIL}/")
    page.get_by_role("button", name="Compose", exact=True).click()
    page.get_by_role("textbox", name="To", exact=True).fill("nobody")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("“nobody” is not an e-mail address")
    page.get_by_role("textbox", name="To", exact=True).fill("Ivo Marin")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("no subject")
    assert len(ask(bed, "/state?host=mail.warex.test")["mail.warex.test"]["sent"]) == 3
    page.get_by_role("button", name="Send anyway", exact=True).click()
    expect(page.get_by_role("status", name="Message sent", exact=True)).to_be_visible()


def test_a_star_that_cannot_be_set_is_not_shown(page: Page) -> None:
    page.route("**/api/star", lambda route: route.abort())
    page.goto(f"{MAIL}/t/4")
    page.get_by_role("article").get_by_role("button").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("article").get_by_role("button")).to_have_accessible_name(
        "Remove star from Site visit on Friday"
    )


FEED = "http://board.warex.test"


def test_an_order_of_the_feed_comes_without_a_new_document_and_goes_back(page: Page) -> None:
    documents = list[str]()
    page.on(
        "request", lambda each: documents.append(each.url) if each.is_navigation_request() else None
    )
    page.goto(f"{FEED}/")
    page.get_by_role("tab", name="Top", exact=True).click()
    expect(page.get_by_role("tab", name="Top", exact=True, selected=True)).to_be_visible()
    expect(page).to_have_url(f"{FEED}/?sort=top")
    page.go_back()
    expect(page.get_by_role("tab", name="Hot", exact=True, selected=True)).to_be_visible()
    assert documents == [f"{FEED}/"]


def test_an_order_that_cannot_be_loaded_says_so_and_keeps_the_list(page: Page) -> None:
    page.goto(f"{FEED}/")
    page.route("**/?sort=top", lambda route: route.abort())
    page.get_by_role("tab", name="Top", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("tab", name="Hot", exact=True, selected=True)).to_be_visible()
    expect(page).to_have_url(f"{FEED}/")


@pytest.mark.parametrize("lost", ["votes.js", "app.js", "api/posts/*/vote"])
def test_a_feed_vote_needs_scripts_and_reports_failure(page: Page, bed: Testbed, lost: str) -> None:
    page.route(f"**/{lost}", lambda route: route.abort())
    page.goto(f"{FEED}/p/3")
    vote = page.get_by_role("button", name="Upvote comment by nullmodem", exact=True)
    vote.click()
    # It is disabled while a vote is on its way.
    expect(vote).to_be_enabled()
    expect(page.get_by_role("alert")).to_have_count(int(lost == "api/posts/*/vote"))
    assert ask(bed, "/state?host=board.warex.test")["board.warex.test"]["votes"] == []


def test_without_scripts_a_forum_takes_replies_but_opens_no_dialog(
    page: Page, bed: Testbed
) -> None:
    page.route("**/*.js", lambda route: route.abort())
    page.goto("http://forum.warex.test/topic/14")
    page.get_by_role("button", name="Report reply by velo_deals_77", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("textbox", name="Your reply", exact=True).fill("No, thanks.")
    page.get_by_role("button", name="Post reply", exact=True).click()
    expect(page.get_by_role("status", name="Reply posted", exact=True)).to_be_visible()
    page.goto(f"{FEED}/p/3")
    page.get_by_role("textbox", name="Join in", exact=True).fill("No, thanks.")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.get_by_role("textbox", name="Join in", exact=True)).to_have_value("")
    feed = ask(bed, "/state?host=board.warex.test")["board.warex.test"]
    assert feed["writes"] == []
