"""A page that announces planned maintenance."""

from typing import Annotated, ClassVar, Final, Literal, override

from pydantic import Field

from warex.exchange import Exchange, Resource
from warex.faults.base import EffectsAndState, Fault, FaultState
from warex.faults.pages import Incident, site_page
from warex.seeds import KeyedRng

_STYLE: Final = """\
main{max-width:36em;margin:11vh auto 0;text-align:center}h1{font-size:30px}
hr{width:64px;border:0;border-top:4px solid $accent}
"""
_CONTENT: Final = """\
<h1>$title</h1><hr>
<p>$sentence</p>
<p>$until</p>"""


class MaintenancePage(Fault, frozen=True):
    """Answer with a page that announces planned maintenance, with status 503 or 200."""

    summary: ClassVar = "Answer with the site's page for planned maintenance."
    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)
    shows_site: ClassVar = True

    kind: Literal["maintenance_page"] = "maintenance_page"
    status: Literal[503, 200] = Field(
        default=503, description="503 as it should be, or 200 as many sites say."
    )
    retry_after: Annotated[int, Field(ge=0, le=86_400, strict=True)] | None = Field(
        default=None, description="Seconds of the Retry-After header; null for no such header."
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Answer with the page of this host."""
        incident = Incident.at(exchange, self.status, rng)
        page = site_page(
            incident,
            incident.say("maintenance_title"),
            _STYLE,
            _CONTENT,
            sentence=incident.say("maintenance_sentence"),
            until=incident.say("maintenance_end"),
        )
        wait = {} if self.retry_after is None else {"retry-after": str(self.retry_after)}
        return (page.reply(self.status, wait),), state

    @override
    def outcome(self) -> str:
        wait = "" if self.retry_after is None else f" and Retry-After: {self.retry_after}"
        return f"answered {self.status} with a maintenance page{wait}"
