"""A page that asks for a choice about cookies before the site's pages."""

from dataclasses import replace
from typing import ClassVar, Literal, override

from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState
from warex.faults.pages import Incident
from warex.faults.walls.base import Wall, theme_of
from warex.seeds import KeyedRng

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>$title</title>
<meta name="viewport" content="width=device-width"><style>
body{margin:0;background:$ground;color:$ink;font:17px/1.5 $font}
main{max-width:34em;margin:10vh auto 0;padding:0 24px}
button{font:inherit;padding:12px 26px;margin:0 12px 12px 0;border:2px solid $accent;
background:transparent;color:inherit}button:first-child{background:$accent;color:#fff}
</style></head><body><main><h1>$title</h1><p>$sentence</p>
<p>$host uses cookies to work, to measure its use and to show what may interest you.</p>
<form method="post" action="$path_of_form"><button type="submit" name="choice" value="all"
>$accept</button><button type="submit" name="choice" value="needed">$reject</button></form>
</main></body></html>
"""


class ConsentWall(Wall, frozen=True):
    """Answer with a page that asks for consent to cookies; either choice passes it."""

    summary: ClassVar = "Ask for consent, on a page before the site's own."

    kind: Literal["consent_wall"] = "consent_wall"

    def effects(self, exchange: Exchange, memory: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Answer with the page of this host."""
        gate, memory = self.wall_exit(exchange, memory, rng)
        incident = Incident.of(exchange.request, 200, rng)
        page = incident.html(
            _PAGE,
            None,
            **theme_of(incident.host, rng),
            path_of_form=gate.path,
            title=incident.pick("Before you continue", "Your privacy, your choice", "Welcome"),
            sentence=incident.pick(
                "Please choose which cookies you allow.",
                "We and our partners would like to store information on your device.",
            ),
            accept=incident.pick("Accept all", "I agree", "Allow all"),
            reject=incident.pick("Reject all", "Only what is needed", "Decline"),
        )
        return (replace(page.reply(200), wall_exit=gate),), memory

    @override
    def outcome(self) -> str:
        return "answered 200 with a page that asks for consent, which one click passes"
