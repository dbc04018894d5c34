"""A script that runs in a page before any of the page's own."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, Protocol

from pydantic import JsonValue

from warex.exchange import Request, Response
from warex.rewriting.base import ActiveRewrite, ValueChange
from warex.rewriting.html_body.csp import allow_script

_PAGES: Final = ("text/html", "application/xhtml+xml")
_POLICIES: Final = ("content-security-policy", "content-security-policy-report-only")
_BODILESS: Final = (204, 205, 304)


class ScriptQueryHandler(Protocol):
    """What answers a page: nothing in its question is taken for granted."""

    def answer(self, asked: str) -> tuple[JsonValue, Sequence[ValueChange]]:
        """Return the answer, and the values that the page changes because of it."""
        ...


@dataclass(frozen=True, slots=True)
class InjectedScript:
    """Puts a script into a page, and lets it report to the page's own site.

    ``script`` is ASCII and holds neither ``</script`` nor ``]]>``. ``report`` is the path at which
    the proxy hears what it reports.
    """

    script: str
    report: str
    answers: ScriptQueryHandler | None = None
    """What the page may ask the proxy at that path, beside reporting."""

    def begin(self, request: Request, response: Response) -> ActiveRewrite | None:
        """Begin with an HTML page; None for anything else."""
        content_type = response.headers.get("content-type", "")
        kind = content_type.partition(";")[0].strip().lower()
        if kind not in _PAGES or request.method == "HEAD" or response.status in _BODILESS:
            return None
        # In XML, markup in a script would be markup; in HTML the two lines are comments.
        script = f"//<![CDATA[\n{self.script}\n//]]>" if kind == _PAGES[1] else self.script
        where = request.parts
        address = f"{where.scheme}://{where.netloc}{self.report}"

        def policy(said: str) -> str:
            return allow_script(said, script, address)

        # Only here: who makes a scenario needs no tokenizer, and waits 0.1 s less without.
        from warex.rewriting.html_body.head_inserter import HeadInserter

        inserter = HeadInserter(f"<script>{script}</script>", content_type, policy)
        return ActiveRewrite(
            inserter, lambda name, value: policy(value) if name in _POLICIES else value
        )


def injected_script(
    module: str,
    settings: Mapping[str, JsonValue],
    report: str,
    helpers: Sequence[str] = (),
    answers: ScriptQueryHandler | None = None,
) -> InjectedScript:
    """Return the edit that has a page run the script beside a module: ``popup.js`` of ``popup.py``.

    ``module`` is the module's name, ``settings`` what the script is given, ``report`` the path at
    which it reports. ``helpers`` are scripts beside it, each of which takes what the script is to
    be given to work with, and returns more of it.
    """
    package, _, name = module.rpartition(".")
    given = json.dumps({**settings, "report": report}, sort_keys=True, separators=(",", ":"))
    # Neither may end the element, nor the section around it in XML.
    given = given.replace("<", "\\u003c").replace("]]>", "]]\\u003e")
    change = _read(package, name)
    if helpers:
        kit = "k"
        for helper in helpers:
            kit = f"({_read(package, helper)})(s,{kit})"
        change = f"(s,k)=>({change})(s,{kit})"
    return InjectedScript(f"({_read(__package__, 'runtime')})({given},{change})", report, answers)


def _read(package: str, name: str) -> str:
    text = (files(package) / f"{name}.js").read_text(encoding="ascii")
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//")).rstrip(";")
