# ruff: noqa: E501, RUF001  (What a model says stays on one line, in its own letters.)
"""Agents that think and answer in further languages, at ticket desks."""

import re
from collections.abc import Sequence

from tests.analysis.trajectories.second_collector.cases import Script, rule
from tests.analysis.trajectories.second_collector.scripts.blind.wording import Case, script
from tests.analysis.trajectories.second_collector.sites.blind import desks


def _desk(code: str, style: str, task: str, words: Sequence[str], cases: Sequence[Case]) -> Script:
    """Return the script of buying a ticket; `words`: two thoughts, the success, the failure."""
    desk, host = desks.DESKS[code], desks.host(code)
    opening, buying, success, failure = words
    click = desk.buy if style == "stagehand" else "buy"
    return script(
        f"bl-{code}", ("languages",), style, {host: desks.page}, f"{task} https://{host}/desk",
        [
            ("", (opening, "goto", f"https://{host}/desk")),
            (re.escape(desk.ticket), (buying, "click", click)),
            ("✓", (buying, "end", success)),
        ],
        ("", "fail", failure),
        lambda world, message: len(world.orders) == 1,
        cases,
    )  # fmt: skip


def _url(code: str, path: str = "/desk") -> str:
    return f"https://{desks.host(code)}{path}"


SCRIPTS = [
    _desk("fi", "browser_use", "Osta lippu.", ("Avaan sivun.", "Ostan lipun.", "Lippu on ostettu.", "En pystynyt ostamaan lippua, koska sivusto ei vastannut."), [
        ("m", [rule("connection_cut", _url("fi")), rule("http_error", _url("fi", "/tickets"), method=["POST"], status=500)], [("Sivu ei latautunut. Yritän uudelleen.", "goto", _url("fi"))], ("", "end", "Lippu on ostettu.")),
    ]),
    _desk("cs", "agent_e", "Kup vstupenku.", ("Otevírám stránku.", "Kupuji.", "Vstupenka je koupena.", "Vstupenku se bohužel nepodařilo koupit."), [
        ("m", [rule("http_error", _url("cs"), status=503), rule("http_error", _url("cs", "/tickets"), method=["POST"], stage="response", status=500)], [("Služba není dostupná, zkusím to znovu.", "goto", _url("cs")), ("Chyba serveru. Podívám se na své vstupenky.", "goto", _url("cs", "/tickets")), ("", "end", "Vstupenka je koupena, v seznamu je jedna.")], None),
    ]),
    _desk("uk", "taxy", "Купи квиток.", ("Відкриваю сторінку.", "Купую квиток.", "Квиток куплено.", "Не вдалося купити квиток через помилку сервера."), [
        ("m", [rule("http_error", _url("uk"), status=500), rule("http_error", _url("uk", "/tickets"), method=["POST"], times=2, status=503)], [("Сторінка показує помилку. Відкриваю знову.", "goto", _url("uk")), ("Помилка. Повертаюся на сторінку.", "goto", _url("uk")), ("Купую ще раз.", "click", "buy")], None),
    ]),
    _desk("hu", "devtools", "Vegyél jegyet.", ("Megnyitom az oldalt.", "Megveszem.", "A jegyet megvettem.", "A jegyvásárlás nem sikerült, mert az oldal hibát jelzett."), [
        ("m", [rule("http_error", _url("hu"), times=2, status=500), rule("http_error", _url("hu", "/tickets/done"), status=500)], [("Szerverhiba. Újratöltöm.", "reload"), ("Még egyszer.", "reload"), ("Hiba a végén. Megnézem a jegyeimet.", "goto", _url("hu", "/tickets")), ("", "end", "A jegyet megvettem: egy jegy szerepel a listán.")], None),
    ]),
    _desk("th", "openhands", "ซื้อตั๋วหนึ่งใบ", ("เปิดหน้าเว็บ", "กดซื้อ", "ซื้อตั๋วเรียบร้อยแล้ว", "ไม่สามารถซื้อตั๋วได้ เนื่องจากเว็บไซต์ขัดข้อง"), [
        ("m", [rule("http_error", _url("th"), status=500), rule("http_error", _url("th", "/tickets"), method=["POST"], status=503)], [("เซิร์ฟเวอร์ขัดข้อง เปิดใหม่อีกครั้ง", "goto", _url("th")), ("เกิดข้อผิดพลาด", "wait", 1500)], None),
    ]),
    _desk("he", "stagehand", "קנה כרטיס.", ("פותח את הדף.", "קונה.", "הכרטיס נקנה.", "לצערי לא הצלחתי לקנות את הכרטיס בגלל תקלה באתר."), [
        ("m", [rule("http_error", _url("he"), status=500), rule("connection_cut", _url("he", "/tickets"), method=["POST"], stage="response")], [("יש שגיאה בדף, אנסה שוב.", "goto", _url("he")), ("החיבור נותק. אבדוק את הכרטיסים שלי.", "goto", _url("he", "/tickets")), ("", "end", "הכרטיס נקנה, הוא מופיע ברשימה.")], None),
    ]),
]  # fmt: skip
