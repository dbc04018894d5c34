# ruff: noqa: E501  (A desk stays on one line, in its own letters.)
"""Ticket desks of museums in many languages."""

from dataclasses import dataclass

from tests.analysis.trajectories.second_collector.sites import Answer, Asked, World, redirect


@dataclass(frozen=True, slots=True)
class Words:
    """A desk's texts."""

    museum: str
    ticket: str
    buy: str
    thanks: str
    mine: str


DESKS = {
    "sv": Words("Sjömuseet", "Biljett: 90 kr", "Köp biljett", "Tack för ditt köp", "Mina biljetter"),
    "fi": Words("Merimuseo", "Lippu: 14 €", "Osta lippu", "Kiitos ostoksestasi", "Omat liput"),
    "cs": Words("Muzeum lodí", "Vstupenka: 120 Kč", "Koupit", "Děkujeme za nákup", "Moje vstupenky"),
    "uk": Words("Морський музей", "Квиток: 150 ₴", "Купити", "Дякуємо за покупку", "Мої квитки"),
    "hu": Words("Hajómúzeum", "Jegy: 2400 Ft", "Megveszem", "Köszönjük a vásárlást", "Jegyeim"),
    "th": Words("พิพิธภัณฑ์เรือ", "ตั๋ว: 200 บาท", "ซื้อตั๋ว", "ขอบคุณที่ซื้อ", "ตั๋วของฉัน"),
    "he": Words("מוזיאון הים", "כרטיס: 40 ₪", "קנייה", "תודה על הרכישה", "הכרטיסים שלי"),
    "de": Words("Schiffsmuseum", "Karte: 11 €", "Karte kaufen", "Danke für Ihren Kauf", "Meine Karten"),
}  # fmt: skip


def host(code: str) -> str:
    return f"museum-{code}.test"


def page(asked: Asked, world: World) -> Answer | None:
    """Answer for the desk of the host."""
    code = asked.host.removeprefix("museum-").removesuffix(".test")
    words = DESKS[code]
    if asked.path == "/tickets" and asked.method == "POST":
        world.orders.append({"ticket": code})
        return redirect("/tickets/done")
    body = {
        "/": f"<a id=desk href=/desk>{words.ticket}</a>",
        "/desk": f"<p>{words.ticket}<form method=post action=/tickets>"
        f"<button id=buy>{words.buy}</button></form>",
        "/tickets/done": f"<p>{words.thanks} ✓",
        "/tickets": f"<p>{words.mine}: {len(world.orders)}",
    }.get(asked.path)
    if body is None:
        return None
    return Answer(
        f"<!doctype html><html lang={code}><title>{words.museum}</title><link rel=icon href=data:,>"
        f"<h1>{words.museum}</h1><a id=mine href=/tickets>{words.mine}</a> {body}"
    )
