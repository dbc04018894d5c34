import json
from collections.abc import Mapping
from typing import Any

import pytest

from warex.llm.actions.base import Action
from warex.llm.actions.guess import defined_by_answer, guess_actions
from warex.llm.actions.name_heuristics import action_kind_with_arguments
from warex.llm.actions.python_code import NOTHING_DEFINED
from warex.llm.base import ToolCall

SHOP = "https://shop.example/"


def _call(name: str, arguments: Any) -> ToolCall:
    inputs = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall("1", name, inputs)


def _kinds(text: str, *calls: ToolCall) -> list[tuple[str, str | None]]:
    return [(action.name, _kind(action)) for action in guess_actions(text, calls)]


def _kind(action: Action) -> str | None:
    arguments = action.arguments
    return action_kind_with_arguments(
        action.name, dict(arguments) if isinstance(arguments, Mapping) else list(arguments)
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The page failed.\nrefresh()", ["refresh"]),
        ('```python\nawait page.goto("https://shop.example/")\n```', ["goto"]),
        ("Thought: blank page.\nAction: Refresh", ["Refresh"]),
        ('{"action": [{"refresh_page": {}}, {"done": {"text": "ok"}}]}', ["refresh_page", "done"]),
        ("I could reload() it, but I do not.", []),
        ("click('3')  # then reload()", ["click"]),
        ('{"type": "keypress", "keys": ["ALT", "LEFT"]}', ["keypress"]),
        ("Next engine: Navigation Controls\n-----\nInstruction: WAIT", ["WAIT"]),
        ("```js\nawait driver.navigate().refresh();\n```", ["refresh"]),
        ("<think>reload()</think>\nIt failed.", []),
        ("wait", []),
        ("The order was placed.", []),
        ("", []),
    ],
)
def test_actions_are_read_without_a_vocabulary(text: str, names: list[str]) -> None:
    assert [action.name for action in guess_actions(text, ())] == names


def test_a_tool_call_s_name_and_arguments_are_read() -> None:
    call = _call("browser_navigate", {"url": SHOP})
    empty = ToolCall("2", "browser_reload", "")

    assert [(a.name, a.arguments) for a in guess_actions("", [call, empty])] == [
        ("browser_navigate", {"url": SHOP}),
        ("browser_reload", {}),
    ]


@pytest.mark.parametrize(
    ("code", "actions"),
    [
        (f'print(visit_webpage(url="{SHOP}"))', [("visit_webpage", "goto")]),
        (f'url = "{SHOP}"\npage = visit_webpage(url)\nprint(page)', [("visit_webpage", "goto")]),
        (
            f'go_to("{SHOP}")\nclick("Buy")\nwrite("x", into="Name")\nrefresh()',
            [("go_to", "goto"), ("click", "click"), ("write", "type"), ("refresh", "reload")],
        ),
        (
            f'from selenium import webdriver\nw = webdriver.Chrome()\nw.get("{SHOP}")\nw.refresh()',
            [("w.get", "goto"), ("refresh", "reload")],
        ),
        ("u = page.url\npage.goto(u)", [("goto", "reload")]),
        (
            f'import httpx as h\nh.post("{SHOP}", data={{"a": 1}})\ntime.sleep(2)',
            [("h.post", "goto"), ("sleep", "wait")],
        ),
        ('driver.execute_script("location.reload()")', [("reload", "reload")]),
        (f"import subprocess\nsubprocess.run(['curl', '{SHOP}'])", [("curl", "goto")]),
        ('final_answer("It costs $5")', [("final_answer", "finish")]),
    ],
)
def test_python_of_a_code_agent_is_read(code: str, actions: list[tuple[str, str]]) -> None:
    assert _kinds(f"Thought: now.\n<code>\n{code}\n</code>") == actions
    assert _kinds(f"Thought: now.\n<code>\n{code}\n") == actions
    assert _kinds(f"Thought: now.\n```py\n{code}\n```<end_code>") == actions
    assert _kinds("", _call("python_interpreter", {"code": code})) == actions
    assert _kinds("", _call("run", {"code": code, "language": "python"})) == actions


@pytest.mark.parametrize(
    "code",
    [
        "import re\nm = re.search('a', page_text)\nprint(re.findall('a', page_text))",
        "rows = [1]\nrows.insert(0, 2)\nrows.clear()\n'a b'.find('b')\nprint(set(rows))",
        "from bs4 import BeautifulSoup\nsoup = BeautifulSoup(html)\nsoup.select('a')",
        "with open('notes.txt') as notes:\n    notes.write('x')",
        "page.set_default_timeout(5)\ndriver.implicitly_wait(10)",
        "def unused():\n    page.reload()",
    ],
)
def test_what_code_does_with_data_is_not_an_action(code: str) -> None:
    assert _kinds(f"<code>\n{code}\n</code>") == []


