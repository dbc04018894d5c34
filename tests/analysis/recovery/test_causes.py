"""One answer of the model, and the request that comes after it."""

from typing import Any

import pytest

from tests.analysis.trajectories.trace_builder import build_trace
from warex.analysis.recovery import recoveries
from warex.benchmarks import benchmark_kind

WORDS = benchmark_kind("testbed").vocabulary


def _verdict(answer: str, wait: float, url: str = "/cart", **told_of_it: bool) -> str:
    story: list[dict[str, Any]] = [
        {"page": "/"},
        {"page": "/cart", "fault": 500},
        {"model": answer},
        {"wait": wait},
        {"page": url, **told_of_it},
    ]
    [recovery] = recoveries(build_trace(story, WORDS), WORDS)
    return recovery.verdict


@pytest.mark.parametrize(
    "answer", ["reload()", "goto('https://shop.example/cart')", "goto('/cart')", "go_back()"]
)
def test_an_action_that_loads_a_page_explains_it_for_twelve_seconds(answer: str) -> None:
    assert _verdict(answer, 11) == "recovered"
    assert _verdict(answer, 13) == "healed_by_page"


def test_a_click_needs_the_browser_s_word_for_a_gesture() -> None:
    assert _verdict("click('3')", 1, user=True) == "recovered"
    assert _verdict("click('3')", 1) == "healed_by_page"


def test_without_fetch_metadata_a_click_explains_for_five_seconds() -> None:
    assert _verdict("click('3')", 4, fetch_metadata=False) == "recovered"
    assert _verdict("click('3')", 6, fetch_metadata=False) == "healed_by_page"


@pytest.mark.parametrize("answer", ["noop()", "scroll('down')", "send_msg_to_user('42')"])
def test_an_action_without_a_request_explains_no_page(answer: str) -> None:
    assert _verdict(answer, 1, user=True) != "recovered"


def test_another_address_does_not_explain_the_page() -> None:
    assert _verdict("goto('https://shop.example/help')", 1, user=True) == "healed_by_page"
    assert _verdict("goto('https://other.example/cart')", 1, user=True) == "healed_by_page"


def _program_verdicts(*story: dict[str, Any]) -> list[str]:
    programs = {"by": "python-httpx/0.27", "resource": "other"}
    made = [line if "model" in line else line | programs for line in story]
    return [recovery.verdict for recovery in recoveries(build_trace(made, None), None)]


def _cell(code: str) -> dict[str, Any]:
    return {"model": f"```python\n{code}\n```"}


def test_code_asks_again_through_a_name_of_an_earlier_answer() -> None:
    first = _cell("import httpx\nPRICES = 'https://shop.example/prices.json'\nhttpx.get(PRICES)")
    fault = {"fetch": "/prices.json", "fault": 502}
    again = {"fetch": "/prices.json"}

    assert _program_verdicts(first, fault, _cell("httpx.get(PRICES).json()"), again) == [
        "recovered"
    ]
    assert _program_verdicts(first, fault, _cell("print(PRICES)"), again) == ["healed_by_client"]


def test_a_loop_in_a_helper_of_an_earlier_answer_is_the_model_s_own() -> None:
    helper = (
        "def load(path):\n    while True:\n        try:\n"
        "            return httpx.get('https://shop.example' + path)\n"
        "        except httpx.HTTPError:\n            pass"
    )
    fault, again = {"fetch": "/stock", "fault": "cut"}, {"fetch": "/stock"}

    assert _program_verdicts(_cell(helper), _cell("load('/stock')"), fault, again) == ["recovered"]
    assert _program_verdicts(
        _cell(helper), _cell("httpx.get('https://shop.example/stock')"), fault, again
    ) == ["healed_by_client"]


FETCH = {"fetch": "/api/cart", "of": "/cart"}


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("fetch('/api/cart').then(r => r.json())", "recovered"),
        ("const id = 'cart'; await fetch(`/api/${id}`)", "recovered"),
        ("await fetch('api/' + name)", "recovered"),
        ("for (const name of names) await fetch('/api/' + name)", "recovered"),
        ("fetch('/api/news')", "healed_by_page"),
        ("fetch('/news/' + name)", "healed_by_page"),
        ("const fetcher = fetch; await fetch(address)", "recovered"),
        ("loadCart(3)", "recovered"),
        ("$.getJSON('/api/cart', show)", "recovered"),
        ('new EventSource("/api/cart")', "recovered"),
        ("window.dispatchEvent(new Event('online'))", "recovered"),
        ("document.title", "healed_by_page"),
    ],
)
def test_a_fetch_by_the_model_s_code_in_the_page_is_its_own(code: str, verdict: str) -> None:
    run = {
        "model": {"text": "", "tools": [{"name": "run_javascript", "arguments": {"code": code}}]}
    }
    story: list[dict[str, Any]] = [{"page": "/cart"}, FETCH | {"fault": 503}, run, FETCH]

    [recovery] = recoveries(build_trace(story, None), None)

    assert recovery.verdict == verdict


