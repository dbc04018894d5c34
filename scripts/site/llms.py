"""``llms.txt``: the pages of the site for a language model (https://llmstxt.org)."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

_CODE: Final = re.compile(r"^```.*?^```$|<!--.*?-->", re.MULTILINE | re.DOTALL)
_PARAGRAPH: Final = re.compile(r"(?:^|\n\n)((?![#|<!-]|:::|\s).+(?:\n.+)*)")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_SENTENCE: Final = re.compile(r"(?<=[.:])\s")


class LlmsPage(NamedTuple):
    """A page of the site: its title, the address of its Markdown, and its Markdown."""

    title: str
    url: str
    markdown: str


def llms_txt(name: str, summary: str, sections: Mapping[str, Sequence[LlmsPage]]) -> str:
    """Return the file: each page with its first sentence, by section."""
    parts = [f"# {name}\n\n> {summary}\n"]
    for section, pages in sections.items():
        lines = "".join(f"- [{page.title}]({page.url}){_about(page)}\n" for page in pages)
        parts.append(f"\n## {section}\n\n{lines}")
    return "".join(parts)


def _about(page: LlmsPage) -> str:
    paragraph = _PARAGRAPH.search(_CODE.sub("", page.markdown))
    if paragraph is None:
        return ""
    words = " ".join(_LINK.sub(r"\1", paragraph[1]).split())
    return f": {_SENTENCE.split(words)[0]}"
