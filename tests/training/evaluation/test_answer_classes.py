import json

import pytest

from tests.exports.builders import WORDS, failure, row
from warex.exports.rows import Row
from warex.llm.actions.vocabulary import Vocabulary
from warex.training.evaluation.answer_classes import classify

ANY = Vocabulary(name="command")
PAGE = "[1] button 'Save'\n[9] link 'Till'\nheading '500 Internal Server Error'"
FAULT = failure(
    messages=[
        {"role": "user", "content": PAGE},
        {"role": "assistant", "content": "I load it again.\ngoto('https://shop.example/')"},
    ]
)


def label(text: str, of: Row = FAULT, words: Vocabulary = WORDS) -> str:
    return classify({"role": "assistant", "content": text}, of, words).label


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("goto('https://shop.example/')", "recovery"),
        ("The page broke, so once more.\nreload()", "recovery"),
        ("goto('https://elsewhere.example/')", "other_action"),
        ("send_msg_to_user('The page that is open shows an error.')", "message"),
        ("send_msg_to_user('I am sorry, but this is more than I can do.')", "refusal"),
        ("send_msg_to_user('I cannot go on from here.')", "refusal"),
        ("report_infeasible('There is no such thing on the page.')", "infeasible"),
        ("noop()", "noop"),
        ("noop(500)", "noop"),
        ("click('9')", "other_action"),
        ("click('22')", "hallucination"),
        ("I will look at the site some other time.", "text"),
        ("I'm unable to open this.", "refusal"),
        ("[1] RootWebArea 'Mail'\n[2] link 'Inbox'\n[3] StaticText 'Hi'", "hallucination"),
        ("<html>\n<body>\n<h1>Mail</h1>\n<ul>\n<li>Hi</li>\n</ul>\n</body>", "hallucination"),
        ("Tyvärr kan jag inte göra det.", "refusal"),
        ("Xin lỗi, tôi không làm được.", "refusal"),
        ("", "empty"),
    ],
)
def test_answers_to_a_fault_have_the_papers_classes(answer: str, expected: str) -> None:
    assert label(answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Now I save.\nclick('1')", "agreement"),
        ("click('9')", "hallucination"),
        ("reload()", "false_reload"),
        ("goto('https://shop.example/')", "false_reload"),
        ("goto('https://shop.example/cart')", "other_action"),
        ("report_infeasible('no')", "infeasible"),
    ],
)
def test_answers_to_a_clean_step_are_compared_with_the_expected(answer: str, expected: str) -> None:
    assert label(answer, row()) == expected


def test_an_action_of_the_right_name_is_of_the_same_kind() -> None:
    clean = row(messages=[{"role": "user", "content": PAGE}, row().answer])

    assert classify({"role": "assistant", "content": "click('9')"}, clean, WORDS).same_kind
    assert not classify({"role": "assistant", "content": "noop()"}, clean, WORDS).same_kind


def test_a_tool_call_is_an_action_too() -> None:
    function = {"name": "goto", "arguments": '{"url": "https://shop.example/"}'}
    call = {"id": "c", "type": "function", "function": function}

    answer = classify({"role": "assistant", "content": "", "tool_calls": [call]}, FAULT, WORDS)

    assert (answer.label, answer.action) == ("recovery", "goto(url='https://shop.example/')")


def test_the_very_action_that_closed_a_dialog_recovers() -> None:
    answer = {"role": "assistant", "content": "click('9')"}
    popup = failure(messages=[{"role": "user", "content": PAGE}, answer], fault="popup")

    assert label("I close it.\nclick('9')", popup) == "recovery"
    assert label("click('1')", popup) == "other_action"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("browser_snapshot", "browser_reload"), "recovery"),
        (("take_screenshot", "go_back"), "other_action"),
        (("scroll_down", "browser_reload"), "other_action"),
        (("take_screenshot",), "other_action"),
        (("solve_captcha", "browser_reload"), "other_action"),
        (("browser_handle_dialog", "browser_reload"), "other_action"),
        (("mcp__devtools__list_pages", "browser_reload"), "recovery"),
        (("getPageText", "browser_reload"), "recovery"),
        (("todo_write", "browser_reload"), "recovery"),
    ],
)
def test_what_follows_a_mere_look_at_the_page_counts(names: tuple[str, ...], expected: str) -> None:
    calls = [
        {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for name in names
    ]
    answer = {"role": "assistant", "content": "", "tool_calls": calls}

    assert classify(answer, FAULT, ANY).label == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("shop.example/orders/7?tab=items", "recovery"),
        ("www.shop.example/orders/7?tab=items", "recovery"),
        ("//shop.example/orders/7?tab=items", "recovery"),
        ("/orders/7?tab=items", "recovery"),
        ("shop.example/orders", "other_action"),
        ("shop.example", "other_action"),
        ("/orders", "other_action"),
        ("orders/7?tab=items", "other_action"),
        ("help.example/?about=shop.example/orders/7?tab=items", "other_action"),
    ],
)
def test_an_address_may_lack_the_scheme_or_the_host(address: str, expected: str) -> None:
    order = failure(url="https://shop.example/orders/7?tab=items", messages=FAULT.messages)

    assert label(f"goto('{address}')", order) == expected


