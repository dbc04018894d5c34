# ruff: noqa: E501  (What a model says stays on one line.)
"""Selenium harnesses: code with a driver, in blocks or as a tool's argument."""

from tests.analysis.trajectories.second_collector.cases import (
    AGAIN,
    Say,
    Script,
    Variant,
    answers,
    rule,
    tool,
)
from tests.analysis.trajectories.second_collector.scripts.harness import reserved
from tests.analysis.trajectories.second_collector.sites import board, library, shops

_L = library.BASE
_B = board.BASE


def _py(code: str, text: str = "") -> str:
    return f"{text}\n```python\n{code.replace('@L', _L).replace('@B', _B)}\n```".strip()


def _run(code: str, text: str = "") -> Say:
    return tool("execute", text, code=code.replace("@L", _L).replace("@B", _B))


_SHELF = Script(
    "se-shelf", ("selenium",), "code", {"flavour": "selenium"}, {library.HOST: library.page},
    f"On which shelf is Harbour Nights? {_L}/books",
    [
        ("", _py("driver.get('@L/books')\nprint(driver.title)", "I open the list of books.")),
        ("4 books", _py("driver.find_element(By.ID, 'harbour').click()\nprint(driver.title)")),
        (r"Shelf (D-\d+)", _py("final_answer('Shelf %FOUND%')")),
    ],
    _py("final_answer('I could not find out the shelf.')"),
    answers("D-31"),
    [
        Variant("a", [rule("http_error", f"{_L}/book/*")], [_py("driver.refresh()\nprint(driver.title)", "Internal error, refresh.")]),
        Variant("b", [rule("http_error", f"{_L}/books", times=2, status=503)], [_py("driver.get(driver.current_url)\nprint(driver.title)", "503."), _py("time.sleep(1)\ndriver.get('@L/books')\nprint(driver.title)", "Still 503, wait a second.")]),
        Variant("c", [rule("connection_cut", f"{_L}/book/harbour")], [_py("driver.back()\nprint(driver.current_url)", "The page did not come."), _py("driver.find_element(By.PARTIAL_LINK_TEXT, 'Harbour N').click()")]),
        Variant("d", [rule("http_error", f"{_L}/book/harbour", times={"always": True})], [_py("driver.execute_script('location.reload()')\ntime.sleep(1)", "Reload by script."), _py("driver.refresh()", "Again.")]),
        Variant("e", [rule("javascript_failure", f"{_L}/main.js", delay=0.2, times={"nth": 2})], [_py("from selenium.webdriver.support.ui import WebDriverWait\nWebDriverWait(driver, 2).until(lambda d: 'Shelf' in d.find_element(By.TAG_NAME, 'b').text)", "The shelf is not there yet; wait for it."), _py("print(driver.page_source[:300])")], _py("final_answer('Shelf D-3')")),
        Variant("f", [rule("http_error", f"{_L}/book/*", times=2)], [_py("driver.refresh()", "Refresh.")], silent=True),
    ],
)  # fmt: skip

_TABS = Script(
    "se-tabs", ("selenium", "traps"), "code", {"flavour": "selenium", "api": "anthropic", "tools": ["execute"]}, {library.HOST: library.page},
    f"What are the opening hours and the telephone number? {_L}/hours and {_L}/contact",
    [
        ("", _run("driver.get('@L/hours')\nprint(driver.find_element(By.TAG_NAME, 'p').text)", "The hours first.")),
        ("9 to 18", _run("driver.switch_to.new_window('tab')\ndriver.get('@L/contact')\nprint(driver.find_element(By.TAG_NAME, 'p').text)")),
        (r"Telephone (555-\d+)", Say("Monday to Friday, 9 to 18; telephone %FOUND%.")),
    ],
    Say("One of the two pages could not be opened, so my answer is not complete: I miss the telephone number."),
    answers("555-0142"),
    [
        Variant("a", [rule("http_error", f"{_L}/contact")], [_run("driver.close()\ndriver.switch_to.window(driver.window_handles[0])\ndriver.find_element(By.ID, 'contact').click()\nprint(driver.find_element(By.TAG_NAME, 'p').text)", "The new tab shows an error. Back to the first tab; there is a link.")]),
        Variant("b", [rule("http_error", f"{_L}/hours", status=500)], [_run("driver.execute_script(\"window.open('@L/hours')\")\ndriver.switch_to.window(driver.window_handles[-1])\ntime.sleep(1)", "Open it in another window.")]),
        Variant("c", [rule("connection_cut", f"{_L}/contact", times=2)], [_run("print(driver.window_handles)", "An exception.")]),
        Variant("d", [rule("dns_failure", f"{_L}/*", hold=3)], [_run("time.sleep(3)\ndriver.refresh()\nprint(driver.current_url)", "The name was not resolved.")]),
    ],
)  # fmt: skip

