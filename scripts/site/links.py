"""Rewrite the links of the repository's Markdown for the documentation site."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

_FENCE: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(
    r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?![a-z]+:)([^)#\s]*)(#[^)\s]*)?\)"
)


@dataclass(frozen=True)
class SiteMap:
    """Where the files of the repository are on the site.

    ``pages`` maps a file of the repository to its page, both as POSIX paths. ``sections`` maps a
    page of the repository that is split on the site to the page of each of its anchors. A file
    that is not on the site is linked at ``blob``, an address that ends in a slash; without one
    (None) only the text of the link stays.
    """

    pages: Mapping[str, str]
    sections: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    blob: str | None = None


def site_links(markdown: str, source: str, page: str, site: SiteMap) -> str:
    """Return the text of ``source``, a file of the repository, with links that work on ``page``.

    Code blocks stay as they are.
    """
    pieces = []
    end = 0
    for fence in _FENCE.finditer(markdown):
        pieces += [_rewritten(markdown[end : fence.start()], source, page, site), fence[0]]
        end = fence.end()
    return "".join([*pieces, _rewritten(markdown[end:], source, page, site)])


def _rewritten(text: str, source: str, page: str, site: SiteMap) -> str:
    folder = PurePosixPath(source).parent

    def replace(link: re.Match[str]) -> str:
        mark, words, path, anchor = link[1], link[2], link[3], link[4] or ""
        words = _rewritten(words, source, page, site)
        target = os.path.normpath(folder / path) if path else source
        if anchor and target in site.sections:
            place = site.sections[target].get(anchor[1:])
            if place is None:
                raise ValueError(f"{source} links to {target}{anchor}, which does not exist")
            return f"{mark}[{words}]({_relative(place, page)}{anchor})"
        if not path:
            return f"{mark}[{words}]({anchor})"
        if target in site.pages:
            return f"{mark}[{words}]({_relative(site.pages[target], page)}{anchor})"
        return f"{mark}[{words}]({site.blob}{target}{anchor})" if site.blob else words

    return _LINK.sub(replace, text)


def _relative(target: str, page: str) -> str:
    """Return the link from one page of the site to another; empty for the page itself."""
    return "" if target == page else os.path.relpath(target, PurePosixPath(page).parent)
