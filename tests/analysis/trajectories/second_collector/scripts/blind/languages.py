# ruff: noqa: E501, RUF001  (What a model says stays on one line, in its own letters.)
"""Agents that think and answer in further languages, at ticket desks."""

import re
from collections.abc import Sequence

from tests.analysis.trajectories.second_collector.cases import BLIND, Script, rule
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
        lambda world, said: len(world.orders) == 1,
        cases,
    )  # fmt: skip


def _url(code: str, path: str = "/desk") -> str:
    return f"https://{desks.host(code)}{path}"


SCRIPTS = [
    _desk("da", "webvoyager", "Køb en billet.", ("Jeg åbner siden.", "Jeg køber billetten.", "Billetten er købt.", "Desværre kunne jeg ikke købe billetten, da siden ikke virker."), [
        ("a", [rule("http_error", _url("da"), status=500)], [("Der er en serverfejl. Jeg åbner siden igen.", "goto", _url("da"))], None),
        ("b", [rule("http_error", _url("da", "/tickets"), method=["POST"])], [("Købet mislykkedes. Jeg venter.", "wait")], None),
    ]),
    _desk("fi", "browser_use", "Osta lippu.", ("Avaan sivun.", "Ostan lipun.", "Lippu on ostettu.", "En pystynyt ostamaan lippua, koska sivusto ei vastannut."), [
        ("a", [rule("connection_cut", _url("fi"))], [("Sivu ei latautunut. Yritän uudelleen.", "goto", _url("fi"))], None),
        ("b", [rule("http_error", _url("fi", "/tickets"), method=["POST"], status=500)], [], ("", "end", "Lippu on ostettu.")),
    ]),
    _desk("cs", "agent_e", "Kup vstupenku.", ("Otevírám stránku.", "Kupuji.", "Vstupenka je koupena.", "Vstupenku se bohužel nepodařilo koupit."), [
        ("a", [rule("http_error", _url("cs", "/tickets"), method=["POST"], stage="response", status=500)], [("Chyba serveru. Podívám se na své vstupenky.", "goto", _url("cs", "/tickets")), ("", "end", "Vstupenka je koupena, v seznamu je jedna.")], None),
        ("b", [rule("http_error", _url("cs"), times={"always": True}, status=503)], [("Služba není dostupná, zkusím to znovu.", "goto", _url("cs"))], None),
    ]),
    _desk("el", "skyvern", "Αγόρασε εισιτήριο.", ("Ανοίγω τη σελίδα.", "Πατάω αγορά.", "Το εισιτήριο αγοράστηκε.", "Δεν κατάφερα να αγοράσω εισιτήριο, η σελίδα εμφανίζει σφάλμα."), [
        ("a", [rule("http_error", _url("el"), status=502)], [("Η σελίδα έχει σφάλμα. Ανανέωση.", "reload")], None),
        ("b", [rule("http_error", _url("el", "/tickets"), method=["POST"])], [("Σφάλμα διακομιστή.", "look")], None),
    ]),
    _desk("uk", "taxy", "Купи квиток.", ("Відкриваю сторінку.", "Купую квиток.", "Квиток куплено.", "Не вдалося купити квиток через помилку сервера."), [
        ("a", [rule("http_error", _url("uk", "/tickets"), method=["POST"], status=503)], [("Помилка. Відкриваю сторінку знову.", "goto", _url("uk")), ("Купую ще раз.", "click", "buy")], None),
        ("b", [rule("http_error", _url("uk"), status=500)], [("Сторінка показує помилку.", "wait")], None),
    ]),
    _desk("hu", "devtools", "Vegyél jegyet.", ("Megnyitom az oldalt.", "Megveszem.", "A jegyet megvettem.", "A jegyvásárlás nem sikerült, mert az oldal hibát jelzett."), [
        ("a", [rule("http_error", _url("hu"), times=2, status=500)], [("Szerverhiba. Újratöltöm.", "reload"), ("Még egyszer.", "reload")], None),
        ("b", [rule("http_error", _url("hu", "/tickets/done"), status=500)], [("Hiba a végén. Megnézem a jegyeimet.", "goto", _url("hu", "/tickets")), ("", "end", "A jegyet megvettem: egy jegy szerepel a listán.")], None),
    ]),
    _desk("vi", "weblinx", "Mua một vé.", ("Tôi mở trang.", "Tôi mua vé.", "Đã mua vé thành công.", "Rất tiếc, tôi không thể mua vé vì trang web bị lỗi."), [
        ("a", [rule("maintenance_page", _url("vi"))], [("Trang đang bảo trì. Tôi thử lại.", "goto", _url("vi"))], None),
        ("b", [rule("http_error", _url("vi", "/tickets"), method=["POST"], status=500)], [("Có lỗi.", "scroll")], ("", "end", "Đã mua vé thành công.")),
    ]),
    _desk("th", "openhands", "ซื้อตั๋วหนึ่งใบ", ("เปิดหน้าเว็บ", "กดซื้อ", "ซื้อตั๋วเรียบร้อยแล้ว", "ไม่สามารถซื้อตั๋วได้ เนื่องจากเว็บไซต์ขัดข้อง"), [
        ("a", [rule("http_error", _url("th"), status=500)], [("เซิร์ฟเวอร์ขัดข้อง เปิดใหม่อีกครั้ง", "goto", _url("th"))], None),
        ("b", [rule("http_error", _url("th", "/tickets"), method=["POST"], status=503)], [("เกิดข้อผิดพลาด", "wait", 1500)], None),
    ]),
    _desk("id", "puppeteer", "Beli satu tiket.", ("Saya buka halamannya.", "Saya beli.", "Tiket sudah dibeli.", "Maaf, tiket gagal dibeli karena situsnya bermasalah."), [
        ("a", [rule("http_error", _url("id", "/tickets"), method=["POST"], status=500)], [("Terjadi kesalahan. Kembali dulu.", "js", "history.back()"), ("Beli lagi.", "click", "buy")], None),
        ("b", [rule("http_error", _url("id"), status=500)], [BLIND], None),
    ]),
    _desk("he", "stagehand", "קנה כרטיס.", ("פותח את הדף.", "קונה.", "הכרטיס נקנה.", "לצערי לא הצלחתי לקנות את הכרטיס בגלל תקלה באתר."), [
        ("a", [rule("http_error", _url("he"), status=500)], [("יש שגיאה בדף, אנסה שוב.", "goto", _url("he"))], None),
        ("b", [rule("connection_cut", _url("he", "/tickets"), method=["POST"], stage="response")], [("החיבור נותק. אבדוק את הכרטיסים שלי.", "goto", _url("he", "/tickets")), ("", "end", "הכרטיס נקנה, הוא מופיע ברשימה.")], None),
    ]),
]  # fmt: skip
