# ruff: noqa: E501  (What a model says stays on one line.)
"""Agents without a browser: tools that fetch, a shell with curl and Node, Python with clients."""

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
from tests.analysis.trajectories.second_collector.sites import World, parts

_B = parts.BASE
_HOSTS = {parts.HOST: parts.page}
_ANY = ["document", "xhr", "other"]


def _get(path: str, text: str = "", name: str = "http_get") -> Say:
    return tool(name, text, url=f"{_B}{path}")


def _sh(command: str, text: str = "") -> Say:
    return tool("bash", text, command=command.replace("@/", f"{_B}/"))


def _py(code: str, text: str = "") -> str:
    return f"{text}\n```python\n{code.replace('@/', f'{_B}/')}\n```"


def _ordered(world: World, text: str) -> bool:
    return len(world.orders) == 1


_PRICE = Script(
    "nb-price",
    ("no_browser",),
    "program",
    {"tools": ["http_get", "wait"]},
    _HOSTS,
    f"What does the valve cost? The API is at {_B}/v1/parts/p3",
    [
        ("", _get("/v1/parts/p3", "I ask the API.")),
        (r'price.{1,6}27\.5', Say("The valve costs 27.50 euros.")),
    ],
    Say("I could not find out the price: the API keeps failing."),
    answers("27.5"),
    [
        Variant("a", [rule("http_error", status=503)], [_get("/v1/parts/p3", "Service unavailable; one more try.")]),
        Variant("b", [rule("http_error", times=2, status=500)], [_get("/v1/parts/p3"), _get("/v1/parts?page=2", "The single part does not work, so I read the list.")]),
        Variant("c", [rule("network_error", delay=1)]),
        Variant("d", [rule("soft_error", resource=_ANY)], [Say("The valve costs 25.00 euros.")]),
        Variant("e", [rule("connection_cut")], [tool("wait", "The connection broke. I wait a moment.", seconds=1), _get("/v1/parts/p3", "Now again.")]),
        Variant("f", [rule("json_corruption", resource=_ANY, value="price")], [Say("The valve costs 28.50 euros.")]),
        Variant("g", [rule("http_error", times=2, status=500)], [AGAIN], silent=True),
    ],
)  # fmt: skip

_SHELL = Script(
    "nb-shell",
    ("no_browser",),
    "program",
    {"tools": ["bash"], "api": "anthropic"},
    _HOSTS,
    f"Order two pumps (p5) from {_B}: POST /v1/orders with part and count. Check /v1/orders.",
    [
        ("", _sh("curl -s @/v1/parts/p5", "First the part.")),
        ("pump", _sh("""curl -sS -X POST @/v1/orders -H 'Content-Type: application/json' -d '{"part":"p5","count":2}'""", "In stock. I order.")),
        ("accepted", _sh("curl -s @/v1/orders", "I check.")),
        ('orders.*p5', Say("Two pumps are ordered.")),
    ],
    Say("The order failed, I have to stop here."),
    _ordered,
    [
        Variant("a", [rule("http_error", f"{_B}/v1/orders", method=["POST"], status=500)], [AGAIN]),
        Variant("b", [rule("http_error", f"{_B}/v1/orders", method=["POST"], status=502, stage="response")], [_sh("curl -s @/v1/orders", "A bad gateway. Did it arrive? I look at the list first."), Say("The order had arrived in spite of the error: two pumps are ordered.")]),
        Variant("c", [rule("connection_cut", f"{_B}/v1/orders", method=["POST"], stage="response")], [AGAIN]),
        Variant("d", [rule("http_error", f"{_B}/v1/parts/p5", status=503), rule("http_error", f"{_B}/v1/orders", method=["GET"], status=500)], [BLIND, Say("I ordered two pumps. The list of orders could not be read, but the order was accepted.")]),
        Variant("e", [rule("http_error", f"{_B}/v1/parts/p5", times=2, status=429)], [_sh("curl -s --retry 3 --retry-delay 1 --retry-all-errors -f @/v1/parts/p5", "Too many requests. Let curl retry.")]),
        Variant("f", [rule("connection_refused", f"{_B}/*", hold=1)], [_sh("sleep 2; curl -sS @/v1/parts/p5", "curl could not connect; I try after a short sleep.")]),
    ],
)  # fmt: skip

