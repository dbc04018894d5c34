# ruff: noqa: E501  (What a model says stays on one line.)
"""Programs without a browser: tools that visit and get, a shell with curl and wget, scripts."""

from typing import Any

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
from tests.analysis.trajectories.second_collector.sites.blind import meteo

_B = meteo.BASE
_HOSTS = {meteo.HOST: meteo.page}
_ANY = ["document", "xhr", "other"]


def _sh(command: str, text: str = "") -> Say:
    return tool("run_shell", text, command=command.replace("@/", f"{_B}/"))


def _visit(path: str, text: str = "") -> Say:
    return tool("visit", text, url=f"{_B}{path}")


def _mcp(path: str, text: str = "", **more: Any) -> Say:
    return tool("mcp__http__http_request", text, url=f"{_B}{path}", **more)


def _py(code: str, text: str = "") -> str:
    return f"{text}\n```python\n{code.replace('@/', f'{_B}/')}\n```".strip()


_WARM = Script(
    "bn-warm", ("no_browser",), "blind.program", {"tools": ["visit", "wait"], "api": "anthropic"}, _HOSTS,
    f"How warm is it at Greywater (st-3)? The service: {_B}/api/stations/st-3",
    [
        ("", _visit("/api/stations/st-3", "I look at the station.")),
        (r"celsius.{1,4}7\.9", Say("At Greywater it is 7.9 °C.")),
    ],
    Say("I was not able to retrieve the temperature, since the weather service did not answer properly."),
    answers("7.9"),
    [
        Variant("a", [rule("http_error", status=500)], [_visit("/api/stations/st-3", "HTTP 500. I'll request it again.")]),
        Variant("b", [rule("connection_cut", times=2)], [AGAIN, tool("wait", "Still no connection. A short break.", seconds=1), _visit("/api/stations/st-3")]),
        Variant("c", [rule("http_error", status=503)], [_visit("/api/stations?cursor=2", "Not available. The list of stations has it as well.")]),
        Variant("d", [rule("json_corruption", resource=_ANY, at="/celsius")], [], Say("At Greywater it is 8.9 °C.")),
        Variant("e", [rule("http_error", status=404)], [], Say("It is about 9 °C at Greywater.")),
        Variant("f", [rule("connection_refused", f"{_B}/*", hold=0.5)], [tool("wait", "Connection refused, wait.", seconds=2)]),
    ],
)  # fmt: skip

_JOB = Script(
    "bn-job", ("no_browser",), "blind.program", {"tools": ["run_shell"]}, _HOSTS,
    f"Order a report for st-2 (POST {_B}/api/reports with station) and tell the mean wind; the answer names a job, the job a file.",
    [
        ("", _sh("curl -s -XPOST -H 'content-type: application/json' -d '{\"station\": \"st-2\"}' @/api/reports", "Start the report.")),
        (r"(/api/jobs/\d+)", _sh(f"curl -s {_B}%FOUND%", "Poll the job.")),
        ("running", _sh("sleep 0.5; curl -s @/api/jobs/1", "Running. Poll again.")),
        (r"(/out/\w+\.txt)", _sh(f"wget -q -O - --tries=1 {_B}%FOUND%", "Done. Load the file.")),
        (r"mean wind (\d+)", Say("The mean wind is %FOUND% km/h.")),
    ],
    Say("The report could not be obtained. I stopped after errors of the service."),
    answers("wind is 22"),
    [
        Variant("a", [rule("http_error", f"{_B}/api/reports", status=502)], [AGAIN]),
        Variant("b", [rule("http_error", f"{_B}/api/jobs/*", status=500)], [_sh("sleep 1; curl -s @/api/jobs/1", "The job's address gave an error. Once more."), _sh("curl -s @/api/jobs/1")]),
        Variant("c", [rule("http_error", f"{_B}/out/*", times=2, status=503)], [_sh("for i in 1 2 3; do curl -sf @/out/r1.txt && break; sleep 1; done", "wget printed nothing. A loop with curl.")]),
        Variant("d", [rule("connection_cut", f"{_B}/out/*", stage="response")], [_sh("ls -la", "Nothing was printed. Is there a file?"), _sh("wget -q -O - --tries=2 @/out/r1.txt")]),
        Variant("e", [rule("http_error", f"{_B}/api/jobs/*", times={"nth": 2}, status=500)], [], Say("The mean wind is 18 km/h.")),
        Variant("g", [rule("network_error", f"{_B}/api/reports", stage="response", delay=0.5)], [_sh("curl -s @/api/jobs/1", "A gateway timeout. Perhaps the job was made: look at job 1.")]),
    ],
)  # fmt: skip