def test_a_call_in_a_loop_is_one_action_that_says_so() -> None:
    code = f'for i in range(3):\n    try:\n        visit("{SHOP}")\n    except E:\n        pass'

    assert guess_actions(f"<code>{code}</code>", ()) == (Action("visit", (SHOP,), "loop"),)


@pytest.mark.parametrize(
    ("name", "arguments", "actions"),
    [
        (
            "bash",
            {"command": f"agent-browser open {SHOP} && agent-browser click @e3; sleep 2"},
            [("open", "goto"), ("click", "click"), ("sleep", "wait")],
        ),
        ("Bash", {"command": "agent-browser reload"}, [("reload", "reload")]),
        ("run_terminal_cmd", {"command": f"curl -s {SHOP} | head"}, [("curl", "goto")]),
        ("shell", {"command": ["bash", "-lc", f"wget {SHOP}"]}, [("wget", "goto")]),
        ("shell_call", {"action": {"commands": ["playwright-cli go-back"]}}, [("go-back", "back")]),
        ("exec", {"command": f"agent-browser open {SHOP}"}, [("open", "goto")]),
        ("bash", f"browser-use open {SHOP}", [("open", "goto")]),
        ("bash", {"command": "agent-browser press F5"}, [("press", "reload")]),
        ("bash", {"command": "agent-browser get text body"}, [("get", None)]),
        ("bash", {"command": "ls -la; docker stop x; git fetch; cat README.md"}, []),
        ("browser_evaluate", {"function": "() => location.reload()"}, [("reload", "reload")]),
        (
            "browser_run_code",
            {"code": f"async (page) => {{ await page.goto('{SHOP}'); await page.reload(); }}"},
            [("goto", "goto"), ("reload", "reload")],
        ),
        ("navigate_browser", {"url": SHOP}, [("navigate_browser", "goto")]),
        ("browser", {"command": "click", "selector": "#a"}, []),
    ],
)
def test_a_tool_that_runs_commands_or_code_is_read(
    name: str, arguments: Any, actions: list[tuple[str, str]]
) -> None:
    assert _kinds("", _call(name, arguments)) == actions


def test_prose_around_code_that_acts_on_nothing_is_read_too() -> None:
    assert _kinds("```python\nx = 1\n```\nAction: Refresh") == [("Refresh", "reload")]


@pytest.mark.parametrize(
    "fragment",
    [
        *("(", "{", "${", "`", "a|", "x?", "f(()=>{", "(()=>", "<<E\n", "'", '"$('),
        *(
            "a.b(",
            "a+a+",
            "def f():f();f()\n",
            "f(f,",
            "$a$a",
            "-",
            "not ",
        ),
        *(
            pytest.param(fragment, marks=pytest.mark.slow)
            for fragment in ("cat <<E\n", "f'{", "a=a+a\n", "a\n")
        ),
        *(
            "<code>",
            "```python\n",
            "<tool_call>",
            '<invoke name="a">',
            "[TOOL_CALLS][",
            "<arg_key>",
        ),
        *(
            "Action: a\nAction Input:",
            "Action:\n",
            "goto('a')\n",
            "if a:\n",
            "lambda:",
            "\x00",
            "\ud800",
        ),
    ],
)
def test_no_answer_makes_reading_fail(fragment: str) -> None:
    hostile = fragment * (11_000 // len(fragment))
    answers = (hostile, f"<code>\n{hostile}", f"```js\n{hostile}", f"```sh\n{hostile}")
    for text in answers:
        guess_actions(text, ())
    for name in ("python", "bash", "browser_evaluate"):
        guess_actions("", [_call(name, {"code": hostile})])


def test_helpers_defined_in_earlier_answers_are_resolved() -> None:
    define = "def look_up(number):\n    return session.get(f'https://shop.example/item/{number}')"
    defined = defined_by_answer("", [_call("python", {"code": define})], NOTHING_DEFINED)

    (action,) = guess_actions("```python\nlook_up(7)\n```", (), (), defined)

    assert (action.name, action.arguments) == ("session.get", ("https://shop.example/item/7",))


@pytest.mark.parametrize(
    "code",
    [
        "const r = new XMLHttpRequest(); r.open('GET', '/stock'); r.send()",
        "axios.get('/stock').then(show)",
        "const t = document.createElement('script'); t.src = '/stock'; document.head.append(t)",
    ],
)
def test_code_in_a_page_asks_in_other_ways_than_fetch(code: str) -> None:
    actions = guess_actions("", [_call("evaluate", {"function": code})])

    assert [_kind(action) for action in actions if "/stock" in action.arguments] == ["goto"]


def test_a_data_frame_asks_for_an_address_but_not_for_a_file() -> None:
    def kinds(place: str) -> list[tuple[str, str | None]]:
        return _kinds(f"```python\nimport pandas\npandas.read_html('{place}')\n```")

    assert kinds("https://shop.example/prices") == [("pandas.read_html", "goto")]
    assert kinds("prices.html") == []


def test_a_call_between_tags_on_one_line_is_read() -> None:
    text = '<Thought>Open it.</Thought>\n<Action>navigate("https://shop.example/")</Action>'
    assert [(it.name, it.arguments) for it in guess_actions(text, ())] == [
        ("navigate", ("https://shop.example/",))
    ]


def test_an_item_with_an_action_type_is_that_action() -> None:
    """As Skyvern's model answers."""
    answer = (
        '{"action_plan": "buy", "actions": [{"reasoning": "it is first", "action_type": "CLICK",'
        ' "id": "AAAb"}, {"action_type": "INPUT_TEXT", "id": "AAAc", "text": "shoes"}]}'
    )

    first, second = guess_actions(answer, ())

    assert (first.name, first.arguments["id"]) == ("CLICK", "AAAb")  # type: ignore[call-overload]
    assert (second.name, second.arguments["text"]) == ("INPUT_TEXT", "shoes")  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("language", "source", "actions"),
    [
        ("java", 'driver.navigate().to("https://a.example/");', [("driver.navigate.to", "goto")]),
        ("java", "// driver.navigate().refresh();\ndriver.navigate().back();", [("back", "back")]),
        ("go", 'err := wd.Get("https://shop.example/")', [("wd.Get", "goto")]),
        ("csharp", 'Thread.Sleep(500);\nawait Page.GotoAsync("https://shop.example/");',
         [("Sleep", "wait"), ("GotoAsync", "goto")]),
        ("php", "$client->reload();", [("reload", "reload")]),
        ("ruby", "browser.goto 'https://shop.example/'", [("goto", "goto")]),
        ("ruby", "browser.refresh # not back", [("refresh", "reload")]),
    ],
)  # fmt: skip
def test_calls_of_further_languages_are_read(
    language: str, source: str, actions: list[tuple[str, str]]
) -> None:
    assert _kinds(f"```{language}\n{source}\n```") == actions


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("java", 'WebElement b = driver.findElement(By.id("again"));\nb.click();'),
        ("kotlin", 'val b = driver.findElement(By.id("again"))\nb.click()'),
        ("csharp", 'IWebElement b = driver.FindElement(By.id("again"));\nb.Click();'),
        ("go", 'b := page.MustElement(By.id("again"))\nb.MustClick()'),
    ],
)
def test_an_element_bound_to_a_name_is_known_in_other_languages(language: str, source: str) -> None:
    (action,) = guess_actions(f"```{language}\n{source}\n```", ())

    assert action.arguments == ('By.id("again")',)