_TOTAL = Script(
    "nb-total",
    ("no_browser", "traps"),
    "program",
    {"tools": ["http_get"], "client": "urllib3"},
    _HOSTS,
    f"Which part has the smallest stock? All pages of {_B}/v1/parts?page=1 (of 3).",
    [
        ("", _get("/v1/parts?page=1")),
        ("hinge", _get("/v1/parts?page=2")),
        ("valve", _get("/v1/parts?page=3")),
        ("pump", Say("The pump has the smallest stock, 3 pieces.")),
    ],
    Say("Sorry, page by page the API failed, I cannot answer."),
    answers("pump"),
    [
        Variant("a", [rule("http_error", f"{_B}/v1/parts?page=2", status=503, retry_after=None)]),
        Variant("b", [rule("http_error", f"{_B}/v1/parts?page=2", times=4, status=500)], [_get("/v1/parts?page=2", "Max retries exceeded. Once more by hand.")]),
        Variant("c", [rule("http_error", f"{_B}/v1/parts?page=3", times={"always": True}, status=500)], [Say("The smallest stock is that of the valve, 12 pieces (page 3 is not available).")]),
        Variant("d", [rule("rate_limit", resource=_ANY, window=3, retry_after=False)], [_get("/v1/parts?page=1", "Let me try page 1 again."), AGAIN]),
    ],
)  # fmt: skip

_NODE = (
    "cd $NODE_KIT && node -e \"const axios=require('axios');"
    "require('axios-retry').default(axios,{retries:2,retryDelay:()=>300});"
    "axios.get('@/v1/rates').then(a=>console.log(JSON.stringify(a.data)))"
    ".catch(e=>console.log('failed: '+e.message))\""
)
_PLAIN = "node -e \"fetch('@/v1/rates').then(a=>a.ok?a.text():a.status+' '+a.statusText).then(console.log,e=>console.log('failed: '+(e.cause?.code||e)))\""

_RATES = Script(
    "nb-rates",
    ("no_browser",),
    "program",
    {"tools": ["bash"], "api": "responses"},
    _HOSTS,
    f"How many yen is one euro, by {_B}/v1/rates?",
    [
        ("", _sh(_NODE, "Node with axios-retry.")),
        ("JPY.{1,4}161", Say("One euro is 161.2 yen.")),
    ],
    Say("The rates are not available at the moment; I cannot say."),
    answers("161"),
    [
        Variant("a", [rule("http_error", status=503, retry_after=None)]),
        Variant("b", [rule("http_error", times=3, status=502)], [_sh(_PLAIN, "axios gave up. Plain fetch instead.")]),
        Variant("c", [rule("connection_cut", times=3)], [_sh("curl -s @/docs", "Is there something in the documentation?")]),
        Variant("d", [rule("dns_failure", f"{_B}/*", code="servfail", hold=4)], [_sh("sleep 5; getent hosts parts.test", "The name does not resolve."), _sh(_PLAIN, "Now it does.")]),
    ],
)  # fmt: skip

_TENACITY = """import httpx
from tenacity import retry, stop_after_attempt, wait_fixed
@retry(stop=stop_after_attempt(3), wait=wait_fixed(0.4))
def load(url):
    answer = httpx.get(url)
    answer.raise_for_status()
    return answer.text
print(load('@/report.csv'))"""
_LOOP = """import requests
for attempt in range(4):
    try:
        answer = requests.get('@/report.csv', timeout=5)
        answer.raise_for_status()
        print(answer.text)
        break
    except requests.RequestException as error:
        print('attempt', attempt, error)
        time.sleep(0.3)"""

