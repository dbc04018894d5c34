"""Injects a script into a page that runs before the page's own scripts."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace
from pydantic import JsonValue

from warex.exchange import Request, Response
from warex.rewriting.base import HTML_TYPES, XHTML, ActiveRewrite, ValueChange, has_body, media_type
from warex.rewriting.html_body.csp import allow_script, forbids_dialogs

_PARTS: Final = ("natives", "signing", "visibility")
"""The scripts that ``runtime.js`` is given."""
PAGE_LANGUAGE: Final = f"{__package__}.page_language"
"""The name of a helper, with which a script speaks the page's language."""
PAGE_LOOK: Final = f"{__package__}.page_look"
"""The name of a helper, with which a script knows the page's own buttons."""
_POLICIES: Final = ("content-security-policy", "content-security-policy-report-only")


class ScriptQueryHandler(Protocol):
    """Answers the untrusted queries of a page."""

    def answer(self, asked: str) -> tuple[JsonValue, Sequence[ValueChange]]:
        """Return the answer, and the values that the page changes because of it."""


class InjectedScript(Struct, frozen=True):
    """Injects a script into a page, and allows it to report to the page's own site.

    ``script`` is a function of the key by which its reports are authenticated, and of whether the
    page's policy forbids the browser's dialogs. It is ASCII and contains neither ``</script`` nor
    ``]]>``. ``report`` is the path to which it sends its reports.
    """

    script: str
    report: str
    answers: ScriptQueryHandler | None = None
    """Answers the queries that the page sends to that path."""
    shows: tuple[ValueChange, ...] = ()
    """What the script adds to the page or changes, as far as that is known before."""
    meant: tuple[ValueChange, ...] = ()
    """The texts that it is to show, in English, for a page that does not report its own."""
    details: tuple[tuple[str, str], ...] = ()
    """The details that a report may have: a code, and what it means."""
    hangs: bool = False
    """Whether the page has requests that are never answered, at ``report`` with a query."""
    worker: str = ""
    """A script of the page's service worker, as a function of the key; empty for none."""
    key: str = ""
    """ASCII letters and digits. The page's own scripts cannot read it."""

    @property
    def hanging(self) -> str:
        """The path and query at which no request is answered; empty for none."""
        return f"{self.report}?1" if self.hangs else ""

    @property
    def worker_script(self) -> str:
        """The script that a browser gets at ``report`` for a service worker; empty for none."""
        return f'"use strict";({self.worker})("{self.key}");' if self.worker else ""

    def with_key(self, key: str) -> "InjectedScript":
        """Return the edit with a key, which each page needs to have its own of."""
        return replace(self, key=key)

    def begin(self, request: Request, response: Response) -> ActiveRewrite | None:
        """Return the edit of an HTML page; None for other responses."""
        kind = media_type(response)
        if kind not in HTML_TYPES or not has_body(request, response, complete=False):
            return None
        # A strict function shows itself neither to what it calls nor in a stack.
        policies = response.headers.get("content-security-policy", "")
        silent = ",true" if forbids_dialogs(policies) else ""
        script = f'"use strict";({self.script})("{self.key}"{silent})'
        if kind == XHTML:
            # XML parses markup within a script; in HTML the two lines are comments.
            script = f"//<![CDATA[\n{script}\n//]]>"
        address = f"{request.parts.scheme}://{request.parts.netloc}{self.report}"

        def policy(directives: str) -> str:
            return allow_script(directives, script, address)

        # Imported here because the tokenizer takes 0.1 s to load, and scenarios do not need it.
        from warex.rewriting.html_body.head_inserter import HeadInserter

        content_type = response.headers.get("content-type", "")
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
    shows: Sequence[ValueChange] = (),
    details: Mapping[str, str] | None = None,
    meant: Sequence[ValueChange] = (),
) -> InjectedScript:
    """Return the edit that injects the script beside a module: ``popup.js`` of ``popup.py``.

    ``module`` is the module's name, ``settings`` the script's argument, ``report`` the path to
    which it sends its reports. ``helpers`` are scripts beside it, or elsewhere by their full
    names; each takes the script's toolkit
    and returns an extended one. ``shows``, ``details`` and ``meant`` are as in
    ``InjectedScript``.
    """
    package, _, name = module.rpartition(".")
    if PAGE_LANGUAGE in helpers:
        settings = {**settings, "languages": language_table()}
    argument = _as_argument(settings, report)
    change = _read(package, name)
    if helpers:
        kit = "k"
        for helper in helpers:
            folder, _, own_name = helper.rpartition(".")
            kit = f"({_read(folder or package, own_name)})(s,{kit})"
        change = f"(s,k)=>({change})(s,{kit})"
    parts = ",".join(_read(__package__, name) for name in _PARTS)
    runtime = _read(__package__, "runtime")
    script = f"(key,isSilent)=>({runtime})({argument},{change},{parts},key,isSilent)"
    listed = tuple((details or {}).items())
    return InjectedScript(script, report, answers, tuple(shows), tuple(meant), listed)


def service_worker(module: str, settings: Mapping[str, JsonValue], report: str) -> str:
    """Return the script of a service worker, as a function of the key.

    ``module`` names a script, a function of the settings and of what authenticates a text.
    """
    package, _, name = module.rpartition(".")
    uncurried = "Function.prototype.bind.bind(Function.prototype.call)"
    sign = f"({_read(__package__, 'signing')})(key,{{uncurried:{uncurried}}})"
    return f"key=>({_read(package, name)})({_as_argument(settings, report)},{sign})"


def _as_argument(settings: Mapping[str, JsonValue], report: str) -> str:
    serialized = json.dumps({**settings, "report": report}, sort_keys=True, separators=(",", ":"))
    # Neither may end the element or the CDATA section.
    return serialized.replace("<", "\\u003c").replace("]]>", "]]\\u003e")


@cache
def language_table() -> dict[str, JsonValue]:
    """Return by what the language of a text is known: ``letters`` in order, and ``words``.

    Japanese comes before Chinese, some of whose characters it has.
    """
    from importlib.resources import files

    table: dict[str, JsonValue] = json.loads((files(__package__) / "languages.json").read_bytes())
    return table


@cache
def _read(package: str, name: str) -> str:
    # Imported late, as it is slow, and most trials inject nothing.
    from importlib.resources import files

    text = (files(package) / f"{name}.js").read_text(encoding="ascii")
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//")).rstrip(";")
