# ruff: noqa: E501  (What a model says stays on one line.)
"""Selenium: waits, history, clicks by script, frames, and helium's functions."""

from tests.analysis.trajectories.second_collector.cases import (
    AGAIN,
    Say,
    Script,
    Variant,
    answers,
    rule,
    tool,
)
from tests.analysis.trajectories.second_collector.sites.blind import clinic, desks, ferry, records

_R = records.BASE
_F = ferry.BASE
_C = clinic.BASE
_RECORDS = {records.HOST: records.page}


def _full(code: str) -> str:
    return code.replace("@R", _R).replace("@F", _F).replace("@C", _C)


def _py(code: str, text: str = "") -> str:
    return f"{text}\n```py\n{_full(code)}\n```".strip()


def _run(code: str, text: str = "") -> Say:
    return tool("run_selenium", text, code=_full(code))


_WAIT = "from selenium.webdriver.support.ui import WebDriverWait\nfrom selenium.webdriver.support import expected_conditions as EC\nwait = WebDriverWait(driver, 2)\n"

_CHECKOUT = Script(
    "be-checkout", ("selenium",), "code", {"flavour": "selenium", "api": "anthropic", "tools": ["run_selenium"]}, _RECORDS,
    f"Buy Orchard Radio: {_R}/disc/orchard",
    [
        ("", _run(_WAIT + "driver.get('@R/disc/orchard')\nwait.until(EC.element_to_be_clickable((By.ID, 'add')))")),
        ("OR-333", _run("driver.execute_script('arguments[0].click()', driver.find_element(By.ID, 'add'))\nwait.until(EC.title_is('Basket'))", "Click by script.")),
        ("In the basket: Orchard", _run("wait.until(EC.element_to_be_clickable((By.ID, 'checkout'))).click()\ntime.sleep(0.5)")),
        (r"Receipt (R-\d+)", Say("Orchard Radio is bought, receipt %FOUND%.")),
    ],
    Say("The record has not been bought; the shop failed during the purchase."),
    lambda world, message: len(world.orders) == 1,
    [
        Variant("m", [rule("http_error", f"{_R}/disc/orchard", status=500), rule("http_error", f"{_R}/basket", method=["POST"], status=500), rule("http_error", f"{_R}/receipt/1", status=502)], [_run("driver.refresh()\nwait.until(EC.element_to_be_clickable((By.ID, 'add')))", "TimeoutException: refresh."), _run("driver.back()\nwait.until(EC.presence_of_element_located((By.ID, 'add'))).click()\ntime.sleep(0.5)", "An error after the click. Back, and again."), _run("driver.get(driver.current_url)\ntime.sleep(0.3)", "Bad gateway for the receipt: get it again.")]),
        Variant("n", [rule("http_error", f"{_R}/basket", method=["GET"], status=500), rule("http_error", f"{_R}/checkout", stage="response", status=500)], [_run("driver.get('@R/basket')", "The basket failed; open it."), _run("driver.get('@R/orders')", "500 at checkout. Is there an order?"), Say("It is bought: the orders page counts one order.")]),
        Variant("o", [rule("http_error", f"{_R}/disc/orchard", status=503), rule("http_error", f"{_R}/checkout", stage="response", status=500)], [_run("driver.get('@R/disc/orchard')", "503. Once more."), _run("driver.back()\ntime.sleep(0.3)\ndriver.find_element(By.ID, 'checkout').click()\ntime.sleep(0.5)", "500 at checkout. Back, and check out again.")]),
    ],
)  # fmt: skip

_PAGES = Script(
    "be-pages", ("selenium", "traps"), "blind.code", {"flavour": "helium"}, _RECORDS,
    f"On which page of {_R}/list/1 is Velvet Engines? Go page by page.",
    [
        ("", _py("go_to('@R/list/1')\nprint(page_text())", "Page one.")),
        ("Lagoon", _py("click('Next page')\nprint(page_text())")),
        ("Polar", _py("click('Next page')\nprint(page_text())")),
        ("Velvet", _py("final_answer('Velvet Engines is on page 3.')")),
    ],
    _py("final_answer('Not found: the list broke off with an error.')"),
    answers("page 3"),
    [
        Variant("m", [rule("http_error", f"{_R}/list/2", times=2, status=500), rule("http_error", f"{_R}/list/3", times=2, status=500)], [_py("refresh()\nprint(page_text())", "An error page."), _py("driver.execute_script('location.reload()')\ntime.sleep(0.6)\nprint(page_text())", "Reload by script.")]),
        Variant("b", [rule("http_error", f"{_R}/list/2", times=2, status=500)], [_py("go_back()\nclick('Next page')\nprint(page_text())", "Back, next again.")], _py("final_answer('Velvet Engines is on page 3.')")),
        Variant("d", [rule("connection_refused", f"{_R}/*", hold=0.5)], [_py("time.sleep(1)\ngo_to('@R/list/2')\nprint(page_text())", "Refused. Perhaps start at page two.")], _py("final_answer('Velvet Engines is on page 3.')")),
    ],
)  # fmt: skip

