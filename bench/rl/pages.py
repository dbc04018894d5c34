"""A page as a ranker reads it: its links within the site, its buttons, its main texts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final
from urllib.parse import urlencode, urljoin, urlsplit

from warex.exports.prompt_page import PageElement, PromptPage

_MOST_CHARACTERS: Final = 4000
_HIDDEN: Final = frozenset({"script", "style", "template", "svg", "head"})


@dataclass(frozen=True, slots=True)
class Target:
    """What a click asks for."""

    url: str
    form: str | None = None
    """The body of a POST; None for a GET."""


@dataclass(slots=True)
class Page:
    """What the agent sees and what its clicks do."""

    elements: list[PageElement] = field(default_factory=list)
    targets: dict[str, Target] = field(default_factory=dict)

    def prompt(self, goal: str, url: str, history: str) -> PromptPage:
        """Return the page as a ranker's prompt."""
        text = "\n".join(f"{it.role} {it.name!r}" for it in self.elements)
        elements = tuple(self.elements)
        return PromptPage(goal, url, elements, text[:_MOST_CHARACTERS], history)


def read_page(html: str, url: str) -> Page:
    """Read a page's HTML."""
    reader = _Reader(url)
    reader.feed(html)
    reader.close()
    return reader.page


class _Reader(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__()
        self.page = Page()
        self._url = url
        self._hidden = 0
        self._has_main = False
        self._form: dict[str, str] = {}
        self._action, self._posts = url, False
        self._open: tuple[str, Target, str] | None = None
        """The open link's or button's role, target and label."""
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element."""
        attributes = {name: value or "" for name, value in attrs}
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag == "main":
            self._has_main = True
        elif tag == "form":
            self._form = {}
            self._action = urljoin(self._url, attributes.get("action", ""))
            self._posts = attributes.get("method", "").lower() == "post"
        elif tag == "input" and attributes.get("name") and _is_sent(attributes):
            self._form[attributes["name"]] = attributes.get("value", "")
        elif tag == "a" and attributes.get("href"):
            url = urljoin(self._url, attributes["href"])
            if urlsplit(url).netloc == urlsplit(self._url).netloc:
                self._open, self._text = ("link", Target(url), attributes.get("aria-label", "")), ""
        elif tag == "button" and attributes.get("type", "submit") == "submit":
            target = self._submitted(attributes)
            self._open, self._text = ("button", target, attributes.get("aria-label", "")), ""

    def handle_endtag(self, tag: str) -> None:
        """End an element."""
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif self._open is not None and tag in ("a", "button"):
            role, target, label = self._open
            name = " ".join((label or self._text).split())
            identifier = str(len(self.page.targets) + 1)
            self.page.targets[identifier] = target
            self.page.elements.append(PageElement(identifier, role, name))
            self._open = None

    def handle_data(self, data: str) -> None:
        """Read a text."""
        if self._hidden:
            return
        if self._open is not None:
            self._text += data
        elif (self._has_main or not self.page.targets) and (text := " ".join(data.split())):
            self.page.elements.append(PageElement("", "text", text))

    def _submitted(self, button: Mapping[str, str]) -> Target:
        action = urljoin(self._url, button.get("formaction") or self._action)
        named = {button["name"]: button.get("value", "")} if button.get("name") else {}
        body = urlencode({**self._form, **named})
        if self._posts or button.get("formmethod", "").lower() == "post":
            return Target(action, body)
        return Target(f"{action.partition('?')[0]}?{body}")


def _is_sent(attributes: Mapping[str, str]) -> bool:
    kind = attributes.get("type", "text")
    return kind not in ("checkbox", "radio", "submit", "button") or "checked" in attributes
