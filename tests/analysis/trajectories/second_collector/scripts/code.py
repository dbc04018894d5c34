# ruff: noqa: E501  (What a model says stays on one line.)
"""Agents that write Python or JavaScript, executed block by block."""

from tests.analysis.trajectories.second_collector.cases import (
    AGAIN,
    BLIND,
    Say,
    Script,
    Variant,
    answers,
    rule,
    tool,
)
from tests.analysis.trajectories.second_collector.scripts.harness import reserved
from tests.analysis.trajectories.second_collector.sites import board, library

_L = library.BASE
_B = board.BASE
_LIBRARY = {library.HOST: library.page}
_BOARD = {board.HOST: board.page}


def _py(code: str, text: str = "") -> str:
    return f"{text}\n```python\n{code.replace('@L', _L).replace('@B', _B)}\n```".strip()


def _smol(code: str, text: str = "") -> str:
    return f"Thought: {text}\n<code>\n{code.replace('@L', _L).replace('@B', _B)}\n</code>"


def _run(code: str, text: str = "") -> Say:
    return tool("run_python", text, code=code.replace("@L", _L).replace("@B", _B))


def _js(code: str, text: str = "") -> Say:
    return tool("run_js", text, code=code.replace("@L", _L).replace("@B", _B))


def _open(url: str, text: str = "") -> Say:
    return tool("open_url", text, url=url.replace("@L", _L).replace("@B", _B))


_SHELF = Script(
    "cd-shelf", ("code",), "code", {"flavour": "playwright"}, _LIBRARY,
    f"On which shelf is Clocks of Prague? Begin at {_L}/books",
    [
        ("", _py("page.goto('@L/books')\nprint(page.title())", "I open the list.")),
        ("4 books", _py("page.click('#clocks')\nprint(page.inner_text('b'))")),
        (r"Shelf (A-\d+)", _py("final_answer('Shelf %FOUND%')")),
    ],
    _py("final_answer('The shelf could not be read.')"),
    answers("A-77"),
    [
        Variant("a", [rule("http_error", f"{_L}/book/clocks")], [_py("page.goto(page.url)\nprint(page.inner_text('b'))", "A server error. Load the same page again.")]),
        Variant("b", [rule("http_error", f"{_L}/books", times=2, status=503)], [_py("for n in range(3):\n    page.goto('@L/books')\n    if 'books' in page.inner_text('body'):\n        break\n    page.wait_for_timeout(500)\nprint(n)", "Overloaded; a loop.")]),
        Variant("c", [rule("connection_cut", f"{_L}/book/*")], [_py("page.go_back()\nprint(page.url)", "The connection was reset."), _py("link = page.locator('#clocks')\nlink.click()\nprint(page.inner_text('b'))")]),
        Variant("d", [rule("http_error", f"{_L}/book/*", times={"always": True}, status=500)], [_py("print(page.content()[:200])", "What is this?")], _py("final_answer('Shelf A-76')")),
    ],
)  # fmt: skip

_HELPER = """from playwright.sync_api import Error
def visit(address, tries=3):
    for n in range(tries):
        try:
            answer = page.goto(address)
            if answer and answer.ok:
                return page.inner_text('body')
            print('status', answer.status if answer else None)
        except Error as error:
            print('error', str(error)[:60])
        page.wait_for_timeout(300)
    return ''
home = '@L/'
print(visit(home))"""