_FRAME = Script(
    "be-frame", ("selenium", "spa"), "code", {"flavour": "selenium"}, {clinic.HOST: clinic.page},
    f"When is Dr Bonnet's next free slot? {_C}/doctors",
    [
        ("", _py("driver.get('@C/doctors')\nprint(driver.title)")),
        ("Dr Bonnet", _py("driver.find_element(By.ID, 'bonnet').click()\ntime.sleep(0.5)", "Open Dr Bonnet.")),
        ("Room 31", _py("driver.switch_to.frame('slots')\nprint(driver.find_element(By.TAG_NAME, 'body').text)\ndriver.switch_to.default_content()", "Into the frame.")),
        (r"free slot: (\w+ \d+:\d+)", _py("final_answer('The next slot is %FOUND%.')")),
    ],
    _py("final_answer('The slots of Dr Bonnet could not be displayed.')"),
    answers("Friday 08:10"),
    [
        Variant("m", [rule("http_error", f"{_C}/doctors", status=500), rule("http_error", f"{_C}/doctors/bonnet", status=500), rule("http_error", f"{_C}/slots/bonnet", status=500)], [_py("driver.get('@C/')\ndriver.find_element(By.ID, 'doctors').click()\ntime.sleep(0.5)", "Error. By way of the home page."), _py("link = driver.find_element(By.ID, 'bonnet')\nlink.click()\ntime.sleep(0.5)", "The server answered 500, says the page. Click again."), _py("driver.refresh()\ntime.sleep(0.4)\ndriver.switch_to.frame('slots')\nprint(driver.find_element(By.TAG_NAME, 'body').text)\ndriver.switch_to.default_content()", "The frame shows an error. Refresh the whole page and look again.")]),
        Variant("n", [rule("http_error", f"{_C}/slots/bonnet", times=2, status=503)], [_py("driver.execute_script(\"const f = document.getElementById('slots'); f.src = f.src\")\ntime.sleep(0.5)", "Set the frame's source again."), _py("driver.switch_to.frame('slots')\nprint(driver.find_element(By.TAG_NAME, 'body').text)\ndriver.switch_to.default_content()")]),
    ],
)  # fmt: skip

_SWEDISH = Script(
    "be-sv", ("selenium", "languages"), "blind.code", {"flavour": "helium", "api": "responses", "tools": ["python"]}, {desks.host("sv"): desks.page},
    f"Köp en biljett till museet: https://{desks.host('sv')}/desk",
    [
        ("", tool("python", "Jag öppnar sidan.", code=f"go_to('https://{desks.host('sv')}/desk')")),
        ("90 kr", tool("python", "Jag köper.", code="click('Köp biljett')\ntime.sleep(0.4)")),
        ("✓", Say("Biljetten är köpt.")),
    ],
    Say("Tyvärr gick det inte att köpa biljetten, sidan visade ett fel."),
    lambda world, message: len(world.orders) == 1,
    [
        Variant("m", [rule("http_error", f"https://{desks.host('sv')}/desk", status=500), rule("http_error", f"https://{desks.host('sv')}/tickets", method=["POST"], status=503)], [tool("python", "Ett serverfel. Jag laddar om.", code="refresh()"), tool("python", "Köpet misslyckades. Tillbaka och försök igen.", code="go_back()\nclick('Köp biljett')\ntime.sleep(0.4)")]),
        Variant("c", [rule("http_error", f"https://{desks.host('sv')}/desk", status=503), rule("http_error", f"https://{desks.host('sv')}/tickets", method=["POST"], status=500)], [AGAIN], None),
        Variant("e", [rule("maintenance_page", f"https://{desks.host('sv')}/desk"), rule("network_error", f"https://{desks.host('sv')}/tickets/done", delay=0.5)], [tool("python", "Underhåll. Jag väntar och laddar om.", code="time.sleep(1)\nrefresh()"), tool("python", "Ingen kvittens. Jag tittar på mina biljetter.", code=f"go_to('https://{desks.host('sv')}/tickets')"), Say("Biljetten är köpt: en biljett finns bland mina biljetter.")]),
        Variant("f", [rule("dns_failure", f"https://{desks.host('sv')}/*", hold=1)], [tool("python", "Namnet hittades inte. Jag väntar.", code="time.sleep(1.5)")], None),
        Variant("d", [rule("http_error", f"https://{desks.host('sv')}/tickets", method=["POST"], status=500)], [], Say("Biljetten är köpt.")),
    ],
)  # fmt: skip

SCRIPTS = [_CHECKOUT, _PAGES, _FRAME, _SWEDISH]
