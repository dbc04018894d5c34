"""A page that checks for a person before the site's pages."""

from dataclasses import replace
from typing import ClassVar, Literal, override

from pydantic import Field

from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState
from warex.faults.pages import Incident
from warex.faults.walls.base import Wall, theme_of
from warex.seeds import KeyedRng

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>$title</title>
<meta name="viewport" content="width=device-width"><style>
body{margin:0;background:$ground;color:$ink;font:17px/1.5 $font}
main{max-width:30em;margin:14vh auto 0;padding:0 24px}h1{font-size:26px}
label{display:flex;gap:14px;align-items:center;border:1px solid $accent;padding:18px;width:18em}
input{width:24px;height:24px}small{opacity:.7}
</style></head><body><main><h1>$host</h1><h2>$title</h2><p>$sentence</p>
<form method="post" action="$path_of_form"><label><input type="checkbox" name="ok" required
 onchange="this.form.submit()">$question</label>
<noscript><p><button type="submit">Continue</button></p></noscript></form>
<p><small>Reference $reference</small></p></main></body></html>
"""


class CaptchaWall(Wall, frozen=True):
    """Answer with a page, in an invented design, that a click on a checkbox passes."""

    summary: ClassVar = "Ask whether a person is there, on a page before the site's own."

    kind: Literal["captcha_wall"] = "captcha_wall"
    status: Literal[403, 429, 503, 200] = Field(
        default=403, description="What the page is answered with."
    )

    def effects(self, exchange: Exchange, memory: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Answer with the page of this host."""
        gate, memory = self.wall_exit(exchange, memory, rng)
        incident = Incident.of(exchange.request, self.status, rng)
        page = incident.html(
            _PAGE,
            None,
            **theme_of(incident.host, rng),
            path_of_form=gate.path,
            reference=incident.reference("wall", 16),
            title=incident.pick("One more step", "Checking your browser", "Just a moment"),
            sentence=incident.pick(
                "We have seen unusual traffic from your network.",
                "Please confirm that you are a person before you go on.",
                "This site protects itself from automated requests.",
            ),
            question=incident.pick("I am human", "I'm not a machine", "Confirm I am a person"),
        )
        return (replace(page.reply(self.status), wall_exit=gate),), memory

    @override
    def outcome(self) -> str:
        return f"answered {self.status} with a page that a click into a box passes"