_HELP = Script(
    "cd-helper", ("code",), "code", {"flavour": "playwright", "api": "responses", "tools": ["run_python"]}, _LIBRARY,
    f"What is the fine on card 88? {_L}/",
    [
        ("", _run(_HELPER)),
        ("Welcome", _run("print(visit(home + 'account'))")),
        ("Sign in", _run("page.fill('#user', '88')\npage.click('#signin')\nprint(page.inner_text('body'))")),
        (r"Fine: (\d\.\d+)", Say("The fine on card 88 is %FOUND% euros.")),
    ],
    Say("I wasn't able to sign in, so the fine is unknown."),
    answers("2.40"),
    [
        Variant("a", [rule("http_error", f"{_L}/", status=502)]),
        Variant("b", [rule("connection_cut", f"{_L}/account"), rule("http_error", f"{_L}/login", status=500)], [_run("print(visit(home + 'account'))", "The sign-in failed, start over from the form."), _run("page.fill('#user', '88')\npage.click('#signin')\nprint(page.inner_text('body'))")]),
        Variant("c", [rule("http_error", f"{_L}/account", times=3, status=503)], [_run("text = visit(home + 'account', tries=1)\nprint(text)", "Three attempts were not enough.")]),
        Variant("e", [rule("http_error", f"{_L}/", times=4, status=503)], [_run("print(page.title())", "Unavailable.")], silent=True),
        Variant("d", [rule("soft_error", f"{_L}/account", resource=["document"], times={"nth": 2})], [_run("print(page.title())\npage.goto(home + 'account')\nprint(page.inner_text('body'))", "This is an error page.")]),
    ],
)  # fmt: skip

_SMOL = Script(
    "cd-smol", ("code",), "code", {"flavour": "tools", "api": "anthropic"}, _LIBRARY,
    f"Reserve A Guide to Moss at {_L}/book/moss.",
    [
        ("", _smol("page = open_page(url='@L/book/moss')\nprint(page)", "I start with the page of the book.")),
        ("On the shelf", _smol("print(click('reserve'))", "It is there. I reserve it.")),
        ("Reserved for you", _smol("final_answer('Reserved.')", "Done.")),
    ],
    _smol("final_answer('I failed to reserve the book: the site gave errors.')", "That is enough."),
    reserved("moss"),
    [
        Variant("a", [rule("http_error", f"{_L}/book/moss", status=500)], [_smol("print(refresh())", "An error. Refresh.")]),
        Variant("b", [rule("http_error", method=["POST"], stage="response", status=500)], [_smol("print(open_page('@L/book/moss'))", "Internal error after the click. Look at the book again.")]),
        Variant("c", [rule("http_error", method=["POST"], status=500)], [_smol("print(open_page('@L/book/moss'))", "Internal error after the click. Look at the book again."), _smol("print(click('reserve'))", "It is not reserved yet, so press it again.")]),
        Variant("d", [rule("connection_cut", f"{_L}/book/moss", method=["GET"], times={"nth": [1, 3]})], [_smol("for i in range(2):\n    try:\n        print(open_page('@L/book/moss'))\n        break\n    except RuntimeError as e:\n        print(e)", "The connection closed; try twice.")], _smol("final_answer('Reserved.')", "It should be fine.")),
        Variant("f", [rule("http_error", method=["POST"], status=503)], [BLIND]),
        Variant("e", [rule("consent_wall", f"{_L}/*")], [_smol("print(go_to('@L/book/moss'))", "A consent page; go to the book again."), _smol("print(click('button'))", "I accept.")]),
    ],
)  # fmt: skip

_FETCH = Script(
    "cd-js", ("code", "spa"), "tools", {"format": "tools", "tools": ["open_url", "run_js", "finish"]}, _BOARD,
    f"Who owns the project Beacon, and what is its budget? {_B}/projects",
    [
        ("", _open("@B/projects")),
        ("Beacon", _js("document.querySelector('#beacon').click()", "Open it.")),
        (r"Owner: Tom Oduya. Budget: (\d+)", tool("finish", status="success", message="Tom Oduya, %FOUND% euros")),
    ],
    tool("finish", status="failure", message="The project's data did not load."),
    answers("7350"),
    [
        Variant("a", [rule("http_error", f"{_B}/api/project/*")], [_js("location.reload()", "Oops page. Reload.")]),
        Variant("b", [rule("http_error", f"{_B}/api/projects", times=2, status=503)], [_js("document.getElementById('again').click()", "There is a button to try again."), _js("window.location.href = '/projects'", "Once more, by address.")]),
        Variant("c", [rule("http_error", f"{_B}/api/project/beacon", times=3, status=500)], [_js("fetch('/api/project/beacon').then(a => a.status)", "I ask the API myself."), _js("fetch('/api/project/beacon').then(a => a.text())"), _js("(async () => { for (let i = 0; i < 3; i++) { const a = await fetch('/api/project/beacon'); if (a.ok) { const p = await a.json(); return `Owner: ${p.owner}. Budget: ${p.budget}` } } return 'no' })()", "A loop.")]),
        Variant("d", [rule("javascript_failure", f"{_B}/app.js", delay=0.3)], [_js("document.body.innerHTML.length", "It hangs at starting."), _js("const s = document.createElement('script'); s.src = '/app.js'; document.body.append(s)", "The script is missing, so I add it again.")]),
    ],
)  # fmt: skip

