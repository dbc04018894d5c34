import pytest

from warex.llm.actions.python_code import (
    NOTHING_DEFINED,
    may_call,
    python_calls,
    python_definitions,
)

type Calls = list[tuple[str, tuple[str, ...]]]


def _read(source: str) -> Calls:
    return [
        (call.full_name, (*call.arguments, *call.keywords.values()))
        for call in python_calls(source) or ()
    ]


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        ("visit('a')", [("visit", ("a",))]),
        ("u = 'a'\nvisit(u)", [("visit", ("a",))]),
        ("u = 'a'\nu += '/b'\nvisit(url=u)", [("visit", ("a/b",))]),
        ("a, b = 'x', 'y'\nvisit(b)", [("visit", ("y",))]),
        ("b = 'x'\nvisit(f'{b}/{1}')", [("visit", ("x/1",))]),
        ("b = 'x'\nvisit(b + '/y')", [("visit", ("x/y",))]),
        ("b = ['x', 'y']\nvisit(b[1])", [("visit", ("y",))]),
        ("b = {'k': 'y'}\nvisit(b['k'])", [("visit", ("y",))]),
        ("(u := 'a')\nvisit(u)", [("visit", ("a",))]),
        ("u = 'a'\nu = other\nvisit(u)", [("visit", ("other",))]),
        ("b = ['x']\nvisit(b[7])", [("visit", ("b[7]",))]),
        ("visit(f'{x}/y')", [("visit", ("f'{x}/y'",))]),
        ("u = page.url\nvisit(u)", [("visit", ("page.url",))]),
        ("await page.goto('a')", [("page.goto", ("a",))]),
        (
            "page.locator('#buy').click()",
            [("page.locator", ("#buy",)), ("page.locator.click", ("#buy",))],
        ),
        ("def go(u='a'):\n    visit(u)\ngo()\ngo('b')", [("visit", ("a",)), ("visit", ("b",))]),
        (
            "class A:\n    def go(self, u):\n        visit(u)\nA().go('b')",
            [("A", ()), ("visit", ("b",))],
        ),
        ("def go():\n    visit('a')\nretry(go)", [("visit", ("a",)), ("retry", ("go",))]),
        (
            "async def main():\n    await p.goto('a')\nasyncio.run(main())",
            [("p.goto", ("a",)), ("asyncio.run", ("main()",))],
        ),
        ("[visit(u) for u in ['a', 'b']]", [("visit", ("a",)), ("visit", ("b",))]),
        ("for u in ('a', 'b'):\n    visit(u)", [("visit", ("a",)), ("visit", ("b",))]),
        ("def never():\n    visit('a')", []),
        ("'a'.find('b')", []),
    ],
)
def test_names_are_bound_and_calls_are_read_in_order(source: str, calls: Calls) -> None:
    assert _read(source) == calls


def test_a_module_follows_its_names_and_results() -> None:
    source = (
        "import requests as r\ns = r.Session()\nx = s.get('a')\nwith s.open() as t:\n    t.go()"
    )

    assert [call.module for call in python_calls(source) or ()] == ["requests"] * 4


@pytest.mark.parametrize(
    ("source", "context"),
    [
        ("visit()", ""),
        ("try:\n    visit()\nexcept E:\n    pass", ""),
        ("try:\n    pass\nexcept E:\n    visit()", "handler"),
        ("while True:\n    visit()", "loop"),
        ("for i in range(3):\n    if i:\n        visit()", "loop"),
        ("if a:\n    visit()", "branch"),
        ("if __name__ == '__main__':\n    visit()", ""),
        ("x = visit() if a else None", "branch"),
    ],
)
def test_a_call_has_its_context(source: str, context: str) -> None:
    (*_, call) = [call for call in python_calls(source) or () if call.name == "visit"]

    assert call.context == context


@pytest.mark.parametrize("source", ["Well, then.", "visit(", "x" * 50_000, "\x00", "(" * 5000])
def test_what_is_not_python_is_not_read(source: str) -> None:
    assert python_calls(source) is None


@pytest.mark.parametrize(
    "source", ["click('buy')", "await page.goto(\n)", "x = 1\n!curl https://shop.example", "%cd a"]
)
def test_code_that_calls_something_may_call(source: str) -> None:
    assert may_call(source)


