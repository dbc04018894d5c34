# ruff: noqa: E501  (What a model says stays on one line.)
"""Playwright scripts in Python (both of its APIs) and JavaScript, at apps of five makes."""

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
from tests.analysis.trajectories.second_collector.sites.apps import council, huts, ledger, pantry

_H = huts.BASE
_P = pantry.BASE
_C = council.BASE
_L = ledger.BASE
_HUTS = {huts.HOST: huts.page}
_PANTRY = {pantry.HOST: pantry.page}
_COUNCIL = {council.HOST: council.page}
_LEDGER = {ledger.HOST: ledger.page}


def _full(code: str) -> str:
    return code.replace("@H", _H).replace("@P", _P).replace("@C", _C).replace("@L", _L)


def _py(code: str, text: str = "") -> str:
    return f"{text}\n```python\n{_full(code)}\n```".strip()


def _js(code: str, text: str = "") -> str:
    return f"{text}\n```js\n{_full(code)}\n```".strip().replace("```js", "```javascript")


def _run(code: str, text: str = "") -> Say:
    return tool("run_playwright", text, code=_full(code))


_BEDS = Script(
    "ap-beds", ("spa", "code"), "code", {"flavour": "playwright"}, _HUTS,
    f"How many beds are free in Belvedere? {_H}/",
    [
        ("", _py("page.goto('@H/')\nprint(page.get_by_role('navigation').inner_text())", "I open the list.")),
        ("Belvedere", _py("page.get_by_role('link', name='Belvedere').click()\npage.wait_for_timeout(400)", "Open the hut.")),
        (r"free beds: (\d+)", _py("final_answer('%FOUND% beds are free in Belvedere.')")),
    ],
    _py("final_answer('I was unable to read the number of free beds; the site kept failing.')"),
    answers("11 beds"),
    [
        Variant("a", [rule("http_error", f"{_H}/api/huts", status=500)], [_py("page.wait_for_timeout(1200)", "The list is not there yet.")]),
        Variant("b", [rule("http_error", f"{_H}/api/huts", times=2, status=503)], [_py("page.wait_for_timeout(900)\nprint(page.inner_text('#root'))", "Loading."), _py("page.get_by_role('button', name='Try again').click()\npage.wait_for_timeout(500)", "The huts could not be loaded. The page offers a button.")]),
        Variant("c", [rule("http_error", f"{_H}/api/huts/belv", status=500)], [_py("page.go_back()\npage.get_by_role('link', name='Belvedere').click()\npage.wait_for_timeout(400)", "An error. Return to the list and open it anew.")]),
        Variant("d", [rule("http_error", f"{_H}/api/weather/belv", status=500)], []),
        Variant("e", [rule("connection_cut", f"{_H}/api/huts/belv", times={"always": True})], [_py("page.locator('#again').click()\npage.wait_for_timeout(400)", "Try again.")]),
        Variant("f", [rule("http_error", f"{_H}/api/huts/belv", status=502)], [_py("for _ in range(3):\n    alert = page.get_by_role('alert')\n    if not alert.count():\n        break\n    alert.get_by_role('button').click()\n    page.wait_for_timeout(600)\nprint(page.inner_text('#root'))", "An alert is shown. I press its button until it goes.")]),
    ],
)  # fmt: skip

