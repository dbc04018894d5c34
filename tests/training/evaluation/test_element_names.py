from collections.abc import Sequence

import pytest

from warex.training.evaluation.element_names import element_names

HTML = """
<nav><a href="/">Home</a> <a class="help" href="/help">Help</a></nav>
<div class="alert"><button class="btn btn-retry" data-test="again">Retry</button></div>
<input type="submit" id="send" value="Send"> <button aria-label="Close">x</button>
"""


@pytest.mark.parametrize(
    ("selector", "name"),
    [
        (".alert .btn-retry", "Retry"),
        ("css=[data-test=again]", "Retry"),
        ("//div[@class='alert']/button", "Retry"),
        ("xpath=//a[2]", "Help"),
        ("#send", "Send"),
        ("[aria-label=Close]", "Close"),
    ],
)
def test_a_selector_names_the_element_that_it_picks(selector: str, name: str) -> None:
    assert name in element_names([selector], HTML)


@pytest.mark.parametrize("selector", ["button", "a", ".no-such", "nav > a", ":::", "//[", ".x//"])
def test_a_selector_of_none_or_several_elements_names_none(selector: str) -> None:
    names = set(element_names([selector], HTML))

    assert not names & {"Retry", "Help", "Home", "Send", "Close"}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('button "Retry" at (640, 412)', "Retry"),
        ('link "Home" at (20, 20), button "Retry" at (640, 412)', "Retry"),
        ("(640, 412) [button] Retry", "Retry"),
        ('text: (20,20)"Home" (640,412)button"Retry" (640,530)button"Help"', "Retry"),
        ("Retry [600, 400, 680, 424]", "Retry"),
        ("x=640, y=412 button Retry", "Retry"),
        ('text: (20,20)"Home" (640,412)button"Help" (640,530)button"Retry"', "Help"),
        ("Help [600, 400, 680, 424]", "Help"),
    ],
)
def test_a_place_names_the_element_that_the_page_has_there(line: str, name: str) -> None:
    names = set(element_names(["640", "412"], f"Title\n{line}\n(100, 100) [link] Elsewhere"))

    assert names & {"Retry", "Help", "Home", "Elsewhere"} == {name}


@pytest.mark.parametrize(
    "values", [["7_7"], ["uid=7_7"], ["[7_7]"]], ids=["bare", "with its attribute", "in brackets"]
)
def test_an_id_names_the_element_whose_line_has_it(values: Sequence[str]) -> None:
    page = 'uid=7_6 StaticText "Error"\n  uid=7_7 button "Retry"\n  uid=7_8 button "Close"'

    names = set(element_names(values, page))

    assert "Retry" in names
    assert "Close" not in names


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("value", "page"),
    [
        ("//*[count(//*[count(//*)>0])>0]", "<div><p>x</p></div>" * 3000),
        ("//*[preceding::*[following::*]]", "<div><p>x</p></div>" * 3000),
        (":has(:has(:has(:has(q))))", "<div>" * 6000),
        ("div div div div.x", "<div>" * 6000),
        ("[" * 100_000, "[12] button 'Save'"),
        (" " * 100_000, "[12] button 'Save'"),
        ("click at 10,10", "10,10 " * 20_000),
        ("click at 10,10", "button 'a' at (10, 10) " * 5000),
        ("12", "[a=b] " * 20_000 + "[12]"),
    ],
)
def test_no_selector_or_page_takes_long(value: str, page: str) -> None:
    assert "Retry" not in element_names([value], page)
