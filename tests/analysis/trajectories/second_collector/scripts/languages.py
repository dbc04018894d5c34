# ruff: noqa: E501, RUF001  (What a model says stays on one line, in its own letters.)
"""Agents that think and answer in other languages, at shops in those languages."""

import re
from collections.abc import Sequence
from typing import Any

from tests.analysis.trajectories.second_collector.cases import BLIND, Rule, Script, Variant, rule
from tests.analysis.trajectories.second_collector.scripts.harness import options
from tests.analysis.trajectories.second_collector.scripts.wording import put
from tests.analysis.trajectories.second_collector.sites import World, shops


def _ordered(world: World, text: str) -> bool:
    return len(world.orders) == 1


def _shop(
    code: str,
    style: str,
    task: str,
    words: Sequence[str],
    variants: Sequence[tuple[str, list[Rule], list[Any], Sequence[Any] | None]],
) -> Script:
    """Return the script of buying tea; `words`: two thoughts, the success, the failure."""
    shop = shops.SHOPS[code]
    base = f"https://{shop.host}"
    opening, buying, success, failure = words
    made = [
        Variant(
            name,
            rules,
            [w if isinstance(w, str) else put(style, *w) for w in reactions],
            None if end is None else put(style, *end),
        )
        for name, rules, reactions, end in variants
    ]
    steps = [
        ("", put(style, opening, "goto", f"{base}/tea")),
        (re.escape(shop.price), put(style, buying, "click", "buy")),
        (shop.thanks, put(style, "", "end", success)),
    ]
    return Script(
        *(f"la-{code}", ("languages",), "tools", options(style), {shop.host: shops.page}),
        *(f"{task} {base}/tea", steps, put(style, "", "give_up", failure), _ordered, made),
    )


def _tea(code: str) -> str:
    return f"https://{shops.SHOPS[code].host}/tea"


def _order(code: str) -> str:
    return f"https://{shops.SHOPS[code].host}/order"


def _all(code: str) -> str:
    return f"https://{shops.SHOPS[code].host}/*"


