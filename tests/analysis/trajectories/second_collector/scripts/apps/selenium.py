# ruff: noqa: E501  (What a model says stays on one line.)
"""Selenium scripts at apps: optimistic writes, fragments, a page beside the app."""

from tests.analysis.trajectories.second_collector.cases import (
    AGAIN,
    Say,
    Script,
    Variant,
    answers,
    rule,
    tool,
)
from tests.analysis.trajectories.second_collector.sites.apps import auction, council, huts

_H = huts.BASE
_C = council.BASE
_A = auction.BASE


def _full(code: str) -> str:
    return code.replace("@H", _H).replace("@C", _C).replace("@A", _A)


def _py(code: str, text: str = "") -> str:
    return f"{text}\n```py\n{_full(code)}\n```".strip()


def _cell(code: str, text: str = "") -> Say:
    return tool("selenium_cell", text, code=_full(code))


_RESERVE = Script(
    "ae-reserve", ("spa", "selenium"), "code", {"flavour": "selenium"}, {huts.HOST: huts.page},
    f"Reserve a bed in Cima refuge ({_H}/hut/cima) and tell me the code.",
    [
        ("", _py("driver.get('@H/hut/cima')\ntime.sleep(0.5)")),
        ("free beds: 6", _py("driver.find_element(By.ID, 'reserve').click()\ntime.sleep(0.6)", "Reserve.")),
        (r"Reserved, code (H-\d+)", _py("final_answer('Reserved: %FOUND%.')")),
    ],
    _py("final_answer('No bed could be reserved; the site undid the reservation with an error.')"),
    lambda world, message: len(world.orders) == 1,
    [
        Variant("a", [rule("http_error", f"{_H}/api/saved", method=["POST"], status=500)], [_py("driver.find_element(By.XPATH, \"//button[text()='Reserve a bed']\").click()\ntime.sleep(0.6)", "It was undone. Reserve again.")]),
        Variant("b", [rule("http_error", f"{_H}/api/saved", method=["POST"], stage="response", status=504)], [_py("driver.find_element(By.ID, 'saved').click()\ntime.sleep(0.5)", "HTTP 504 after sending. Is it among my reservations?"), _py("final_answer('Reserved: H-41, as the reservations show.')")]),
        Variant("c", [rule("http_error", f"{_H}/api/saved", method=["POST"], stage="response", status=504)], [AGAIN]),
        Variant("d", [rule("http_error", f"{_H}/api/huts/cima", status=503), rule("http_error", f"{_H}/api/weather/cima", status=500)], [_py("driver.refresh()\ntime.sleep(0.6)", "This hut could not be loaded. Refresh.")]),
        Variant("e", [rule("network_error", f"{_H}/hut/cima", delay=0.4)], [_py("driver.get(driver.current_url)\ntime.sleep(0.6)", "A connection error. Get it again.")]),
    ],
)  # fmt: skip

_LAMP = Script(
    "ae-lamp", ("spa", "selenium"), "code", {"flavour": "selenium", "api": "anthropic", "tools": ["selenium_cell"]}, {council.HOST: council.page},
    f"Report a broken lamp at Pier 4: {_C}/. Give the report's number.",
    [
        ("", _cell("driver.get('@C/')\ndriver.find_element(By.LINK_TEXT, 'Report').click()\ntime.sleep(0.5)")),
        ("Report a fault", _cell("driver.find_element(By.NAME, 'place').send_keys('Lamp, Pier 4')\ndriver.find_element(By.ID, 'send').click()\ntime.sleep(0.5)")),
        (r"number (R\d+)", Say("The lamp is reported under %FOUND%.")),
    ],
    Say("Reporting failed; the council's server does not take the report at the moment."),
    lambda world, message: len(world.comments) == 1,
    [
        Variant("a", [rule("http_error", f"{_C}/report", method=["POST"], status=500)], [_cell("driver.find_element(By.ID, 'send').click()\ntime.sleep(0.5)", "The server reported 500. Send again.")]),
        Variant("b", [rule("http_error", f"{_C}/report", method=["POST"], stage="response", status=500)], [_cell("driver.find_element(By.LINK_TEXT, 'Reports').click()\ntime.sleep(0.5)", "An error was reported. Has it arrived?"), Say("The report has arrived: one report is listed. It gave me no number.")]),
        Variant("c", [rule("http_error", f"{_C}/report", method=["GET"], status=503), rule("connection_cut", f"{_C}/report", method=["POST"])], [_cell("driver.find_element(By.LINK_TEXT, 'Report').click()\ntime.sleep(0.5)", "503. The link again."), _cell("driver.execute_script(\"document.getElementById('send').click()\")\ntime.sleep(0.6)", "No connection. Click by script.")]),
        Variant("d", [rule("http_error", f"{_C}/report", method=["GET"], status=500)], [_cell("driver.get('@C/report')\ntime.sleep(0.4)", "The link leads to an error. Get the form's own address.")]),
        Variant("e", [rule("http_error", f"{_C}/report", method=["POST"], status=500)], [], Say("The lamp at Pier 4 is reported.")),
    ],
)  # fmt: skip

_PREMIUM = Script(
    "ae-premium", ("spa", "selenium"), "blind.code", {"flavour": "helium"}, {auction.HOST: auction.page},
    f"Read the premium at {_A}/terms, then open Walnut desk in the auction and name its price.",
    [
        ("", _py("go_to('@A/terms')\nprint(page_text())")),
        ("18 percent", _py("click('To the auction')\ntime.sleep(0.5)")),
        ("Walnut desk", _py("click('Walnut desk')\ntime.sleep(0.5)")),
        (r"price: (\d+) crowns", _py("final_answer('The premium is 18 percent, the desk costs %FOUND% crowns.')")),
    ],
    _py("final_answer('I could not read the price of the desk because of errors on the site.')"),
    answers("1250 crowns"),
    [
        Variant("a", [rule("http_error", f"{_A}/terms", status=500), rule("http_error", f"{_A}/lots.json*", status=503)], [_py("refresh()\nprint(page_text())", "An error page: refresh."), _py("click('Fetch again')\ntime.sleep(0.5)", "The lots did not arrive. Fetch again.")]),
        Variant("b", [rule("http_error", f"{_A}/partial/lot*", status=500)], [_py("driver.refresh()\ntime.sleep(0.6)", "There was an error: 500. Refresh, the lot is in the address.")]),
        Variant("c", [rule("connection_cut", f"{_A}/partial/lot*")], [_py("go_back()\ntime.sleep(0.5)\nclick('Walnut desk')\ntime.sleep(0.5)", "An error. Back to the lots and once more.")]),
        Variant("d", [rule("http_error", f"{_A}/lots.json*", times=2, status=500)], [_py("driver.get('@A/#lot-2')\ndriver.refresh()\ntime.sleep(0.6)", "The lots fail. Lot 2 probably is the desk."), _py("final_answer('The premium is 18 percent, the desk costs 1250 crowns.')")]),
        Variant("e", [rule("http_error", f"{_A}/price*", times={"always": True}, status=500)], []),
    ],
)  # fmt: skip

SCRIPTS = [_RESERVE, _LAMP, _PREMIUM]
