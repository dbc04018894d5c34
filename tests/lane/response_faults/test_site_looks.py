from warex.exchange import UNKNOWN_LOOK, Request
from warex.faults.popups.popup import Popup
from warex.faults.walls.captcha_wall import CaptchaWall
from warex.lane.response_faults.site_looks import SiteLooks
from warex.scenarios import Match, Rule, Trigger

PAGE = b"<title>Kiosk</title><link rel=stylesheet href=/s.css><img class=logo src=/l.png>"


def get(url: str) -> Request:
    return Request("GET", url)


def test_a_site_looks_as_its_latest_page_and_styles_have_shown() -> None:
    looks = SiteLooks(wanted=True)
    assert looks.of(get("https://shop.test/")) == UNKNOWN_LOOK

    looks.note(get("https://shop.test/"), "text/html", PAGE)
    assert looks.of(get("https://shop.test/x")).ground == "#ffffff"
    looks.note(get("https://shop.test/s.css"), "text/css", b"body{background:#123456}")
    assert looks.of(get("https://shop.test/x")).ground == "#123456"
    looks.note(get("https://shop.test/y"), "text/html", b"<title>Other</title>")
    assert looks.of(get("https://shop.test/x")).name == "Other"


def test_hosts_of_one_domain_share_the_look_except_the_logo() -> None:
    looks = SiteLooks(wanted=True)
    looks.note(get("https://www.shop.test/"), "text/html", PAGE)

    result = looks.of(get("https://login.shop.test/"))
    assert (result.name, result.logo) == ("Kiosk", "")
    assert looks.of(get("https://www.shop.test/a")).logo == "https://www.shop.test/l.png"
    assert looks.of(get("https://news.test/")) == UNKNOWN_LOOK


def test_kept_pages_and_styles_are_limited() -> None:
    looks = SiteLooks(wanted=True)
    for number in range(100):
        looks.note(get(f"https://s{number}.test/"), "text/html", PAGE)
        looks.note(get(f"https://s{number}.test/s.css"), "text/css", b"a" * 500_000)

    known = [looks.of(get(f"https://s{number}.test/")) != UNKNOWN_LOOK for number in range(100)]
    assert sum(known) == 32
    assert sum(map(len, looks._sheets.values())) <= 4 * 1024 * 1024


def test_a_trial_whose_faults_do_not_ask_keeps_nothing() -> None:
    def rule(fault: CaptchaWall | Popup) -> Rule:
        return Rule(name="a", match=Match(), trigger=Trigger(first=1), per="rule", fault=fault)

    assert SiteLooks.of_rules([rule(CaptchaWall())]).wanted
    assert not SiteLooks.of_rules([rule(Popup())]).wanted
