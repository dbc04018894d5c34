"""Error pages in many families, so that neither an agent nor a model can learn *one* page.

Each family is worded as error pages on the web are, and varies with the seed. A page always has a
body, since some browser drivers raise without one. A host keeps its family, and a URL its page, for
a whole trial. ``site_page`` makes pages that stand for a site's own.
"""

from typing import Annotated

from pydantic import AfterValidator, Field

from warex.faults.pages.families import (
    PAGE_STYLES,
    PageAudience,
    PageStyle,
    render,
    style_names,
)
from warex.faults.pages.incident import Incident, Page
from warex.faults.pages.site_page import site_page


def _one_of(names: tuple[str, ...]) -> AfterValidator:
    def check(name: str) -> str:
        if name not in names:
            raise ValueError(f"there is no page {name!r} here; allowed are {', '.join(names)}")
        return name

    return AfterValidator(check)


_SERVER = style_names("server")
_BROWSER = style_names("browser")

type ServerPage = Annotated[str, _one_of(_SERVER), Field(json_schema_extra={"enum": [*_SERVER]})]
"""The name of a family of server pages."""

type BrowserPage = Annotated[str, _one_of(_BROWSER), Field(json_schema_extra={"enum": [*_BROWSER]})]
"""The name of a family of browser pages."""

__all__ = [
    "PAGE_STYLES",
    "BrowserPage",
    "Incident",
    "Page",
    "PageAudience",
    "PageStyle",
    "ServerPage",
    "render",
    "site_page",
    "style_names",
]
