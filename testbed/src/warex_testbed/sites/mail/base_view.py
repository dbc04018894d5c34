"""What all pages of one mail site share: its mailbox, its brand, and how a page is made."""

from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from warex_testbed.sites.mail import dates
from warex_testbed.sites.mail.model import Mailbox
from warex_testbed.sites.mail.seed import Brand
from warex_testbed.web import page, see_other, templates

HERE = Path(__file__).parent
_HUES = (4, 28, 46, 95, 150, 178, 205, 232, 265, 318)


def hue(name: str) -> int:
    """Return the colour, in degrees, that stands for a name everywhere."""
    return _HUES[sum(map(ord, name)) % len(_HUES)]


def initials(name: str) -> str:
    """Return the one or two letters of a name's round picture."""
    words = [word for word in name.split() if word[0].isalpha()]
    return "".join(word[0] for word in [*words[:1], *words[1:][-1:]]).upper() or "@"


_TEMPLATES = templates(HERE, dates=dates, hue=hue, initials=initials)


class _Blank(dict[str, Any]):
    """The fields or complaints of a form, where what is missing is empty."""

    def __missing__(self, key: str) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class BaseView:
    """One instance's brand and mailbox."""

    brand: Brand
    mailbox: Mailbox

    def page(
        self, template: str, request: Request, status: int = HTTPStatus.OK, **values: Any
    ) -> Response:
        """Answer with a page, or a piece of one, made from a template."""
        shared = {
            "brand": self.brand,
            "w": self.brand.words,
            "box": self.mailbox,
            "settings": self.mailbox.settings,
            "done": self.brand.done.get(request.query_params.get("done", "")),
            "counts": self.counts(),
            "line": request.query_params.get("q", ""),
            "place": "",
            "label_counts": self.label_counts(),
            "tints": {
                name: _HUES[(3 * place + 4) % len(_HUES)]
                for place, name in enumerate(self.mailbox.labels.values())
            },
        }
        for name in ("fields", "problems"):
            values[name] = _Blank(values.get(name, {}))
        return page(_TEMPLATES.get_template(template).render(shared | values), status)

    def missing(self, request: Request) -> Response:
        """Answer that there is no such page, or no longer."""
        heading = self.brand.words["missing"]
        return self.page("missing.html", request, HTTPStatus.NOT_FOUND, heading=heading)

    def counts(self) -> dict[str, int]:
        """Return what stands beside each folder: unread conversations, or drafts, or stars."""
        box = self.mailbox
        counts = {
            folder: len({each.thread for each in box.within(folder) if not each.read})
            for folder in box.folders
        }
        starred = {each.thread for each in box.messages.values() if each.starred}
        return counts | {"drafts": len(box.drafts), "starred": len(starred)}

    def label_counts(self) -> dict[str, int]:
        """Return how many unread conversations have each label."""
        unread = [each for each in self.mailbox.messages.values() if not each.read]
        return {
            label: len({each.thread for each in unread if label in each.labels})
            for label in self.mailbox.labels.values()
        }


def done(path: str, what: str) -> Response:
    """Send the browser on to a page that says what was done."""
    return see_other(f"{path}{'&' if '?' in path else '?'}{urlencode({'done': what})}")