_LOWEST = Script(
    "bn-cursor", ("no_browser", "code"), "code", {"flavour": "program"}, _HOSTS,
    f"Which station lies lowest? Follow `next` from {_B}/api/stations to the end.",
    [
        ("", _py("import requests\ns = requests.Session()\nstations, url = [], '/api/stations'\nwhile url:\n    r = s.get('" + _B + "' + url)\n    d = r.json()\n    stations += d['items']\n    url = d['next']\nprint([(x['name'], x['height']) for x in stations])", "I follow the cursor.")),
        ("Skarn.*Cape Lorn", _py("final_answer(min(stations, key=lambda x: x['height'])['name'] + ' lies lowest.')")),
    ],
    _py("final_answer('I could not read all stations, so the question stays open.')"),
    answers("Hollow Bay"),
    [
        Variant("a", [rule("http_error", f"{_B}/api/stations?cursor=2", status=500)], [_py("print(r.status_code, url)\nwhile url:\n    r = s.get('" + _B + "' + url)\n    print(r.status_code)\n    d = r.json(); stations += d['items']; url = d['next']\nprint([(x['name'], x['height']) for x in stations])", "JSONDecodeError: continue from the cursor that failed.")]),
        Variant("b", [rule("connection_cut", f"{_B}/api/stations?cursor=2", times=2)], [_py("from urllib3.util import Retry\nfrom requests.adapters import HTTPAdapter\ns.mount('https://', HTTPAdapter(max_retries=Retry(4, backoff_factor=0.2)))\nprint('mounted')", "ConnectionError. Give the session retries."), AGAIN]),
        Variant("c", [rule("empty_result", f"{_B}/api/stations?cursor=2", resource=_ANY)], [_py("final_answer(min(stations, key=lambda x: x['height'])['name'] + ' lies lowest.')", "Two stations.")]),
        Variant("d", [rule("http_error", f"{_B}/api/stations", times={"always": True}, status=503)], [AGAIN], None),
    ],
)  # fmt: skip

_ALERT = Script(
    "bn-alert", ("no_browser",), "blind.program", {"tools": ["mcp__http__http_request"], "client": "patient", "api": "responses"}, _HOSTS,
    f"Set an alert for Skarn (POST {_B}/api/alerts with place) and confirm that there is exactly one.",
    [
        ("", _mcp("/api/alerts", method="POST", body={"place": "Skarn"})),
        ("active", _mcp("/api/alerts", "Confirm it.")),
        (r'alerts.{1,9}Skarn', Say("One alert for Skarn is set.")),
    ],
    Say("The alert couldn't be set up: the service is failing."),
    lambda world, message: world.comments == ["Skarn"],
    [
        Variant("a", [rule("http_error", f"{_B}/api/alerts", method=["GET"], status=500)]),
        Variant("b", [rule("http_error", f"{_B}/api/alerts", method=["POST"], times=3, status=503)], [AGAIN]),
        Variant("c", [rule("http_error", f"{_B}/api/alerts", method=["POST"], stage="response", status=502)], [], Say("One alert for Skarn is set.")),
    ],
)  # fmt: skip

_NODE = "node -e \"(async () => { for (let n = 0; n < 3; n++) { try { const r = await fetch('@/today'); if (r.ok) { console.log(await r.text()); return } console.log('try', n, r.status) } catch (e) { console.log('try', n, e.cause?.code || e.message) } await new Promise(f => setTimeout(f, 300)) } })()\""

_RAIN = Script(
    "bn-rain", ("no_browser", "traps"), "blind.program", {"tools": ["get", "run_shell"]}, _HOSTS,
    f"Where did it rain most? {_B}/today leads to the daily file.",
    [
        ("", tool("get", "The file of today.", url=f"{_B}/today")),
        (r"Cape Lorn rain (\d+)", Say("It rained most at Cape Lorn, %FOUND% mm.")),
    ],
    Say("Sorry, I have no data about the rain; the file cannot be read at the moment."),
    answers("Cape Lorn"),
    [
        Variant("a", [rule("http_error", f"{_B}/today", status=500)], [tool("get", "The redirect is broken. The daily file is /daily.txt by the documentation.", url=f"{_B}/daily.txt")]),
        Variant("b", [rule("connection_cut", f"{_B}/daily.txt", times=2)], [_sh(_NODE, "The tool got a reset. Node with a loop.")]),
        Variant("c", [rule("wrong_redirect", f"{_B}/today", to="/about", resource=_ANY)], [_sh("curl -sL --max-time 5 @/today", "That is the page about the service, not the file. Follow it with curl.")]),
        Variant("d", [rule("http_error", f"{_B}/daily.txt", status=503, retry_after=1)], [_sh("curl -sSL --retry 2 @/today", "503 with Retry-After: curl honours it."), BLIND]),
        Variant("f", [rule("http_error", f"{_B}/today", times={"always": True}, status=500)], [tool("get", "", url=f"{_B}/about"), tool("get", "Nothing there.", url=f"{_B}/about/method")], None),
    ],
)  # fmt: skip

SCRIPTS = [_WARM, _JOB, _LOWEST, _ALERT, _RAIN]
