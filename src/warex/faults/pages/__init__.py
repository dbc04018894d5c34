"""Error pages: many families, so that neither an agent nor a model can learn *one* page.

Each family has the look of something people meet on the web, in our own words and markup, and
varies by luck. A page always has a body: an answer without one makes some browser drivers raise.
The same host keeps its family, and the same URL its page, for a whole trial.
"""

from typing import Annotated

from pydantic import AfterValidator, Field

from warex.faults.pages.families import (
    PAGE_STYLES,
    PageAudience,
    PageStyle,
    render,
    render_for_host,
    style_names,
)
from warex.faults.pages.incident import Incident, Page


def _one_of(names: tuple[str, ...]) -> AfterValidator:
    def check(name: str) -> str:
        if name not in names:
            raise ValueError(f"there is no page {name!r} here; allowed are {', '.join(names)}")
        return name

    return AfterValidator(check)


_SERVER = style_names("server")
_BROWSER = style_names("browser")

type ServerPage = Annotated[str, _one_of(_SERVER), Field(json_schema_extra={"enum": [*_SERVER]})]
"""The name of a family that speaks as a server."""

type BrowserPage = Annotated[str, _one_of(_BROWSER), Field(json_schema_extra={"enum": [*_BROWSER]})]
"""The name of a family that speaks as a browser."""

__all__ = [
    "PAGE_STYLES",
    "BrowserPage",
    "Incident",
    "Page",
    "PageAudience",
    "PageStyle",
    "ServerPage",
    "render",
    "render_for_host",
    "style_names",
]
