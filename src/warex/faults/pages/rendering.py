"""Error pages from the Jinja templates in ``templates``, of which each is one family's page.

A template sees the parts of an incident (``status``, ``reason``, ``host``, ``path``), its ways to
vary (``pick``, ``reference``, ``by_side``) and the alphabets of references, and sets ``headers``.
What it inserts into HTML is escaped.
"""

import html
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from warex.faults.pages.incident import LETTERS, Incident, Page

if TYPE_CHECKING:
    from jinja2 import Environment

_TYPES: Final = {".html": "text/html", ".txt": "text/plain"}


def render_template(file: str, incident: Incident) -> Page:
    """Return the page that a template makes of an incident."""
    module = (
        _environment()
        .get_template(file)
        .make_module(
            {
                "incident": incident,
                "status": incident.status,
                "reason": incident.reason,
                "host": incident.host,
                "path": incident.path,
                "pick": incident.pick,
                "reference": incident.reference,
                "by_side": incident.by_side,
                "LETTERS": LETTERS,
                "DIGITS": "0123456789",
            }
        )
    )
    content_type = f"{_TYPES[PurePath(file).suffix]}; charset=utf-8"
    return Page(content_type, str(module).encode(), vars(module)["headers"])


@cache
def _environment() -> "Environment":
    # Imported here: a single lane begins sooner; the forkserver loads it for many.
    from jinja2 import Environment, PackageLoader, StrictUndefined, pass_eval_context
    from jinja2.nodes import EvalContext
    from markupsafe import Markup

    @pass_eval_context
    def escaped(context: EvalContext, value: object) -> object:
        # As the pages that are made without a template: Jinja writes quotes in another way.
        return Markup(html.escape(str(value))) if context.autoescape else value

    return Environment(
        loader=PackageLoader("warex.faults.pages"),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        finalize=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
