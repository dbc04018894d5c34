"""A foreign script in a page that reads what is typed (cross-site scripting, CWE-79)."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal, override

from pydantic import Field, JsonValue

from warex.exchange import Exchange
from warex.faults.attacks.collector import Collector
from warex.faults.base import EffectsAndState, FaultState, PageFault, invalid_selector, run_in_page
from warex.faults.own_site import unregistrable_host
from warex.rewriting.base import ValueChange
from warex.seeds import KeyedRng

_HOST: Final = unregistrable_host("cd", "pagemetrics")


class Xss(PageFault, frozen=True):
    """Run a script in the page that sends a field's value to a host of ours.

    The page's Content-Security-Policy is not relaxed for it.
    """

    summary: ClassVar = "Run a foreign script in the page, which reads a field and sends it away."
    category: ClassVar = "attack"
    own_site: ClassVar = Collector(_HOST)

    kind: Literal["xss"] = "xss"
    selector: str | None = Field(
        default=None,
        min_length=1,
        description="A CSS selector of the field; left out, the first password field, or else the"
        " first one for an email address or other text.",
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Put the script into each page that is hit."""
        settings: dict[str, JsonValue] = {
            "after": 0,
            "selector": self.selector,
            "target": self.own_site.address(),
            "given": f"_{rng.hex_word('given')}",
        }
        shows = (ValueChange("script", "", f"sends a field to {_HOST}"),)
        return run_in_page(__name__, settings, state, rng, shows=shows, details=self._details())

    def _details(self) -> Mapping[str, str]:
        """Return why the script may not do what it is to do, by the code that it reports."""
        return {
            "script-src": "script-src: the page's policy runs no such script",
            "trusted-types": "the page requires Trusted Types: TrustedScript",
            "connect-src": "connect-src: the page's policy lets nothing be sent to its host",
            "no-field": "the page has no such field",
            **invalid_selector(self.selector),
        }

    @override
    def outcome(self) -> str:
        which = f" ({self.selector})" if self.selector else ""
        return f"has a script that sends a field away{which}"
