"""Sites of different makes for pictures of faults: how their pages are built, and in what language.

Each page has a list of cards, a price, a form in which money is spent, a menu and a basket.
"""

from tests.proxy.support.origin import Answer

_GOODS = ("Kettle", "Teapot", "Pan", "Bowl", "Mug", "Jug")


def _page(title: str, head: str, body: str, lang: str = "en", more: str = "") -> str:
    return (
        f'<!doctype html><html lang="{lang}"{more}><head><meta charset="utf-8">'
        f"<title>{title}</title><link rel=icon href='data:,'>{head}</head>{body}</html>"
    )


def _react() -> str:
    """A page as React draws it: hashed classes, texts in pieces, drawn by a script."""
    return _page(
        "Nordhaus",
        "<style>*{box-sizing:border-box}body{margin:0;font-family:Inter,'Helvetica Neue',Arial}"
        ".css-1a{background:#0b3d2e;color:#f4f1e8;display:flex;gap:24px;padding:16px 32px}"
        ".css-1a a{color:inherit;text-decoration:none}.css-2b{padding:24px 32px}"
        ".css-3c{display:grid;grid-template-columns:repeat(3,1fr);gap:16px}"
        ".css-4d{border:1px solid #ddd;border-radius:10px;padding:14px}"
        ".css-5e{background:#0b3d2e;color:#fff;border:0;border-radius:10px;padding:10px 18px}"
        "body{background:#f7f5ef;color:#1d2b26}</style>",
        "<body><div id=root></div><script>"
        "const h=(t,c,...k)=>{const e=document.createElement(t);if(c)e.className=c;"
        "e.append(...k);return e};"
        "const link=(to,...k)=>{const e=h('a','',...k);e.href=to;return e};"
        "const button=(t)=>{const e=h('button','css-5e',t);e.type='submit';return e};"
        "const field=(n,t)=>{const e=h('input');e.name=n;e.type=t;e.placeholder=n;return e};"
        f"const goods={list(_GOODS)!r};"
        "const form=h('form','',field('email','email'),' ',button('Place order'));"
        "form.method='post';"
        "root.append(h('header','css-1a',h('b','logo','Nordhaus'),link('/','Home'),"
        "link('/deals','Deals'),link('/help','Help')),"
        "h('main','css-2b',h('h1','','Your basket'),"
        "h('div','css-3c',...goods.map((g,i)=>h('div','css-4d',h('h3','',link('/p/'+i,g)),"
        "h('span','','$',(19+i*7%11)+'.90')))),"
        "h('p','','Total ',h('strong','','$','147.40')),form));</script></body>",
    )


def _vue() -> str:
    cards = "".join(
        f'<li class="card" data-v-7ba5bd90><a href="/p/{at}" data-v-7ba5bd90>{it}</a> <!---->'
        f'<span class="price" data-v-7ba5bd90>{12 + at * 5 % 9},50&nbsp;\u20ac</span></li>'
        for at, it in enumerate(("Wasserkocher", "Teekanne", "Pfanne", "Sch\u00fcssel", "Becher"))
    )
    return _page(
        "Kochladen",
        "<style>:root{--primary:#c2410c;--paper:#fffaf5}body{margin:0;background:var(--paper);"
        "color:#3b2a20;font:16px/1.5 Nunito,'Trebuchet MS',sans-serif}nav{display:flex;gap:20px;"
        "padding:14px 28px;background:#fff;border-bottom:3px solid var(--primary)}"
        "ul.list{display:grid;grid-template-columns:repeat(3,1fr);gap:14px;list-style:none;padding:0}"
        ".card{background:#fff;border:1px solid #eadfd3;border-radius:16px;padding:16px;"
        "display:flex;flex-direction:column}.btn{background:var(--primary);color:#fff;border:0;"
        "padding:10px 20px;border-radius:20px}main{padding:20px 28px}</style>",
        f"<body><div id=app data-v-app><nav><b class=brand>Kochladen</b><a href=/>Start</a>"
        f"<a href=/angebote>Angebote</a><a href=/hilfe>Hilfe</a></nav><main><h1>Warenkorb</h1>"
        f"<ul class=list>{cards}</ul><p>Gesamtsumme <b>76,50&nbsp;\u20ac</b></p>"
        "<form method=post><input type=email name=email placeholder=E-Mail> "
        "<button class=btn>Jetzt kaufen</button></form></main></div></body>",
        "de",
    )


def _bootstrap() -> str:
    cards = "".join(
        f'<div class="col-4"><div class="card"><div class="card-body"><h5 class="card-title">{it}'
        f'</h5><p class="card-text">${20 + at * 7 % 10}<sup>90</sup></p>'
        f'<a class="btn btn-primary" href="/p/{at}">View</a></div></div></div>'
        for at, it in enumerate(_GOODS)
    )
    return _page(
        "Basket - Home & Co",
        "<style>:root{--bs-primary:#0d6efd;--bs-body-font-family:system-ui,'Segoe UI',Roboto}"
        "body{margin:0;font-family:var(--bs-body-font-family);color:#212529}"
        ".navbar{display:flex;gap:18px;padding:10px 24px;background:#212529;color:#fff}"
        ".navbar a{color:#fff}.row{display:flex;flex-wrap:wrap}.col-4{width:33.3%}"
        ".card{border:1px solid #dee2e6;border-radius:6px;margin:8px;padding:12px}"
        ".btn{display:inline-block;padding:6px 12px;border-radius:6px;border:1px solid #0d6efd}"
        ".btn-primary{background:var(--bs-primary);color:#fff}.container{padding:16px}</style>",
        f'<body><nav class="navbar"><a class="navbar-brand" href="/">Home &amp; Co</a>'
        f'<a href="/new">New</a><a href="/sale">Sale</a></nav><div class="container">'
        f'<h1>Shopping cart</h1><div class="row">{cards}</div><p>Total <b>$150.40</b></p>'
        '<form method="post"><input name="email" type="email" class="form-control"> '
        '<button class="btn btn-primary">Checkout</button></form></div></body>',
    )


