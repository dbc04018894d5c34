"""Scripts that change a page in the browser, and say what became of the change."""

import json
from collections.abc import Mapping
from importlib.resources import files

from pydantic import JsonValue

from warex.rewriting.page_script import PageScript

_RUNTIME = "runtime"


def page_script(name: str, settings: Mapping[str, JsonValue], report: str) -> PageScript:
    """Return the edit that has a page run one of this folder's scripts.

    ``settings`` is what the script is given, ``report`` the path at which it reports.
    """
    given = json.dumps({**settings, "report": report}, sort_keys=True, separators=(",", ":"))
    # Neither may end the element, nor the section around it in XML.
    given = given.replace("<", "\\u003c").replace("]]>", "]]\\u003e")
    return PageScript(f"({_read(_RUNTIME)})({given},{_read(name)})", report)


def _read(name: str) -> str:
    text = (files(__name__) / f"{name}.js").read_text(encoding="ascii")
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//")).rstrip(";")