def test_named_options_of_csharp_are_read() -> None:
    source = (
        'var b = Page.GetByRole(AriaRole.Button, new() { Name = "Again" });\nawait b.ClickAsync();'
    )

    (action,) = guess_actions(f"```csharp\n{source}\n```", ())

    assert action.arguments == ("AriaRole.Button", '{ Name: "Again" }')


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("js", "cy.url().then((u) => cy.visit(u))"),
        ("js", "cy.location('href').then(function (u) { cy.visit(u) })"),
        ("js", "cy.location().then((l) => cy.visit(l.href))"),
        ("js", "await browser.url(await browser.getUrl())"),
        ("js", "const u = await page.evaluate(() => location.href); await page.goto(u)"),
        ("js", "await t.navigateTo(await t.eval(() => document.location.href))"),
        ("js", "location.href = location.href"),
        ("python", "u = driver.execute_script('return location.href')\ndriver.get(u)"),
        ("kotlin", "driver.currentUrl?.let { driver.get(it) }"),
        ("kotlin", "driver.currentUrl.let { u -> driver.get(u) }"),
        ("csharp", "driver.Navigate().GoToUrl(driver.Url);"),
        ("csharp", "driver.Url = driver.Url;"),
        ("go", "u, _ := wd.CurrentURL()\nwd.Get(u)"),
        ("go", "page.MustNavigate(page.MustInfo().URL)"),
        ("ruby", "driver.get driver.current_url"),
        ("ruby", "driver.current_url.then { |u| driver.get(u) }"),
        ("php", "$driver->get($driver->getCurrentURL());"),
        ("rust", "let u = driver.current_url().await?;\ndriver.goto(u).await?;"),
    ],
)
def test_going_to_the_address_that_is_open_is_a_reload(language: str, source: str) -> None:
    assert _kinds(f"```{language}\n{source}\n```")[-1][1] == "reload"


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("js", "cy.url().then((u) => cy.visit(u + '/more'))"),
        ("js", "cy.url().then((u) => cy.visit(u.replace('a', 'b')))"),
        ("js", "await browser.url('https://shop.example/')"),
        ("python", "driver.get(driver.current_url + '&page=2')"),
        ("csharp", 'driver.Url = "https://shop.example/";'),
        ("kotlin", "driver.title.let { driver.get(it) }"),
    ],
)
def test_going_to_another_address_is_no_reload(language: str, source: str) -> None:
    assert _kinds(f"```{language}\n{source}\n```")[-1][1] == "goto"