def _tables() -> str:
    rows = "".join(
        f"<tr><td><a href=/p/{at}>{it}</a><td align=right>${14 + at * 7 % 12}.00"
        for at, it in enumerate(_GOODS)
    )
    return _page(
        "Cart - Uncle Ted's Kitchen Wares",
        "",
        "<body bgcolor=#FFFFCC text=#333300 link=#993300><table width=100% cellpadding=8>"
        "<tr bgcolor=#993300><td><font color=white size=5><b>Uncle Ted's Kitchen Wares</b></font>"
        "<tr><td><a href=/>Home</a> | <a href=/list>Price list</a> | <a href=/mail>Mail</a>"
        f"<tr><td><h2>Your cart</h2><table border=1 cellpadding=4><tbody>{rows}</tbody></table>"
        "<p>Total: <b>$117.00</b><form method=post>Name <input name=name> Street "
        "<input name=street> <input type=submit value='Send order'></form></table></body>",
    )


def _rtl() -> str:
    cards = "".join(
        f'<article class=item><h3><a href=/p/{at}>{it}</a></h3><b>\u20aa{45 + at * 7 % 20}.00</b>'
        "</article>"
        for at, it in enumerate(("\u05e7\u05d5\u05de\u05e7\u05d5\u05dd", "\u05db\u05d5\u05e1",
                                 "\u05e1\u05d9\u05e8", "\u05e7\u05e2\u05e8\u05d4"))
    )  # fmt: skip
    return _page(
        "\u05e2\u05d2\u05dc\u05ea \u05e7\u05e0\u05d9\u05d5\u05ea | \u05d4\u05de\u05d8\u05d1\u05d7",
        "<style>body{margin:0;background:#f3f8ff;color:#10264d;font:17px Arial,sans-serif}"
        "header{background:#1b4fa0;color:#fff;padding:14px 28px;display:flex;gap:24px}"
        "header a{color:#fff}.items{display:flex;gap:14px}.item{background:#fff;padding:14px;"
        "border-radius:12px;flex:1}button{background:#f5a623;border:0;border-radius:12px;"
        "padding:10px 22px}main{padding:20px 28px}</style>",
        "<body><header><b class=logo>\u05d4\u05de\u05d8\u05d1\u05d7</b><a href=/>\u05d1\u05d9\u05ea"
        "</a><a href=/help>\u05e2\u05d6\u05e8\u05d4</a></header><main>"
        "<h1>\u05e2\u05d2\u05dc\u05ea \u05e7\u05e0\u05d9\u05d5\u05ea</h1>"
        f"<div class=items>{cards}</div><p>\u05e1\u05d4\u05f4\u05db <b>\u20aa202.00</b></p>"
        "<form method=post><input name=email type=email> "
        "<button>\u05dc\u05ea\u05e9\u05dc\u05d5\u05dd</button></form></main></body>",
        "he",
        " dir=rtl",
    )


def _cjk() -> str:
    rows = "".join(
        f"<li class=goods><img alt='' width=60 height=40 style='background:#eee'>"
        f"<a href=/p/{at}>{it}</a><em>\u00a5{1200 + at * 700 % 1500:,}</em></li>"
        for at, it in enumerate(("\u6025\u9808", "\u6e6f\u5451\u307f", "\u571f\u934b", "\u76bf"))
    )
    return _page(
        "\u30ab\u30fc\u30c8\uff5c\u53f0\u6240\u9053\u5177\u5e97",
        "<style>body{margin:0;background:#fffefb;color:#333;font-family:'Noto Sans JP',Meiryo}"
        "#header{border-top:6px solid #b7282e;padding:12px 24px;display:flex;gap:20px}"
        ".list{display:grid;grid-template-columns:repeat(4,1fr);gap:12px;list-style:none;padding:0}"
        ".goods{border:1px solid #ddd;padding:10px;display:grid}.buy{background:#b7282e;color:#fff;"
        "border:0;padding:10px 28px}main{padding:10px 24px}</style>",
        "<body><div id=header><a class=logo href=/>\u53f0\u6240\u9053\u5177\u5e97</a>"
        "<a href=/new>\u65b0\u7740</a><a href=/guide>\u30ac\u30a4\u30c9</a></div><main>"
        f"<h1>\u30ab\u30fc\u30c8</h1><ul class=list>{rows}</ul>"
        "<p>\u5408\u8a08 <b>\u00a57,500</b></p>"
        "<form method=post><input type=email name=email> <button class=buy>\u6ce8\u6587\u3059\u308b"
        "</button></form></main></body>",
        "ja",
    )


MAKES = {
    "React": _react(),
    "Vue": _vue(),
    "Bootstrap": _bootstrap(),
    "tables": _tables(),
    "right to left": _rtl(),
    "CJK": _cjk(),
}
"""The page of each make."""


def routes() -> dict[str, Answer]:
    """Return the answers of a site with each make under a path of its own."""
    kind = [(b"Content-Type", b"text/html; charset=utf-8")]
    return {
        f"/{name.replace(' ', '-')}{query}": Answer(headers=kind, body=page.encode())
        for name, page in MAKES.items()
        for query in ("", "?met=1")
    }