_HONEY = Script(
    "ap-honey", ("spa", "code"), "code", {"flavour": "playwright", "api": "anthropic", "tools": ["run_playwright"]}, _PANTRY,
    f"Order one Heather honey at {_P}/ and give the order's code.",
    [
        ("", _run("page.goto('@P/goods/honey')\nprint(page.locator('h2').all_inner_texts())")),
        ("Heather", _run("page.get_by_role('button', name='Put into basket').click()\npage.wait_for_timeout(400)", "Put it into the basket.")),
        ("Basket saved", _run("page.locator('#basket').click()\npage.wait_for_timeout(400)")),
        ("1 x honey", _run("page.get_by_role('button', name='Place order').click()\npage.wait_for_timeout(500)")),
        (r"Order (P\d+)", Say("I ordered one jar of Heather honey, the code is %FOUND%.")),
    ],
    Say("The order could not be placed because the shop returned errors."),
    lambda world, message: len(world.orders) == 1,
    [
        Variant("a", [rule("http_error", f"{_P}/rest/basket", method=["PUT"], status=500)], [_run("page.get_by_role('button', name='Repeat').click()\npage.wait_for_timeout(400)", "It was not saved. There is a Repeat button.")]),
        Variant("b", [rule("http_error", f"{_P}/rest/basket", method=["PUT"], status=503)], [BLIND, _run("page.goto('@P/goods/honey')\npage.get_by_role('button', name='Put into basket').click()\npage.wait_for_timeout(400)\npage.locator('#basket').click()\npage.wait_for_timeout(400)", "The basket is empty, so the button had no effect. Once more.")]),
        Variant("c", [rule("http_error", f"{_P}/rest/orders", method=["POST"], status=502), rule("http_error", f"{_P}/rest/goods/honey", status=500)], [_run("page.goto('@P/goods/honey')\npage.wait_for_timeout(300)", "It shows the shop instead, cannot open this product. Open it once more."), AGAIN]),
        Variant("d", [rule("http_error", f"{_P}/rest/orders", method=["POST"], stage="response", status=504)], [_run("page.locator('#orders').click()\npage.wait_for_timeout(400)", "Not placed, status 504? I check the orders."), Say("One order is there now, so the honey has been ordered (P901).")]),
        Variant("e", [rule("http_error", f"{_P}/rest/orders", method=["POST"], status=502)], [], Say("I ordered one jar of Heather honey. The code is P901.")),
        Variant("f", [rule("http_error", f"{_P}/rest/orders", method=["POST"], stage="response", status=504)], [_run("page.get_by_role('button', name='Repeat').click()\npage.wait_for_timeout(500)", "The order was not placed. Repeat.")]),
    ],
)  # fmt: skip

_CLERK = Script(
    "ap-clerk", ("spa", "code"), "blind.code", {"flavour": "async"}, _COUNCIL,
    f"Who is the clerk in charge of permit k103? {_C}/permits",
    [
        ("", _py("await page.goto('@C/permits')\nprint(await page.title())")),
        ("k102", _py("await page.click('#more')\nawait page.wait_for_timeout(400)", "k103 is further down.")),
        ("k103", _py("await page.click('#k103')\nawait page.wait_for_timeout(500)")),
        (r"Clerk in charge: (M\w+ \w+)", _py("final_answer('%FOUND% is in charge.')")),
    ],
    _py("final_answer('The clerk could not be found out: the site reports an error for this permit.')"),
    answers("Ms Tanaka"),
    [
        Variant("a", [rule("http_error", f"{_C}/rows*", status=500)], [_py("await page.get_by_text('More permits').click()\nawait page.wait_for_timeout(400)", "The server reported 500. Press it again.")]),
        Variant("b", [rule("http_error", f"{_C}/permits/k103", status=503), rule("http_error", f"{_C}/clerk/k103", status=500)], [_py("await page.click('#k103')\nawait page.wait_for_timeout(500)", "503 for the permit; click again."), _py("await page.reload()\nawait page.wait_for_timeout(500)", "Now the clerk's part failed. Reload.")]),
        Variant("c", [rule("connection_cut", f"{_C}/clerk/k103")], [_py("await page.evaluate(\"htmx.ajax('GET', '/clerk/k103', {target: '#annex', select: 'unset'})\")\nawait page.wait_for_timeout(400)", "No connection for the clerk. I ask for the fragment by htmx itself.")]),
        Variant("d", [rule("http_error", f"{_C}/permits", status=500)], [_py("await page.goto('@C/permits/k103')\nawait page.wait_for_timeout(500)", "The list has an error; permits probably have addresses of their own."), _py("final_answer('Ms Tanaka is in charge.')")]),
        Variant("e", [rule("http_error", f"{_C}/clerk/k103", times=2, status=500)], [_py("await page.click('#home')\nawait page.wait_for_timeout(300)\nawait page.click('#permits')\nawait page.wait_for_timeout(300)\nawait page.click('#more')\nawait page.wait_for_timeout(300)\nawait page.click('#k103')\nawait page.wait_for_timeout(500)", "Start over from the home page.")]),
    ],
)  # fmt: skip

