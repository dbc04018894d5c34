"""A page that announces planned maintenance."""

from typing import Annotated, ClassVar, Literal, override

from pydantic import Field

from warex.exchange import Exchange, Resource
from warex.faults.base import EffectsAndState, Fault, FaultState
from warex.faults.pages import Incident
from warex.faults.walls.base import themed_page
from warex.seeds import KeyedRng

_PAGE = """\
body{text-align:center}
main{max-width:36em;margin:14vh auto 0;padding:0 24px}h1{font-size:30px}
hr{width:64px;border:0;border-top:4px solid $accent}small{opacity:.7}
</style></head><body><main><h1>$title</h1><hr>
<p>$sentence</p>
<p>$end</p>
<p><small>$host</small></p></main></body></html>
"""


class MaintenancePage(Fault, frozen=True):
    """Answer with a page that announces planned maintenance, with status 503 or 200."""

    summary: ClassVar = "Answer with the site's page for planned maintenance."
    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)

    kind: Literal["maintenance_page"] = "maintenance_page"
    status: Literal[503, 200] = Field(
        default=503, description="503 as it should be, or 200 as many sites say."
    )
    retry_after: Annotated[int, Field(ge=0, le=86_400, strict=True)] | None = Field(
        default=None, description="Seconds of the Retry-After header; null for no such header."
    )

    def effects(self, exchange: Exchange, memory: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Answer with the page of this host."""
        incident = Incident.of(exchange.request, self.status, rng)
        page = themed_page(
            _PAGE,
            incident,
            title=incident.pick(
                "We'll be back soon", "Scheduled maintenance", "Down for maintenance"
            ),
            sentence=incident.pick(
                "We are carrying out planned work on this site.",
                "Our team is updating the service at the moment.",
                "This service is offline while we make it better.",
            ),
            end=incident.pick(
                "Please try again in a little while.",
                "It will not take long. Thank you for your patience.",
                "All your data is safe. Please come back later.",
            ),
        )
        wait = {} if self.retry_after is None else {"retry-after": str(self.retry_after)}
        return (page.reply(self.status, wait),), memory

    @override
    def outcome(self) -> str:
        wait = "" if self.retry_after is None else f" and Retry-After: {self.retry_after}"
        return f"answered {self.status} with a maintenance page{wait}"