_RESERVE = Script(
    "se-reserve", ("selenium",), "code", {"flavour": "selenium"}, {library.HOST: library.page},
    f"Reserve The Tides: {_L}/book/tides",
    [
        ("", _py("book = '@L/book/tides'\ndriver.get(book)")),
        ("On the shelf", _py("button = driver.find_element(By.ID, 'reserve')\nbutton.click()\nprint(driver.find_element(By.ID, 'state').text)")),
        ("Reserved for you", _py("final_answer('The Tides is reserved.')")),
    ],
    _py("final_answer('Sorry: the reservation did not go through.')"),
    reserved("tides"),
    [
        Variant("a", [rule("http_error", method=["POST"])], [_py("driver.get(book)", "An error after the click. Load the book again."), _py("driver.find_element(By.ID, 'reserve').click()")]),
        Variant("b", [rule("http_error", method=["POST"], stage="response", status=503)], [_py("driver.refresh()", "Service unavailable. Refresh."), _py("print(driver.title)")]),
        Variant("c", [rule("http_error", f"{_L}/book/tides", method=["GET"], times={"nth": [1, 2]})], [_py("driver.get(book)", "Error 500."), _py("driver.get(book)", "Once more.")]),
        Variant("d", [rule("lost_write", method=["POST"], answer="back")], [_py("print(driver.page_source[-400:])", "It still says: on the shelf.")], _py("final_answer('The Tides is reserved.')")),
    ],
)  # fmt: skip

_APP = Script(
    "se-app", ("selenium", "spa"), "code", {"flavour": "selenium", "api": "responses", "tools": ["execute"]}, {board.HOST: board.page},
    f"What is the budget of Cobalt? {_B}/projects",
    [
        ("", _run("driver.implicitly_wait(1)\ndriver.get('@B/projects')\ntime.sleep(0.5)")),
        ("Cobalt", _run("driver.find_element(By.ID, 'cobalt').click()\ntime.sleep(0.5)")),
        (r"Budget: (\d+)", Say("15900 euros.")),
    ],
    Say("Cobalt could not be displayed."),
    answers("15900"),
    [
        Variant("a", [rule("http_error", f"{_B}/api/project/*")], [_run("driver.find_element(By.ID, 'again').click()\ntime.sleep(0.5)", "Oops. Use the button.")]),
        Variant("b", [rule("http_error", f"{_B}/api/projects", times=2)], [_run("driver.refresh()\ntime.sleep(0.5)"), _run("driver.get('@B/project/cobalt')\ntime.sleep(0.5)", "Go to the project itself.")]),
        Variant("c", [rule("http_error", f"{_B}/api/project/cobalt")], [_run("driver.back()\ntime.sleep(0.4)\ndriver.forward()\ntime.sleep(0.5)", "Back and forward.")]),
        Variant("e", [rule("soft_error", f"{_B}/api/project/cobalt", resource=["xhr"])], [], Say("15000 euros.")),
        Variant("d", [rule("javascript_failure", f"{_B}/app.js", delay=0.2), rule("http_error", f"{_B}/api/project/cobalt", status=404)], [_run("driver.refresh()\ntime.sleep(0.5)", "The app has not started.")]),
    ],
)  # fmt: skip

_KEYS = Script(
    "se-keys", ("selenium", "languages"), "code", {"flavour": "selenium"}, {"laden.test": shops.page},
    "Was kostet der grüne Tee? https://laden.test/",
    [
        ("", _py("driver.get('https://laden.test/')", "Ich öffne den Laden.")),
        ("Grüner Tee", _py("driver.find_element(By.ID, 'tea').send_keys(Keys.ENTER)\ntime.sleep(0.5)", "Zum Produkt.")),
        (r"Preis: (12,80)", _py("final_answer('Der Tee kostet 12,80 Euro.')")),
    ],
    _py("final_answer('Der Preis ließ sich nicht ermitteln.')"),
    answers("12,80"),
    [
        Variant("a", [rule("http_error", "https://laden.test/tea")], [_py("driver.refresh()", "Serverfehler. Ich lade die Seite neu.")]),
        Variant("b", [rule("http_error", "https://laden.test/", status=503, times=1), rule("connection_cut", "https://laden.test/tea")], [_py("driver.get('https://laden.test/tea')", "Überlastet. Vielleicht geht die Produktseite."), AGAIN]),
        Variant("c", [rule("maintenance_page", "https://laden.test/tea")], [_py("print(driver.title)", "Wartungsarbeiten, da kann man nichts machen.")]),
    ],
)  # fmt: skip

SCRIPTS = [_SHELF, _TABS, _RESERVE, _APP, _KEYS]