_WALK = Script(
    "cd-walk", ("code", "traps"), "code", {"flavour": "playwright"}, _LIBRARY,
    f"Make a list of the years of all four books at {_L}/books.",
    [
        ("", _py("START = '@L/books'\npage.goto(START)\nnames = [a.get_attribute('href') for a in page.query_selector_all('li a')]\nprint(names)")),
        ("book/moss", _py("import re\nyears = {}\nfor name in names:\n    page.goto('@L' + name)\n    m = re.search(r'Published (\\d+)', page.inner_text('body'))\n    years[name] = m and m[1]\nprint(years)")),
        (r"moss': '1988'.*harbour': '1974'", _py("final_answer(years)")),
    ],
    _py("final_answer('Incomplete: ' + str(years))"),
    lambda world, message: all(year in message for year in ("1961", "1988", "2003", "1974")),
    [
        Variant("a", [rule("http_error", f"{_L}/book/*", times={"nth": 2})], [_py("for name, year in years.items():\n    if not year:\n        page.goto('@L' + name)\n        years[name] = re.search(r'Published (\\d+)', page.inner_text('body'))[1]\nprint(years)", "One year is missing. Fill the gap.")]),
        Variant("b", [rule("http_error", f"{_L}/book/*", times={"nth": [1, 3]})], [_py("page.goto(START)\nprint(page.inner_text('body'))", "Two are missing.")]),
        Variant("c", [rule("http_error", f"{_L}/book/*", times={"nth": [2, 4]})], [AGAIN]),
        Variant("d", [rule("connection_cut", f"{_L}/book/harbour", times=1)], [_py("print(page.url, years)", "goto raised."), AGAIN]),
    ],
)  # fmt: skip

_API = Script(
    "cd-api", ("code", "spa"), "code", {"flavour": "playwright"}, _BOARD,
    f"Mark the task 'ship' of the project Cobalt as done. {_B}/project/cobalt",
    [
        ("", _py("url = '@B/project/cobalt'\nresponse = page.goto(url)\npage.wait_for_timeout(400)\nprint(response.status)")),
        ("Owner: Li Wen", _py("box = page.locator('#ship')\nbox.check()\npage.wait_for_timeout(500)\nprint(page.inner_text('#state-ship'))", "Tick it.")),
        ("Output:.{1,3}done", _py("final_answer('The task is marked as done.')")),
    ],
    _py("final_answer('The task could not be marked.')"),
    lambda world, message: "ship" in world.done,
    [
        Variant("a", [rule("http_error", f"{_B}/api/task/*")], [_py("page.locator('#ship').click()\npage.wait_for_timeout(500)\nprint(page.inner_text('#state-ship'))", "It was undone, so click again.")]),
        Variant("b", [rule("http_error", f"{_B}/api/task/*", status=503)], [_py("page.reload()\npage.wait_for_timeout(400)", "Not saved. Reload first."), _py("page.check('#ship')\npage.wait_for_timeout(500)\nprint(page.inner_text('#state-ship'))")]),
        Variant("c", [rule("http_error", f"{_B}/api/project/*"), rule("http_error", f"{_B}/api/task/*", stage="response")], [_py("page.click('text=Try again')\npage.wait_for_timeout(400)", "There is a button for that.")], _py("final_answer('The task is marked as done.')")),
        Variant("d", [rule("network_error", f"{_B}/project/*", delay=1), rule("soft_error", f"{_B}/api/task/*")], [_py("response = page.goto(url)\npage.wait_for_timeout(400)\nprint(response.status)"), BLIND]),
    ],
)  # fmt: skip

SCRIPTS = [_SHELF, _HELP, _SMOL, _FETCH, _WALK, _API]