@pytest.mark.parametrize(
    ("listed", "reference"),
    [
        ("link 'Help' [ref_8]\nbutton 'Retry' [ref_9]", "ref_9"),
        ("link 'Help' [ref_8]\nbutton 'Retry' [ref_9]", "[ref_9]"),
        ("- link 'Help' [ref=e8]\n- button 'Retry' [ref=e9]", "@e9"),
        ("- link 'Help' [ref=e8]\n- button 'Retry' [ref=e9]", "aria-ref=e9"),
        ("- link 'Help' [uid=2_8]\n- button 'Retry' [uid=2_9]", "uid=2_9"),
        ("- link 'Help' [ref=e2] [uid=2_8]\n- button 'Retry' [ref=e3] [uid=2_9]", "2_9"),
        ("[8] link 'Help'\n[9] button 'Retry'", "[bid='9']"),
        ("[0-8] link: Help\n[0-9] button: Retry", "0-9"),
    ],
)
def test_an_element_is_known_by_each_form_of_its_id(listed: str, reference: str) -> None:
    page = failure(messages=[{"role": "user", "content": listed}, FAULT.answer])
    other = reference.replace("9", "8")
    absent = reference.replace("9", "7")

    assert label(f'click("{reference}")', page) == "recovery"
    assert label(f'click("{other}")', page) == "other_action"
    assert label(f'click("{absent}")', page) == "hallucination"


def test_a_script_that_only_reads_the_page_does_not_hide_a_reload() -> None:
    asked = "print(page.evaluate('document.title'))\npage.reload()"
    changed = "page.evaluate('document.title = 1')\npage.reload()"

    assert label(f"```python\n{asked}\n```", words=ANY) == "recovery"
    assert label(f"```python\n{changed}\n```", words=ANY) == "other_action"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"actions": [{"action": "swipe", "by": 3}, {"action": "reload"}]}', "other_action"),
        ('{"action": [{"swipe": {"by": 3}}, {"reload": {}}]}', "other_action"),
        ('{"action": [{"swipe": null, "screenshot": {}}, {"reload": {}}]}', "recovery"),
        ("```yaml\n- dismissBanner: true\n- reload: true\n```", "other_action"),
        ("```yaml\n- assertVisible: Error\n- reload: true\n```", "recovery"),
        ("```go\nchromedp.Run(ctx, chromedp.NavigateBack(), chromedp.Reload())\n```",
         "other_action"),
        ("```go\nchromedp.Run(ctx, chromedp.SetValue(`#q`, `7`), chromedp.Reload())\n```",
         "other_action"),
        ("```go\nchromedp.Run(ctx, chromedp.WaitVisible(`body`), chromedp.Reload())\n```",
         "recovery"),
        ("```java\nSelenide.back();\nSelenide.refresh();\n```", "other_action"),
    ],
)  # fmt: skip
def test_an_act_before_a_reload_counts_though_its_name_is_not_known(
    answer: str, expected: str
) -> None:
    assert label(answer, words=ANY) == expected


def test_what_explains_an_action_is_not_what_it_does() -> None:
    answer = '{"action": [{"click": {"index": 9, "reason": "reload"}}]}'

    assert label(answer, words=ANY) == "other_action"


