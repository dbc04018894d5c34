"""A weather service: an API with cursors and jobs, a text file, a page."""

import json

from tests.analysis.trajectories.second_collector.sites import (
    Answer,
    Asked,
    World,
    as_json,
    redirect,
)

HOST = "meteo.test"
BASE = f"https://{HOST}"

_STATIONS = {
    "st-1": ("Skarn", 412, 3.5),
    "st-2": ("Hollow Bay", 6, 11.2),
    "st-3": ("Greywater", 118, 7.9),
    "st-4": ("Cape Lorn", 23, 9.4),
}


def _station(name: str) -> dict[str, object]:
    title, height, degrees = _STATIONS[name]
    return {"id": name, "name": title, "height": height, "celsius": degrees}


def page(asked: Asked, world: World) -> Answer | None:
    """Answer for the weather service."""
    path, post = asked.path, asked.method == "POST"
    if path == "/api/stations":
        at = int(asked.query.get("cursor", "0"))
        names = list(_STATIONS)[at : at + 2]
        following = f"/api/stations?cursor={at + 2}" if at + 2 < len(_STATIONS) else None
        return as_json({"items": [_station(n) for n in names], "next": following})
    if path.startswith("/api/stations/") and path.rsplit("/", 1)[1] in _STATIONS:
        return as_json(_station(path.rsplit("/", 1)[1]))
    if path == "/api/reports" and post:
        world.orders.append({k: str(v) for k, v in json.loads(asked.body).items()})
        return as_json({"job": f"/api/jobs/{len(world.orders)}"}, 202)
    if path.startswith("/api/jobs/"):
        done = world.count(path) > 1
        return as_json({"state": "done", "file": "/out/r1.txt"} if done else {"state": "running"})
    if path == "/api/alerts" and post:
        world.comments.append(json.loads(asked.body)["place"])
        return as_json({"id": len(world.comments), "active": True}, 201)
    match path:
        case "/api/alerts":
            return as_json({"alerts": world.comments})
        case "/out/r1.txt":
            return Answer("Report R1\nmean wind 22 km/h\ngusts 61 km/h\n", "text/plain")
        case "/daily.txt":
            return Answer(
                "Skarn rain 4 mm\nHollow Bay rain 0 mm\nCape Lorn rain 9 mm\n", "text/plain"
            )
        case "/today":
            return redirect("/daily.txt", 302)
        case "/about":
            return Answer(
                "<title>About</title><h1>About</h1><p>Founded in 1907. Contact: desk@meteo.test."
                "<p><a href=/about/method>Method</a>"
            )
        case "/about/method":
            return Answer("<title>Method</title><h1>Method</h1><p>Readings every 10 minutes.")
        case "/":
            return Answer("<title>Meteo</title><h1>Meteo</h1><a href=/about>About</a>")
    return None
