"""An item that is listed is no longer there when its page is opened."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal, override

from msgspec.structs import replace
from pydantic import Field, JsonValue

from warex.effects import Rewrite
from warex.exchange import Exchange, Request, Resource, resource_of
from warex.faults.base import EffectsAndState, Fault, FaultState, as_setting, parts, run_in_page
from warex.faults.lies.base import json_reply
from warex.faults.pages import Incident, site_page
from warex.faults.pages.wording import languages, options
from warex.faults.world.items import Item, item_of
from warex.rewriting.base import ValueChange
from warex.rewriting.baskets import OF_BASKETS, PAGE_BASKET
from warex.rewriting.baskets.gone_item import GoneItem
from warex.rewriting.header_edit import HeaderEdit
from warex.rewriting.html_body.script_injection import PAGE_LANGUAGE
from warex.seeds import KeyedRng

_STYLE: Final = """\
main{max-width:34em;margin:11vh auto 0;text-align:center}h1{font-size:28px}
"""
_CONTENT: Final = """\
<h1>$title</h1><p>$sentence</p>
<p><a href="/">$home</a></p>"""
_WHY_NOTHING: Final = {
    "no_item": "the page has no basket with the item",
    "unexplained": "the basket's total is more than its parts explain",
}
"""Why a page has nothing to be taken out."""


class ItemGone(Fault, frozen=True):
    """Answer for one item that it is not there any more, wherever the site tells of it by itself.

    Lists still have it. Sources: RFC 9110, sections 15.5.5 (404) and 15.5.11 (410).
    """

    summary: ClassVar = "Remove a listed item: its page, its data, its line in a basket."
    category: ClassVar = "change"
    default_resource: ClassVar[tuple[Resource, ...]] = ("document", "xhr")
    default_methods: ClassVar = ("GET",)
    shows_site: ClassVar = True

    kind: Literal["item_gone"] = "item_gone"
    stage: Literal["request"] = "request"
    status: Literal[404, 410, 200] = Field(
        default=404, description="What its page is answered with; data of it has 404 for 200."
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Answer for the item, or take it out of a basket."""
        request, removed = exchange.request, _removed_items(state)
        if not any(it.is_asked_for(request) for it in removed):
            new = item_of(request)
            if new is None:
                return self._remove_from_baskets(exchange, removed, state, rng)
            removed = (*removed, new)
        items: list[JsonValue] = [list(it) for it in removed]
        known: FaultState = {**state, "gone": items, "waits": False}
        change = ValueChange("item", request.parts.path, None)
        incident = Incident.at(exchange, self.status, rng)
        if resource_of(request) == "xhr":
            status = self.status if self.status >= 400 else 404
            reply = json_reply(request, status, _problem(request, status, incident))
        else:
            reply = site_page(
                incident,
                incident.say("gone_title"),
                _STYLE,
                _CONTENT,
                sentence=incident.say("gone_sentence"),
                home=incident.say("error_home"),
            ).reply(self.status)
        return (replace(reply, changes=(change,)),), known

    def _remove_from_baskets(
        self, exchange: Exchange, removed: tuple[Item, ...], state: FaultState, rng: KeyedRng
    ) -> EffectsAndState:
        """Take the items out of what another page or data tells of a basket."""
        request = exchange.request
        if not removed:
            return (Rewrite(HeaderEdit()),), {**state, "waits": True}
        if resource_of(request) == "xhr":
            edit = GoneItem("replaced", rng, items=tuple((it.path, it.name) for it in removed))
            return (Rewrite(edit),), state
        notes = {it: {"gone": options(it, "gone_note")[0]} for it in languages()}
        here = [it for it in removed if it.host == request.parts.netloc]
        items: list[JsonValue] = [{"path": it.path, "query": it.query} for it in here]
        settings: dict[str, JsonValue] = {
            "after": 0,
            "items": items,
            "words": as_setting(notes),
            "store": rng.hex_word("store"),
        }
        return run_in_page(
            *(__name__, settings, state, rng, (PAGE_LANGUAGE, PAGE_BASKET)),
            details=_WHY_NOTHING,
            meant=parts(item=notes["en"]["gone"]),
        )

    def still_applies(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether the item is asked for again, or this may tell of it; or none was found yet."""
        if state.get("waits") is True:
            return item_of(exchange.request) is not None
        return self.reaches(exchange, state)

    @override
    def reaches(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether a request is for the item, or for a page or data that may have it in a basket."""
        request, removed = exchange.request, _removed_items(state)
        kind = resource_of(request)
        if kind not in ("document", "xhr", "other") or not removed:
            return False
        if any(it.is_asked_for(request) for it in removed):
            return True
        if request.method != "GET" or item_of(request) is not None:
            return False
        if kind == "xhr":
            return OF_BASKETS.search(request.parts.path) is not None
        return request.is_top_level and any(it.host == request.parts.netloc for it in removed)

    @override
    def outcome(self) -> str:
        return (
            f"answered {self.status}: the item is no longer available, nor is data of it from then"
            " on, and it no longer counts in a basket; lists still have it"
        )


def _removed_items(state: FaultState) -> tuple[Item, ...]:
    """Return the items that are gone."""
    stored = state.get("gone")
    known = stored if isinstance(stored, list) else []
    return tuple(Item(*map(str, it)) for it in known if isinstance(it, list))


def _problem(request: Request, status: int, incident: Incident) -> JsonValue:
    title, sentence = incident.say("gone_title"), incident.say("gone_sentence")
    shapes: tuple[Mapping[str, JsonValue], ...] = (
        {"error": title},
        {"error": {"code": "not_found", "message": title}},
        {"title": title, "status": status, "detail": sentence},
        {"success": False, "message": title},
    )
    # One API always uses the same shape.
    return dict(incident.rng.choice(shapes, "shape", request.parts.netloc))