_REPORT = Script(
    "nb-report",
    ("no_browser", "code"),
    "code",
    {"flavour": "program"},
    _HOSTS,
    f"How many gaskets are in stock, by the file {_B}/report.csv?",
    [
        ("", _py("import requests\nURL = '@/report.csv'\nprint(requests.get(URL).text)", "I read the file.")),
        (r"gasket,(\d+)", _py("final_answer('%FOUND% gaskets are in stock.')")),
    ],
    _py("final_answer('The file could not be read.')"),
    answers("640"),
    [
        Variant("a", [rule("http_error", status=500)], [_py("answer = requests.get(URL)\nprint(answer.status_code, answer.text)", "That was an error page.")]),
        Variant("b", [rule("http_error", times=2, status=503)], [_py(_TENACITY, "I wrap it in retries.")]),
        Variant("c", [rule("connection_cut", times=3)], [_py(_LOOP, "ConnectionError. A loop will do.")]),
        Variant("d", [rule("http_error", status=404)], [_py("print(requests.get('@/latest').text)", "Not found? There may be another address: /latest.")]),
        Variant("e", [rule("http_error", times={"always": True}, status=500)], [_py("r = requests.get('@/docs'); print(r.status_code)", "What do the docs say?")], _py("final_answer('640 gaskets are in stock.')")),
    ],
)  # fmt: skip

_ROBUST = Script(
    "nb-robust",
    ("no_browser", "code"),
    "code",
    {"flavour": "program", "api": "anthropic", "tools": ["execute_python"]},
    _HOSTS,
    f"What is error E17? See {_B}/docs and its links.",
    [
        ("", tool("execute_python", "I write a careful fetcher.", code=f"import urllib.request, urllib.error\ndef get(path):\n    for n in range(3):\n        try:\n            return urllib.request.urlopen('{_B}' + path, timeout=6).read().decode()\n        except (urllib.error.URLError, ConnectionError) as error:\n            print('failed', n, error)\n            time.sleep(0.3)\n    return ''\nprint(get('/docs'))")),
        ("errors", tool("execute_python", code="print(get('/docs/errors'))")),
        ("E17", Say("E17 means that the valve is stuck.")),
    ],
    Say("I do not know what E17 is."),
    answers("stuck"),
    [
        Variant("a", [rule("http_error", f"{_B}/docs", status=500)]),
        Variant("b", [rule("connection_cut", f"{_B}/docs/errors", times=2)]),
        Variant("c", [rule("http_error", f"{_B}/docs/errors", times=3, status=503)], [tool("execute_python", "All three attempts failed. Again.", code="text = get('/docs/errors')\nprint(text)")]),
        Variant("d", [rule("maintenance_page", f"{_B}/docs", resource=_ANY, times=3)], [tool("execute_python", "Maintenance. Perhaps the page on errors is up.", code="print(get('/docs/errors'))"), Say("E17 means that the valve is stuck.")]),
    ],
)  # fmt: skip

_FETCH = Script(
    "nb-fetch",
    ("no_browser",),
    "program",
    {"tools": ["fetch", "http_post"], "client": "httpx"},
    _HOSTS,
    f"Order one filter (p6) from {_B} if it costs less than 20 euros.",
    [
        ("", _get("/v1/parts/p6", name="fetch")),
        (r"14\.9", tool("http_post", url=f"{_B}/v1/orders", json={"part": "p6", "count": 1})),
        ("accepted", Say("Done, one filter is on order.")),
    ],
    Say("No order was placed, because the shop did not respond properly."),
    _ordered,
    [
        Variant("a", [rule("connection_refused", f"{_B}/*", hold=0.3)]),
        Variant("b", [rule("http_error", f"{_B}/v1/orders", status=503)], [Say("Done, one filter is on order.")]),
        Variant("c", [rule("lost_write", method=["POST"])]),
        Variant("d", [rule("http_error", f"{_B}/v1/parts/p6", status=500), rule("http_error", f"{_B}/v1/orders", status=500)], [AGAIN, AGAIN]),
        Variant("e", [rule("llm_error", error="server_error", times=2), rule("http_error", f"{_B}/v1/parts/p6", status=504)], [AGAIN]),
    ],
)  # fmt: skip

SCRIPTS = [_PRICE, _SHELL, _TOTAL, _RATES, _REPORT, _ROBUST, _FETCH]