@pytest.mark.parametrize("source", ["I look at the page now.", "x = 1", "import os", "x != 2"])
def test_what_may_not_call_makes_no_calls(source: str) -> None:
    assert not may_call(source)
    assert not python_calls(source)


def test_recursion_and_doubling_texts_are_bounded() -> None:
    assert python_calls("def f():\n    f(); f(); f()\nf()") == ()
    doubled = "a = 'x'\n" + "a = a + a\n" * 60 + "visit(a)"
    assert [call.name for call in python_calls(doubled) or ()] == ["visit"]


def test_names_and_functions_of_earlier_code_are_known_in_later_code() -> None:
    earlier = "import httpx\nSITE = 'https://shop.example'\ndef load(p):\n    httpx.get(SITE + p)"
    defined = python_definitions("PATH = '/cart'", python_definitions(earlier))

    (call,) = python_calls("load(PATH)", defined) or ()

    assert (call.full_name, call.arguments) == ("httpx.get", ("https://shop.example/cart",))
    assert python_definitions("That was not a code.", defined) is defined


def test_an_interpreter_that_binds_ever_new_names_forgets_the_first() -> None:
    defined = NOTHING_DEFINED
    for piece in range(40):
        source = "\n".join(f"a{piece}_{line} = 'x'" for line in range(100))
        defined = python_definitions(source, defined)

    assert len(defined.values) < 1000
    assert [call.arguments for call in python_calls("visit(a39_99)", defined) or ()] == [("x",)]


def test_ipython_s_own_lines_hide_no_other_code() -> None:
    source = "%pip install httpx\nif a:\n    !wget $URL\nvisit('x')"

    assert _read(source) == [("os.system", ("wget $URL",)), ("visit", ("x",))]


def test_a_function_without_a_name_is_read_where_it_is_called() -> None:
    assert _read("go = lambda where: visit(where)\ngo('a')") == [("visit", ("a",))]


def test_what_a_function_is_given_to_call_is_a_call() -> None:
    source = (
        "import httpx\nwith pool() as p:\n    p.map(httpx.get, ['a', 'b'])\nprint(httpx.get, 'c')"
    )

    assert [call for call in _read(source) if call[0] == "httpx.get"] == [
        ("httpx.get", ("['a', 'b']",))
    ]


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        ("b = page.locator('#again')\nb.click()", ("#again",)),
        ("b = (await tab.find(text='Again'))\nawait b.click()", ("Again",)),
        ("b = d.find_elements(By.ID, 'again')[0]\nb.click()", ("By.ID", "again")),
        ("b = page.locator('#again')\nb = other\nb.click()", ()),
        ("b = open_page('#again')\nb.click()", ()),
    ],
)
def test_an_element_bound_to_a_name_is_known_by_what_found_it(
    source: str, arguments: tuple[str, ...]
) -> None:
    assert _read(source)[-1][1] == arguments


def test_what_found_an_element_is_known_to_later_code_of_the_interpreter() -> None:
    defined = python_definitions("b = page.locator('#again')")

    (call,) = python_calls("b.click()", defined) or ()

    assert call.arguments == ("#again",)


def test_a_second_name_of_the_browser_is_read_as_the_first() -> None:
    assert _read("p = page\np.reload()") == [("page.reload", ())]
    assert _read("def go(d):\n    d.get(d.current_url)\ngo(driver)") == [
        ("driver.get", ("d.current_url",))
    ]


def test_a_branch_that_is_never_taken_is_not_read() -> None:
    assert _read("if False:\n    visit('a')\nelse:\n    visit('b')") == [("visit", ("b",))]


def test_the_query_that_a_client_adds_is_part_of_the_address() -> None:
    ((_, arguments),) = _read("requests.get('https://a.example/', params={'tab': 'items'})")

    assert arguments[0] == "https://a.example/?tab=items"


def test_a_function_that_is_given_to_an_event_is_called_later() -> None:
    calls = python_calls("def f(e):\n    visit()\npage.on('crash', f)\nretry(f)") or ()

    assert [it.context for it in calls if it.name == "visit"] == ["event", ""]