def test_a_program_is_redirected_to_what_it_had_lost() -> None:
    fault, again = {"fetch": "/v2/prices", "fault": 502}, {"fetch": "/v2/prices"}
    ask = _cell("httpx.get('https://shop.example/prices', follow_redirects=True)")
    redirect = {"fetch": "/prices", "status": 307}

    assert _program_verdicts(ask, fault, ask, redirect, again) == ["recovered"]
    assert _program_verdicts(ask, fault, ask, {"fetch": "/prices"}, again) == ["healed_by_client"]


@pytest.mark.parametrize(
    ("between", "verdict"),
    [
        ([{"model": "goto('https://shop.example/')"}, {"page": "/"}], "recovered"),
        ([{"model": "go_back()"}], "recovered"),
        ([{"model": "scroll('down')"}], "healed_by_browser"),
    ],
)
def test_a_reload_after_leaving_the_error_page_is_not_chromiums(
    between: list[dict[str, Any]], verdict: str
) -> None:
    story: list[dict[str, Any]] = [
        {"page": "/"},
        {"page": "/cart", "fault": "cut"},
        *between,
        {"model": "click('3')"},
        {"page": "/cart", "user": True},
    ]

    [recovery] = recoveries(build_trace(story, WORDS), WORDS)

    assert recovery.verdict == verdict


def test_an_invalid_address_in_an_action_names_no_request() -> None:
    assert _verdict("goto('//[')", 1) == "healed_by_page"


@pytest.mark.parametrize(
    ("second", "verdict"),
    [
        ("fill('note', 'tea')", "recovered"),
        ("fill('name', 'Ann')", "healed_by_page"),
        ("click('help')", "healed_by_page"),
    ],
)
def test_a_page_may_send_what_was_typed_again_only_while_the_model_waits(
    second: str, verdict: str
) -> None:
    save = {"fetch": "/note", "method": "PUT", "of": "/notes", "body": 3}
    story: list[dict[str, Any]] = [
        {"page": "/notes"},
        {"wait": 4},
        {"model": "fill('note', 'tea')"},
        {"model": "noop()"},
        save | {"fault": 500},
        {"model": second},
        {"model": "noop()"},
        save,
    ]

    [recovery] = recoveries(build_trace(story, WORDS), WORDS)

    assert recovery.verdict == verdict


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("for number, page in enumerate(PAGES):\n    client.get(page)", "recovered"),
        ("client.get('%s/rates' % HOST)", "recovered"),
        ("client.get('/rates')", "recovered"),
        ("client.get(f'https://shop.example/{NAME}')", "recovered"),
        ("client.get('/news')", "healed_by_client"),
        ("client.get(f'https://shop.example/news/{NAME}')", "healed_by_client"),
        ("client.get('https://shop.example/news')", "healed_by_client"),
    ],
)
def test_a_program_may_compute_the_address_that_it_asks_for(code: str, verdict: str) -> None:
    ask = _cell("client.get('https://shop.example/rates')")
    fault, again = {"fetch": "/rates", "fault": 503}, {"fetch": "/rates"}

    assert _program_verdicts(ask, fault, _cell(code), again) == [verdict]


def test_a_script_that_an_earlier_answer_wrote_asks_again_when_it_is_run() -> None:
    script = "cat > rates.sh <<'X'\ncurl -s https://shop.example/rates\nX\nsh rates.sh"
    fault, again = {"fetch": "/rates", "fault": 503}, {"fetch": "/rates"}

    def verdict(command: str) -> str:
        first, then = ({"model": f"```bash\n{text}\n```"} for text in (script, command))
        [names] = _program_verdicts(first, fault, then, again)
        return names

    assert verdict("sh ./rates.sh | head") == "recovered"
    assert verdict("sh ./news.sh") == "healed_by_client"


def test_waiting_for_an_address_does_not_ask_for_it() -> None:
    wait = _cell("page.wait_for_response('https://shop.example/api/cart')")
    story: list[dict[str, Any]] = [{"page": "/cart"}, FETCH | {"fault": 503}, wait, FETCH]

    [recovery] = recoveries(build_trace(story, None), None)

    assert recovery.verdict == "healed_by_page"


def test_back_and_forward_in_the_same_code_lead_to_the_page_again() -> None:
    story: list[dict[str, Any]] = [
        {"page": "/"},
        {"page": "/cart", "fault": "cut"},
        _cell("driver.back()\ndriver.forward()"),
        {"wait": 0.3},
        {"page": "/cart", "user": True},
    ]

    [recovery] = recoveries(build_trace(story, None), None)

    assert recovery.verdict == "recovered"


@pytest.mark.parametrize(
    ("last", "verdict"), [("#beds", "recovered"), ("#rooms", "healed_by_page")]
)
def test_the_way_there_once_more_explains_what_its_last_step_fetches(
    last: str, verdict: str
) -> None:
    def clicks(*targets: str) -> dict[str, Any]:
        lines = "\n".join(f"page.click('{target}')" for target in targets)
        return {"model": f"```python\n{lines}\n```"}

    hurt = {"fetch": "/beds.json", "of": "/"}
    story: list[dict[str, Any]] = [
        *({"page": "/"}, clicks("#beds"), hurt | {"fault": 500}),
        *(clicks("#home", last), {"fetch": "/home.json", "of": "/"}, hurt),
    ]
    [recovery] = recoveries(build_trace(story, None), None)
    assert recovery.verdict == verdict