SCRIPTS = [
    _shop("de", "react", "Bestelle grünen Tee.", ("Ich öffne die Produktseite.", "Ich klicke auf Bestellen.", "Der Tee ist bestellt.", "Leider konnte ich den Tee nicht bestellen, die Seite liefert nur Fehler."), [
        ("a", [rule("http_error", _tea("de"))], [("Die Seite meldet einen Serverfehler. Ich lade sie neu.", "reload")], None),
        ("b", [rule("http_error", _order("de"))], [("Die Bestellung ist fehlgeschlagen.", "goto", _tea("de")), ("Noch einmal bestellen.", "click", "buy")], None),
        ("c", [rule("http_error", _order("de"), status=503)], [], ("", "end", "Der Tee ist bestellt.")),
    ]),
    _shop("fr", "openai", "Commande du thé vert.", ("J'ouvre la page du thé.", "Je commande.", "Le thé vert est commandé.", "Je n'ai pas pu passer la commande : le site est en panne."), [
        ("a", [rule("maintenance_page", _tea("fr"))], [("Le site est en maintenance, je réessaie dans un instant.", "wait", 2), ("Je recharge la page.", "goto", _tea("fr"))], None),
        ("b", [rule("http_error", _tea("fr"), times={"always": True}, status=502)], [("La page ne répond pas correctement.", "back")], None),
        ("c", [rule("http_error", _order("fr"), stage="response")], [("Une erreur est survenue. Je vérifie mes commandes.", "goto", "https://boutique.test/orders"), ("La commande est bien passée.", "end", "Le thé vert est commandé (une commande est enregistrée).")], None),
    ]),
    _shop("es", "xml", "Compra té verde.", ("Abro la página del té.", "Pulso comprar.", "He comprado el té verde.", "No he podido completar la compra porque la página falla."), [
        ("a", [rule("connection_cut", _tea("es"), times=2)], [("No se puede acceder a la página. Lo intento de nuevo.", "goto", _tea("es")), ("Otra vez.", "reload")], None),
        ("b", [rule("network_error", _order("es"), delay=1)], [("", "back"), ("", "click", "buy")], None),
        ("c", [rule("soft_error", _tea("es"), resource=["document"])], [("La página muestra un error, sigo adelante.", "scroll")], None),
    ]),
    _shop("pt", "browsergym", "Encomende chá verde.", ("Abro a página.", "Clico em Encomendar.", "O chá verde foi encomendado.", "Não foi possível encomendar o chá."), [
        ("a", [rule("http_error", _tea("pt"), times=2, status=503)], [("O serviço está indisponível. Vou atualizar.", "reload"), ("Continua indisponível; atualizo outra vez.", "reload")], None),
        ("b", [rule("http_error", _order("pt"))], [("Erro interno do servidor.", "wait", 1500)], None),
    ]),
    _shop("it", "mcp", "Ordina del tè verde.", ("Apro la pagina.", "Ordino.", "Ho ordinato il tè verde.", "Purtroppo non sono riuscito a ordinare il tè."), [
        ("a", [rule("http_error", _tea("it"), status=504)], [("La pagina non si è caricata, riprovo.", "goto", _tea("it"))], None),
        ("b", [rule("captcha_wall", _tea("it"))], [("C'è un controllo anti-robot.", "wait", 2)], None),
        ("c", [rule("http_error", "https://bottega.test/thanks")], [("Errore sulla pagina di conferma, guardo gli ordini.", "goto", "https://bottega.test/orders"), ("", "end", "Il tè è ordinato: risulta un ordine.")], None),
        ("d", [rule("http_error", "https://bottega.test/thanks", status=500)], [BLIND], None),
    ]),
    _shop("nl", "json_text", "Bestel groene thee.", ("Ik open de pagina.", "Ik bestel.", "De groene thee is besteld.", "Het is niet gelukt om de thee te bestellen."), [
        ("a", [rule("http_error", _tea("nl"))], [("Er ging iets mis. Ik vernieuw de pagina.", "reload")], None),
        ("b", [rule("connection_cut", _order("nl"), stage="response")], [("De verbinding is verbroken. Ik bestel opnieuw.", "goto", _tea("nl")), ("", "click", "buy")], None),
    ]),
    _shop("pl", "browser_use", "Zamów zieloną herbatę.", ("Otwieram stronę.", "Zamawiam.", "Herbata została zamówiona.", "Nie udało się zamówić herbaty."), [
        ("a", [rule("http_error", _tea("pl"), status=500)], [("Błąd serwera. Odświeżam stronę.", "reload")], None),
        ("b", [rule("http_error", _tea("pl"), times=3, status=429)], [("Za dużo zapytań, czekam.", "wait", 2), ("Próbuję ponownie.", "goto", _tea("pl")), ("Jeszcze raz.", "goto", _tea("pl"))], None),
    ]),
    _shop("ru", "react", "Закажи зелёный чай.", ("Открываю страницу чая.", "Нажимаю «Заказать».", "Чай заказан.", "Не удалось заказать чай: сайт недоступен."), [
        ("a", [rule("http_error", _tea("ru"))], [("Ошибка сервера. Обновлю страницу.", "reload")], None),
        ("b", [rule("dns_failure", _all("ru"), hold=2)], [("Сайт не найден. Подожду.", "wait", 3), ("Попробую ещё раз.", "goto", _tea("ru"))], None),
        ("c", [rule("http_error", _order("ru"), times={"always": True})], [("Что-то пошло не так, возвращаюсь.", "back"), ("Пробую снова.", "click", "buy")], None),
    ]),
    _shop("tr", "webarena", "Yeşil çay sipariş et.", ("Sayfayı açıyorum.", "Sipariş veriyorum.", "Yeşil çay sipariş edildi.", "Sipariş verilemedi, site çalışmıyor."), [
        ("a", [rule("http_error", _tea("tr"), status=503)], [("Sayfa yüklenmedi, yeniliyorum.", "reload")], None),
        ("b", [rule("http_error", _order("tr"))], [("Bir hata oluştu.", "scroll")], ("", "end", "Yeşil çay sipariş edildi.")),
        ("c", [rule("network_error", _order("tr"), delay=1)], [BLIND], None),
    ]),
    _shop("zh", "openai", "订购绿茶。", ("打开商品页面。", "点击下单。", "绿茶已下单。", "无法完成下单,网站出错了。"), [
        ("a", [rule("http_error", _tea("zh"))], [("服务器错误,刷新页面。", "reload")], None),
        ("b", [rule("network_error", _tea("zh"), delay=1, times=2)], [("页面无法加载,稍后重试。", "wait", 1), ("重新打开页面。", "goto", _tea("zh")), ("再试一次。", "reload")], None),
        ("c", [rule("lost_write", _order("zh"), method=["POST"])], [("没有看到感谢页面。", "goto", "https://shangdian.test/orders"), ("订单数是 0。", "end", "绿茶没有下单成功。")], None),
    ]),
    _shop("ja", "react", "緑茶を注文してください。", ("商品ページを開きます。", "注文します。", "緑茶を注文しました。", "サイトのエラーのため、注文できませんでした。"), [
        ("a", [rule("http_error", _tea("ja"), status=502)], [("エラーが表示されました。もう一度読み込みます。", "reload")], None),
        ("b", [rule("http_error", _order("ja"), status=500)], [("注文に失敗しました。戻ります。", "back"), ("もう一度注文します。", "click", "buy")], None),
        ("c", [rule("http_error", _tea("ja"), times={"always": True})], [BLIND], ("", "end", "緑茶を注文しました。")),
    ]),
    _shop("ko", "json_text", "녹차를 주문해 줘.", ("상품 페이지를 엽니다.", "주문합니다.", "녹차를 주문했습니다.", "오류 때문에 주문하지 못했습니다."), [
        ("a", [rule("http_error", _tea("ko"))], [("서버 오류입니다. 새로고침합니다.", "reload")], None),
        ("b", [rule("rate_limit", _all("ko"), window=3)], [("요청이 너무 많다고 합니다.", "wait", 4), ("다시 엽니다.", "goto", _tea("ko"))], None),
        ("c", [rule("http_error", _order("ko"), status=503)], [BLIND], None),
    ]),
    _shop("ar", "xml", "اطلب شايا أخضر.", ("أفتح الصفحة.", "أضغط على اطلب.", "تم طلب الشاي الأخضر.", "تعذر إتمام الطلب بسبب خطأ في الموقع."), [
        ("a", [rule("http_error", _tea("ar"))], [("حدث خطأ في الخادم، سأعيد تحميل الصفحة.", "reload")], None),
        ("b", [rule("http_error", _tea("ar"), times={"always": True})], [("الصفحة لا تعمل.", "wait", 2)], None),
    ]),
    _shop("hi", "react", "हरी चाय ऑर्डर करो।", ("मैं पेज खोलता हूँ।", "मैं ऑर्डर करता हूँ।", "हरी चाय ऑर्डर हो गई है।", "ऑर्डर नहीं हो सका, साइट में त्रुटि है।"), [
        ("a", [rule("http_error", _tea("hi"), status=503)], [("सर्वर में त्रुटि है, मैं पेज दोबारा लोड करता हूँ।", "reload")], None),
        ("b", [rule("http_error", _order("hi"))], [("कुछ गड़बड़ हुई।", "goto", "https://dukaan.test/orders")], None),
        ("c", [rule("connection_cut", _order("hi"))], [("फिर से।", "goto", _tea("hi")), ("", "click", "buy")], None),
    ]),
]  # fmt: skip