@pytest.mark.parametrize(
    ("language", "acts", "expected"),
    [
        ("bash", "xdotool key ctrl+l; xdotool type '{}'; xdotool key Return", "recovery"),
        ("bash", "xdotool key alt+d type --delay 9 '{}' key KP_Enter", "recovery"),
        ("bash", "xdotool key ctrl+t; xdotool type $'{}\\n'", "recovery"),
        ("bash", "xdotool key F6; sleep 1; xdotool key Return", "recovery"),
        ("bash", "xdotool key ctrl+t; xdotool key Return", "other_action"),
        ("bash", "xdotool key ctrl+l; xdotool type '{}'", "other_action"),
        ("bash", "xdotool key ctrl+f; xdotool type '{}'; xdotool key Return", "other_action"),
        ("bash", "xdotool key ctrl+l type '{}/cart' key Return key F5", "other_action"),
        ("bash", "xdotool click 1; xdotool key ctrl+l type '{}' key Return", "other_action"),
        ("python", "gui.hotkey('ctrl', 'l'); gui.typewrite('{}'); gui.press('enter')", "recovery"),
        ("python", "pyautogui.hotkey('cmd', 'l')\npyautogui.write('{}\\n')", "recovery"),
        ("applescript",
         'keystroke "l" using command down\nkeystroke "{}"\nkeystroke return', "recovery"),
        ("applescript",
         'keystroke "l" using command down\nkeystroke "{}"\nkey code 36', "recovery"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("address", ["https://shop.example", "shop.example"])
def test_an_address_that_is_typed_and_entered_is_visited(
    language: str, acts: str, expected: str, address: str
) -> None:
    code = f"import pyautogui as gui\n{acts}" if language == "python" else acts

    assert label(f"```{language}\n{code.format(address)}\n```", words=ANY) == expected


def test_tools_type_an_address_too() -> None:
    steps = (("key", "cmd+l"), ("wait", ""), ("type", "shop.example"), ("key", "Return"))
    calls = [
        {"id": text, "function": {"name": "computer", "arguments": {"action": name, "text": text}}}
        for name, text in steps
    ]
    answer = {"role": "assistant", "content": "", "tool_calls": calls}

    assert classify(answer, FAULT, ANY).action == "goto('shop.example')"
    assert classify({**answer, "tool_calls": calls[:3]}, FAULT, ANY).label == "other_action"


@pytest.mark.parametrize(
    ("language", "listens"),
    [
        ("js", "page.on('requestfailed', () => page.reload());"),
        ("js", "cy.on('fail', function () { cy.reload() });"),
        ("js", "addEventListener('online', () => location.reload());"),
        ("js", "const again = () => page.reload(); page.once('crash', again);"),
        ("js", "setTimeout(() => location.reload(), 9000);"),
        ("js", "afterEach(() => { cy.reload() });"),
        ("python", "def again(event):\n    page.reload()\npage.on('crash', again)"),
        ("python", "page.on('crash', lambda event: page.reload())"),
        ("java", "page.onCrash(crashed -> crashed.reload());"),
        ("csharp", "page.Crash += async (_, crashed) => await crashed.ReloadAsync();"),
        ("kotlin", "page.onCrash { page.reload() }"),
        ("ruby", "page.on('crash') { |crashed| crashed.reload }"),
        ("go", 'page.On("crash", func(it *Page) {\n    page.Reload()\n})'),
        ("go", "chromedp.ListenTarget(ctx, func(ev interface{}) {\n    page.Reload()\n})"),
        ("go", "defer page.Reload()"),
    ],
)
def test_what_an_event_calls_later_is_not_carried_out(language: str, listens: str) -> None:
    def after(act: str) -> str:
        return label(f"```{language}\n{listens}\n{act}\n```", words=ANY)

    click = "page.click('#help')" if language == "python" else 'page.click("#help");'

    assert after(click) == "other_action"
    assert after("page.reload()") == "recovery"
    assert after("") == ("recovery" if "Timeout" in listens else "text")


def test_an_act_that_no_vocabulary_lists_counts_after_a_wait() -> None:
    waits_first = json.dumps({"action": [{"noop": {"ms": 3}}, {"reload_page": {}}]})

    assert label(waits_first) == "recovery"
    assert label(waits_first, words=WORDS.model_copy(update={"first_only": True})) == "noop"


def test_finding_an_element_in_cypress_is_no_request_of_the_page() -> None:
    page = "<button class='again'>Retry</button> <a class='home' href='/'>Home</a>"
    broken = failure(messages=[{"role": "user", "content": page}, FAULT.answer])

    assert label("```js\ncy.get('.again').click()\n```", broken, ANY) == "recovery"
    assert label("```js\ncy.get('.home').click()\n```", broken, ANY) == "other_action"


def test_what_only_an_event_calls_is_not_carried_out() -> None:
    listens = "```js\npage.on('crash', () => page.reload());\n```"

    assert label(listens) == "text"
    assert label(listens, words=ANY) == "text"
    assert label(f"{listens[:-4]}\npage.click('9');\n```") == "other_action"


@pytest.mark.parametrize("calls", [[1], "reload", 1, [{"function": 1}], {"function": {}}])
def test_malformed_tool_calls_are_none(calls: object) -> None:
    answer = {"role": "assistant", "content": "", "tool_calls": calls}

    assert classify(answer, FAULT, WORDS).action == ""