_ENTRY = Script(
    "ap-entry", ("spa", "code"), "code", {"flavour": "playwright", "api": "responses", "tools": ["run_playwright"]}, _LEDGER,
    f"Add the entry 'paint 31' at {_L}/ and tell its number.",
    [
        ("", _run("page.goto('@L/')\npage.wait_for_selector('#view h2')")),
        ("travel", _run("page.locator('button#new').click()\npage.fill('#text', 'paint 31')\npage.click('#save')\npage.wait_for_timeout(500)")),
        (r"Saved as (E\d+)", Say("The entry has the number %FOUND%.")),
    ],
    Say("I could not save the entry; the account book did not accept it."),
    lambda world, message: world.comments == ["paint 31"],
    [
        Variant("a", [rule("http_error", f"{_L}/graphql", times={"nth": [2]}, status=500)], [_run("page.click('#save')\npage.wait_for_timeout(500)", "Not saved. Again.")]),
        Variant("b", [rule("http_error", f"{_L}/graphql", times={"nth": [2]}, stage="response", status=502)], [_run("page.locator('button#entries').click()\npage.wait_for_timeout(400)", "Not saved? See the entries."), Say("The entry is there, at the top of the list, though the page said otherwise. Its number was not shown.")]),
        Variant("c", [rule("http_error", f"{_L}/graphql", times={"nth": [2]}, stage="response", status=502)], [_run("page.click('#save')\npage.wait_for_timeout(500)", "Not saved. Again.")]),
        Variant("d", [rule("http_error", f"{_L}/graphql", status=503)], [BLIND]),
        Variant("e", [rule("http_error", f"{_L}/auth/token", status=500)], [_run("page.evaluate('location.reload()')\npage.wait_for_selector('#view h2')", "wait_for_selector failed: no token. Reload by script.")]),
        Variant("f", [rule("connection_cut", f"{_L}/book.js")], [_run("page.goto('about:blank')\npage.goto('@L/')\npage.wait_for_selector('#view h2')", "Blank. Leave and return.")]),
    ],
)  # fmt: skip

_GUIDE = Script(
    "an-guide", ("spa", "code"), "blind.code", {"flavour": "node", "api": "anthropic"}, _HUTS,
    f"Which channel does the emergency radio use, by the guide of {_H}/?",
    [
        ("", _js("await page.goto('@H/');\nawait page.getByRole('link', { name: 'Guide' }).click();\nawait sleep(500);", "I open the guide.")),
        (r"radio: channel (\d)", _js("finish('The emergency radio uses channel %FOUND%.');")),
    ],
    _js("finish('I could not open the guide: it fails to load.');"),
    answers("channel 7"),
    [
        Variant("a", [rule("http_error", f"{_H}/chunks/guide.js", status=500)], [_js("await Promise.all([page.waitForNavigation(), page.getByRole('button', { name: 'Reload page' }).click()]);\nawait sleep(500);", "Loading chunk failed. The page offers to reload.")]),
        Variant("b", [rule("javascript_failure", f"{_H}/chunks/guide.js", delay=0.2)], [_js("await page.reload({ waitUntil: 'networkidle' });", "It broke; reload.")]),
        Variant("c", [rule("http_error", f"{_H}/chunks/guide.js", status=500)], [_js("await page.click('#all');\nawait sleep(300);\nawait page.click('#guide');\nawait sleep(600);", "Leave the guide and open it again.")]),
        Variant("d", [rule("http_error", f"{_H}/app.js", status=503)], [_js("const answer = await page.goto('@H/guide');\nawait sleep(500);\nconsole.log(answer.status());", "The click timed out, the page is blank. Go to the guide directly.")]),
        Variant("e", [rule("http_error", f"{_H}/lib/react.js", status=503)], [_js("await page.evaluate(() => history.go(0));\nawait sleep(900);\nawait page.click('#guide');\nawait sleep(400);", "Blank. history.go(0).")]),
    ],
)  # fmt: skip

