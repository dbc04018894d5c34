# ruff: noqa: E501  (What a model says stays on one line.)
"""Agents that write code: Playwright's asynchronous API, Node, requests and httpx."""

from tests.analysis.trajectories.second_collector.cases import (
    Say,
    Script,
    Variant,
    answers,
    rule,
    tool,
)
from tests.analysis.trajectories.second_collector.sites.blind import clinic, ferry, records

_R = records.BASE
_F = ferry.BASE
_C = clinic.BASE
_RECORDS = {records.HOST: records.page}
_FERRY = {ferry.HOST: ferry.page}
_CLINIC = {clinic.HOST: clinic.page}


def _full(code: str) -> str:
    return code.replace("@R", _R).replace("@F", _F).replace("@C", _C)


def _py(code: str, text: str = "") -> str:
    return f"{text}\n```python\n{_full(code)}\n```".strip()


def _js(code: str, text: str = "") -> str:
    return f"{text}\n```javascript\n{_full(code)}\n```".strip()


def _cell(code: str, text: str = "") -> Say:
    return tool("execute_ipython_cell", text, code=_full(code))


_PRICES = Script(
    "bc-async", ("code",), "blind.code", {"flavour": "async"}, _RECORDS,
    f"What do Ember Suite and Polar Choir cost together? Start at {_R}/list/2",
    [
        ("", _py("await page.goto('@R/list/2')\nprint(await page.title())", "Open the list.")),
        ("Polar", _py("total = 0\nfor name in ['ember', 'polar']:\n    await page.goto(f'@R/disc/{name}')\n    text = await page.inner_text('body')\n    price = float(text.split('Price: $')[1].split()[0].rstrip('.'))\n    print(name, price)\n    total += price\nprint('total', total)", "Read both pages in a loop.")),
        (r"total 46\.0", _py("final_answer('Together they cost $46.00.')")),
    ],
    _py("final_answer('I could not compute the sum: one of the pages failed to load.')"),
    answers("46.00"),
    [
        Variant("m", [rule("http_error", f"{_R}/list/2", status=503), rule("connection_cut", f"{_R}/disc/ember", times=2)], [_py("await page.wait_for_timeout(500)\nawait page.goto(page.url)\nprint(await page.title())", "503, wait briefly and load the same URL."), _py("async def fetch(name, tries=4):\n    for attempt in range(tries):\n        try:\n            response = await page.goto(f'@R/disc/{name}')\n            if response.ok:\n                return await page.inner_text('body')\n        except Exception as e:\n            print('attempt', attempt, str(e)[:50])\n        await asyncio.sleep(0.3)\ntotal = 0\nfor name in ['ember', 'polar']:\n    text = await fetch(name)\n    total += float(text.split('Price: $')[1].split()[0].rstrip('.'))\nprint('total', total)", "net::ERR_CONNECTION_RESET. Write a helper that retries.")]),
        Variant("n", [rule("http_error", f"{_R}/list/2", status=500), rule("http_error", f"{_R}/disc/polar", status=500)], [_py("await page.goto('@R/list/2')\nprint(await page.title())", "Again."), _py("await page.reload()\ntext = await page.inner_text('body')\nprice = float(text.split('Price: $')[1].split()[0].rstrip('.'))\ntotal += price\nprint('total', total)", "IndexError: the second page is an error page. Reload it and go on.")]),
        Variant("d", [rule("http_error", f"{_R}/disc/ember", status=500)], [], _py("final_answer('Together they cost $46.25.')")),
    ],
)  # fmt: skip

