"""Small shops in many languages: a product page and an order form each."""

from dataclasses import dataclass

from tests.analysis.trajectories.second_collector.sites import Answer, Asked, World, redirect


@dataclass(frozen=True, slots=True)
class Words:
    """A shop's texts."""

    host: str
    title: str
    product: str
    price: str
    order: str
    thanks: str
    orders: str


SHOPS = {
    "de": Words("laden.test", "Teeladen", "Grüner Tee", "Preis: 12,80 €", "Bestellen",
                "Vielen Dank für Ihre Bestellung", "Ihre Bestellungen"),
    "fr": Words("boutique.test", "La Boutique", "Thé vert", "Prix : 12,80 €", "Commander",
                "Merci pour votre commande", "Vos commandes"),
    "es": Words("tienda.test", "La Tienda", "Té verde", "Precio: 12,80 €", "Comprar",
                "Gracias por su compra", "Sus pedidos"),
    "pt": Words("loja.test", "A Loja", "Chá verde", "Preço: 12,80 €", "Encomendar",
                "Obrigado pela sua encomenda", "As suas encomendas"),
    "it": Words("bottega.test", "La Bottega", "Tè verde", "Prezzo: 12,80 €", "Ordina",
                "Grazie per il tuo ordine", "I tuoi ordini"),
    "nl": Words("winkel.test", "De Winkel", "Groene thee", "Prijs: € 12,80", "Bestellen",
                "Bedankt voor uw bestelling", "Uw bestellingen"),
    "pl": Words("sklep.test", "Sklep", "Zielona herbata", "Cena: 12,80 zł", "Zamów",
                "Dziękujemy za zamówienie", "Twoje zamówienia"),
    "ru": Words("lavka.test", "Лавка", "Зелёный чай", "Цена: 1280 ₽", "Заказать",
                "Спасибо за заказ", "Ваши заказы"),
    "tr": Words("dukkan.test", "Dükkân", "Yeşil çay", "Fiyat: 128 TL", "Sipariş ver",
                "Siparişiniz için teşekkürler", "Siparişleriniz"),
    "zh": Words("shangdian.test", "茶店", "绿茶", "价格:128 元", "下单",
                "感谢您的订单", "您的订单"),
    "ja": Words("mise.test", "お茶の店", "緑茶", "価格:1280円", "注文する",
                "ご注文ありがとうございます", "ご注文一覧"),
    "ko": Words("gage.test", "찻집", "녹차", "가격: 12,800원", "주문하기",
                "주문해 주셔서 감사합니다", "주문 내역"),
    "ar": Words("matjar.test", "متجر الشاي", "شاي أخضر", "السعر: 128 درهم", "اطلب",
                "شكرا لطلبك", "طلباتك"),
    "hi": Words("dukaan.test", "चाय की दुकान", "हरी चाय", "मूल्य: ₹128", "ऑर्डर करें",
                "आपके ऑर्डर के लिए धन्यवाद", "आपके ऑर्डर"),
}  # fmt: skip


def page(asked: Asked, world: World) -> Answer | None:
    """Answer for the shop of the host."""
    code, words = next((k, w) for k, w in SHOPS.items() if w.host == asked.host)
    if asked.path == "/order" and asked.method == "POST":
        world.orders.append({"item": "tea"})
        return redirect("/thanks")
    body = {
        "/": f"<a id=tea href=/tea>{words.product}</a> "
        f"<a id=orders href=/orders>{words.orders}</a>",
        "/tea": f"<h2>{words.product}</h2><p>{words.price}<form method=post action=/order>"
        f"<button id=buy>{words.order}</button></form>",
        "/thanks": f"<p>{words.thanks}. <a id=orders href=/orders>{words.orders}</a>",
        "/orders": f"<p>{words.orders}: {len(world.orders)}",
    }.get(asked.path)
    if body is None:
        return None
    direction = " dir=rtl" if code == "ar" else ""
    return Answer(
        f"<!doctype html><html lang={code}{direction}><title>{words.title}</title>"
        f"<link rel=icon href=data:,><h1>{words.title}</h1>{body}"
    )
