"""The libraries of the apps, as their Node packages ship them (`NODE_KIT` names the folder)."""

import os
from pathlib import Path

from tests.analysis.trajectories.second_collector.sites import Answer

_FILES = {
    "react.js": "react/umd/react.production.min.js",
    "react-dom.js": "react-dom/umd/react-dom.production.min.js",
    "react-query.js": "@tanstack/react-query/build/umd/index.production.js",
    "vue.js": "vue/dist/vue.global.prod.js",
    "vue-router.js": "vue-router/dist/vue-router.global.prod.js",
    "axios.js": "axios/dist/axios.min.js",
    "htmx.js": "htmx.org/dist/htmx.min.js",
    "jquery.js": "jquery/dist/jquery.min.js",
}


def library(path: str) -> Answer | None:
    """Answer for `/lib/NAME`."""
    name = _FILES.get(path.removeprefix("/lib/"))
    if name is None or not path.startswith("/lib/"):
        return None
    text = Path(os.environ["NODE_KIT"], "node_modules", name).read_text("utf-8")
    return Answer(text, "text/javascript", headers={"Cache-Control": "max-age=600"})


def shell(title: str, libraries: list[str], script: str, body: str = "") -> Answer:
    """Return the one HTML page of an app."""
    scripts = "".join(f"<script src=/lib/{name}.js></script>" for name in libraries)
    return Answer(
        f"<!doctype html><title>{title}</title><link rel=icon href=data:,><div id=root>{body}</div>"
        f"{scripts}<script src={script}></script>"
    )


def script(text: str) -> Answer:
    """Return a script that is not kept."""
    return Answer(text, "text/javascript", headers={"Cache-Control": "no-store"})
