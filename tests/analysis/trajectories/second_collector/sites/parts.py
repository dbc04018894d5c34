"""A supplier without a browser's pages: an API of parts, documents and a file."""

import json

from tests.analysis.trajectories.second_collector.sites import (
    Answer,
    Asked,
    World,
    as_json,
    redirect,
)

HOST = "parts.test"
BASE = f"https://{HOST}"

_PARTS = {
    "p1": ("hinge", 3.2, 140),
    "p2": ("bolt", 0.4, 9000),
    "p3": ("valve", 27.5, 12),
    "p4": ("gasket", 1.1, 640),
    "p5": ("pump", 189.0, 3),
    "p6": ("filter", 14.9, 77),
}


def _part(name: str) -> dict[str, object]:
    title, price, stock = _PARTS[name]
    return {"id": name, "title": title, "price": price, "stock": stock}


def page(asked: Asked, world: World) -> Answer | None:
    """Answer for the supplier."""
    path = asked.path
    if path == "/v1/orders" and asked.method == "POST":
        order = json.loads(asked.body)
        world.orders.append({k: str(v) for k, v in order.items()})
        return as_json({"order": f"o{len(world.orders)}", "state": "accepted"}, 201)
    if path == "/v1/orders":
        return as_json({"orders": world.orders})
    if path == "/v1/parts":
        number = int(asked.query.get("page", "1"))
        names = list(_PARTS)[2 * number - 2 : 2 * number]
        return as_json({"page": number, "of": 3, "parts": [_part(n) for n in names]})
    if path.startswith("/v1/parts/") and path.rsplit("/", 1)[1] in _PARTS:
        return as_json(_part(path.rsplit("/", 1)[1]))
    match path:
        case "/v1/rates":
            return as_json({"EUR": 1.0, "USD": 1.08, "JPY": 161.2})
        case "/report.csv":
            rows = "".join(f"{k},{v[0]},{v[2]}\n" for k, v in _PARTS.items())
            return Answer(f"id,title,stock\n{rows}", "text/csv")
        case "/docs":
            return Answer(
                "<title>Docs</title><h1>Docs</h1><p>The limit is 40 requests a minute."
                " See <a href=/docs/errors>errors</a>."
            )
        case "/docs/errors":
            return Answer("<title>Errors</title><h1>Errors</h1><p>E17: the valve is stuck.")
        case "/latest":
            return redirect("/report.csv", 302)
        case "/":
            return Answer("<title>Parts</title><h1>Parts</h1><a href=/docs>Docs</a>")
    return None
