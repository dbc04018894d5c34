"""What the author of a scenario may not have meant."""

import pytest

from warex.effects import Reply
from warex.exchange import Exchange, Request
from warex.scenarios.injection.injector import Injector
from warex.scenarios.lint.linter import lint
from warex.scenarios.load import load_preset
from warex.scenarios.presets import preset_names
from warex.scenarios.preview.explain import explain
from warex.scenarios.scenario import Scenario

PAGES = {"resource": ["document"]}


def rule(
    name: str, trigger: object = None, fault: object = None, **more: object
) -> dict[str, object]:
    return {
        "name": name,
        "trigger": trigger or {"always": True},
        "fault": fault or {"kind": "http_error"},
        **more,
    }


def scenario(*rules: dict[str, object], **more: object) -> Scenario:
    return Scenario.model_validate({"name": "s", "rules": list(rules), **more})


MIXED = {name for name in preset_names() if name.startswith("mixed/")}


@pytest.mark.parametrize("name", sorted({*preset_names()} - {"paper/javascript"} - MIXED))
def test_no_preset_leaves_a_doubt(name: str) -> None:
    made = load_preset(name)
    assert lint(made) == ()
    assert "Warnings" not in explain(made)


@pytest.mark.parametrize("name", sorted(MIXED))
def test_combined_presets_warn_only_that_faults_may_meet(name: str) -> None:
    assert all("may meet" in lint for lint in lint(load_preset(name)))


def test_a_page_change_after_a_write_gives_no_warning() -> None:
    assert lint(scenario(rule("a", {"always": True}, {"kind": "popup"}))) == ()


def test_counting_parallel_scripts_gives_an_order_warning() -> None:
    (message,) = lint(load_preset("paper/javascript"))
    assert "which of them are hit can differ from run to run" in message


def doubt(*rules: dict[str, object]) -> str:
    (only,) = lint(scenario(*rules))
    return only


def test_a_rule_that_can_never_match_meets_no_other() -> None:
    lost = rule("b", match={"url": "shop.example/*"})
    assert "no URL begins like" in doubt(rule("a"), lost)


def test_what_holds_of_several_rules_is_reported_once() -> None:
    made = [rule(name, {"first": 2}, match={"url": f"https://{name}.example/*"}) for name in "abc"]
    (message,) = lint(scenario(*made))
    assert message.startswith("Rule 'a' numbers requests together")
    assert message.endswith(" The same holds of 'b' and 'c'.")


def test_losing_the_answer_of_a_write_gives_a_warning() -> None:
    lost = {"kind": "http_error", "stage": "response"}
    assert "the order was placed" in doubt(rule("a", fault=lost, match={"method": "POST"}))
    assert "the order was placed" in doubt(rule("a", fault=lost))
    assert lint(scenario(rule("a", fault=lost, match={"method": "GET"}))) == ()
    assert lint(scenario(rule("a", fault=lost, match={"resource": ["script", "image"]}))) == ()


ENDING = [
    {"kind": "session_expired"},
    {"kind": "session_expired", "login": "own", "always": True},
    {"kind": "captcha_wall", "always": True},
    {"kind": "consent_wall", "always": True},
    {"kind": "redirect_loop", "times": 3},
    {"kind": "rate_limit"},
]


@pytest.mark.parametrize("fault", ENDING)
def test_an_always_rule_for_a_fault_that_ends_gives_a_warning(fault: object) -> None:
    for all_of_them in ({"always": True}, {"every": 1}, {"probability": 1.0}):
        message = "\n".join(lint(scenario(rule("a", all_of_them, fault, match=PAGES))))
        assert "Rule 'a' hits every request, so " in message
    for some in ({"first": 1}, {"nth": [3]}, {"every": 2}, {"always": True, "between": [0, 9]}):
        message = "\n".join(lint(scenario(rule("a", some, fault, match=PAGES))))
        assert "hits every request" not in message


@pytest.mark.parametrize("fault", ENDING)
def test_an_endless_fault_survives_everything_a_browser_does(
    fault: dict[str, object],
) -> None:
    always, once = ({"always": True}, {"first": 1})
    assert _hits(rule("a", always, fault, match=PAGES)) == [True] * 40
    assert _hits(rule("a", once, fault, match=PAGES))[-1] is False


def _hits(made: dict[str, object]) -> list[bool]:
    """Ask 40 times for a page, shortly one after the other and then later.

    Each time with the cookie that passes the wall which was met the time before.
    """
    injector = Injector(scenario(made), seed=1)
    hits, cookie = [], "id=1"
    for number in range(40):
        now = number * 0.1 if number < 20 else number * 60.0
        asked = Request(
            "GET", "https://a.example/", {"sec-fetch-dest": "document", "cookie": cookie}
        )
        injections = injector.request(Exchange(f"{number}", asked), now=now).injections
        hits.append(bool(injections))
        for effect in (it for injection in injections for it in injection.effects):
            if isinstance(effect, Reply) and effect.wall_exit is not None:
                cookie = effect.wall_exit.cookie
    return hits


def test_a_page_that_is_to_redirect_to_itself_for_good_leaves_no_doubt() -> None:
    assert lint(scenario(rule("a", fault={"kind": "redirect_loop"}, match=PAGES))) == ()


def test_numbering_parallel_requests_gives_a_warning() -> None:
    first = {"first": 2}
    assert "can differ from run to run" in doubt(rule("a", first, match={"resource": "image"}))
    assert "can differ from run to run" in doubt(rule("a", first))
    for steady in (
        rule("a", first, match=PAGES),
        rule("a", first, per="url"),
        rule("a", first, match={"url_exact": "https://a.example/app.js"}),
    ):
        assert lint(scenario(steady)) == ()


def test_a_pattern_that_no_url_fits_is_reported() -> None:
    message = doubt(rule("a", match={"url": "shop.example/*"}))
    assert "no URL begins like `shop.example/*`" in message
    assert "`https://shop.example/*`" in message
    assert "has a meaning only in front" in doubt(rule("a", match={"url": "https://{sites}/x"}))


@pytest.mark.parametrize(
    ("trigger", "arm"),
    [
        ({"first": 1}, "first_llm_call"),
        ({"always": True, "after_step": 1}, None),
    ],
)
def test_a_document_rule_after_the_first_page_warns_of_single_pages(
    trigger: object, arm: str | None
) -> None:
    later = rule("page", match={"resource": ["document"]}, trigger=trigger)
    words = "a single-page site has one, loaded before, and there it may reach nothing"
    assert words in "\n".join(lint(scenario(later, arm=arm)))
    first = rule("page", match={"resource": ["document"]}, trigger={"first": 1})
    assert lint(scenario(first)) == ()


def test_changing_an_answer_of_a_write_gives_no_warning() -> None:
    assert "is applied after the site has acted" not in " ".join(
        lint(load_preset("lies/half-list"))
    )