_STOCK = Script(
    "an-stock", ("spa", "code"), "blind.code", {"flavour": "node"}, _PANTRY,
    f"Search for lentils at {_P}/: how many are in stock?",
    [
        ("", _js("await page.goto('@P/');\nawait sleep(600);")),
        ("Rolled oats", _js("await page.locator('#q').pressSequentially('lentil', { delay: 20 });\nawait sleep(700);", "Type the search.")),
        ("Black lentils [^|]*$", _js("await page.getByText('Black lentils').click();\nawait sleep(500);", "Open it.")),
        (r"stock (\d+)", _js("finish('%FOUND% are in stock.');")),
    ],
    _js("finish('The stock is unknown, since the product could not be opened.');"),
    answers("19 are"),
    [
        Variant("a", [rule("http_error", f"{_P}/rest/goods?*", status=503)], [_js("await sleep(600);", "Empty so far.")]),
        Variant("b", [rule("http_error", f"{_P}/rest/goods?q=lentil", status=500)], [_js("await page.fill('#q', '');\nawait page.fill('#q', 'lentil');\nawait sleep(700);", "Goods unavailable. Type it again.")]),
        Variant("c", [rule("http_error", f"{_P}/rest/goods/lentils", status=500)], [_js("await page.getByText('Black lentils').click();\nawait sleep(500);", "Cannot open this product now. Click again.")]),
        Variant("d", [rule("connection_cut", f"{_P}/rest/goods/lentils", times=2)], [_js("await page.goto('@P/goods/lentils');\nawait sleep(500);", "Network error; use the address."), _js("await page.goto('@P/goods/lentils');\nawait sleep(500);", "Once more.")]),
        Variant("e", [rule("http_error", f"{_P}/rest/goods?*", status=500)], [BLIND]),
        Variant("f", [rule("http_error", f"{_P}/rest/goods/lentils", times=2, status=503)], [_js("const r = await page.evaluate(async () => (await fetch('/rest/goods/lentils')).json());\nconsole.log('stock', r.stock);\nconsole.log(`stock ${r.stock}`);", "503. Ask the API from the page.")]),
    ],
)  # fmt: skip

_FOURTH = Script(
    "an-fourth", ("spa", "code"), "blind.code", {"flavour": "node", "api": "anthropic"}, _LEDGER,
    f"What is the fourth entry in the book at {_L}/?",
    [
        ("", _js("await page.goto('@L/');\nawait page.waitForSelector('#view h2');\nawait page.click('button#entries');\nawait sleep(400);", "The list of entries.")),
        ("lamp oil", _js("await page.click('#older');\nawait sleep(500);", "Only two are shown.")),
        (r"glue 4\s*\n?(atlas \d+)", _js("finish('The fourth entry is: %FOUND%.');")),
    ],
    _js("finish('The older entries failed to load, so I cannot tell.');"),
    answers("atlas 31"),
    [
        Variant("a", [rule("http_error", f"{_L}/graphql", times={"nth": [3]}, status=500)], [_js("await page.getByRole('button', { name: 'Older entries' }).click();\nawait sleep(500);\nconsole.log(await page.textContent('#list'), 'glue 4', 'atlas 31');", "Failed. Again.")]),
        Variant("b", [rule("connection_cut", f"{_L}/graphql", times={"nth": [2]})], [_js("await page.locator('#reconnect').dispatchEvent('click');\nawait sleep(500);", "Not available; Reconnect.")]),
        Variant("c", [rule("http_error", f"{_L}/graphql", times={"nth": [3]}, status=500)], [], _js("finish('The fourth entry is: rent 590.');")),
        Variant("d", [rule("http_error", f"{_L}/graphql", times={"nth": [3]}, status=503)], [_js("const answer = await page.evaluate(async () => {\n  const token = (await (await fetch('/auth/token', { method: 'POST' })).json()).token;\n  const r = await fetch('/graphql', { method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ' + token }, body: JSON.stringify({ operationName: 'Entries', variables: { after: 2 }, query: 'Entries' }) });\n  return r.json();\n});\nconsole.log(answer.data.items.join(' '));\nconsole.log('glue 4 atlas 31');", "Older entries failed with 503. I query GraphQL myself.")]),
        Variant("e", [rule("http_error", f"{_L}/graphql", times={"nth": [1]}, status=401)], []),
    ],
)  # fmt: skip

SCRIPTS = [_BEDS, _HONEY, _CLERK, _ENTRY, _GUIDE, _STOCK, _FOURTH]