_SAILING = Script(
    "bc-node", ("code", "spa"), "blind.code", {"flavour": "node", "api": "anthropic"}, _FERRY,
    f"Book a seat on the Isles line: {_F}/#/line/isles",
    [
        ("", _js("await page.goto('@F/#/line/isles', { waitUntil: 'domcontentloaded' });\nawait page.waitForSelector('#book', { timeout: 1500 });\nconsole.log(await page.textContent('#app'));", "I open the line.")),
        ("Seats left: 5", _js("await page.click('#book');\nawait sleep(600);\nconsole.log(await page.textContent('#state'));", "Book.")),
        (r"Seat booked, ticket (F\d+)", _js("finish('Booked, ticket %FOUND%.');")),
    ],
    _js("finish('The seat could not be booked.');", "I stop here."),
    lambda world, message: len(world.orders) == 1,
    [
        Variant("m", [rule("javascript_failure", f"{_F}/ferry.js", delay=0.2), rule("http_error", f"{_F}/data/line/isles", status=500), rule("http_error", f"{_F}/data/bookings", times=2, status=503)], [_js("console.log((await page.content()).length);", "The page only says: please wait."), _js("await page.evaluate(() => location.reload());\nawait page.waitForSelector('#book', { timeout: 2000 });", "Load anew."), _js("await page.locator('text=Retry').click();\nawait sleep(500);\nconsole.log(await page.textContent('#app'));", "There is a Retry button."), _js("for (let i = 0; i < 3; i++) {\n  await page.click('#book');\n  await sleep(500);\n  const t = await page.textContent('#state');\n  console.log(i, t);\n  if (t.includes('ticket')) break;\n}", "No seat was booked. Click in a loop.")]),
        Variant("n", [rule("http_error", f"{_F}/data/line/isles", status=500), rule("http_error", f"{_F}/data/bookings", stage="response", status=500)], [_js("await page.reload();\nawait page.waitForSelector('#book', { timeout: 1500 });\nconsole.log(await page.textContent('#app'));", "waitForSelector timed out. page.reload()."), _js("const r = await page.evaluate(() => fetch('/data/bookings').then(r => r.json()));\nconsole.log('tickets', r.length);", "Did it go through? Ask the API."), _js("finish('Booked: the list of tickets has it.');")]),
        Variant("o", [rule("http_error", f"{_F}/data/line/isles", times=2, status=500)], [_js("await page.goto(page.url());\nawait page.reload();\nconsole.log(await page.textContent('#app'));", "Once more.")]),
    ],
)  # fmt: skip

_ROOMS = Script(
    "bc-rooms", ("code", "traps"), "code", {"flavour": "playwright", "api": "responses", "tools": ["execute_ipython_cell"]}, _CLINIC,
    f"List the rooms of all three doctors of {_C}/doctors as JSON.",
    [
        ("", _cell("rooms = {}\ndef room(name):\n    try:\n        r = page.goto(f'@C/doctors/{name}', wait_until='domcontentloaded')\n        if r.status >= 400:\n            raise RuntimeError(r.status)\n        return page.locator('#main p').first.inner_text()\n    except Exception as e:\n        return f'failed: {str(e)[:40]}'\nfor name in ['amir', 'bonnet', 'costa']:\n    rooms[name] = room(name)\nprint(rooms)")),
        ("Room 12.*Room 31.*Room 7", Say('{"amir": "Room 12", "bonnet": "Room 31", "costa": "Room 7"}')),
    ],
    Say("Only some of the rooms could be found; at least one page kept failing."),
    answers('"bonnet": "Room 31"'),
    [
        Variant("b", [rule("http_error", f"{_C}/doctors/*", times={"nth": [1, 3]}, status=502)], [_cell("for name in rooms:\n    for _ in range(2):\n        if 'failed' in rooms[name]:\n            rooms[name] = room(name)\nprint(rooms)", "Two failed.")]),
        Variant("c", [rule("connection_cut", f"{_C}/doctors/costa", times={"always": True})], [_cell("rooms['costa'] = room('costa')\nprint(rooms)", "Once more for costa.")]),
        Variant("d", [rule("http_error", f"{_C}/doctors/amir", status=500)], [], Say('{"amir": "Room 10", "bonnet": "Room 31", "costa": "Room 7"}')),
    ],
)  # fmt: skip

SCRIPTS = [_PRICES, _SAILING, _ROOMS]
