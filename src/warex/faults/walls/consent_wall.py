"""A page that asks for a choice about cookies before the site's pages."""

from collections.abc import Mapping
from typing import ClassVar, Literal, override

from warex.faults.pages import Incident
from warex.faults.walls.base import Wall

_PAGE = """\
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
    template: ClassVar = _PAGE

    kind: Literal["consent_wall"] = "consent_wall"

    @override
    def words(self, incident: Incident) -> Mapping[str, str]:
        return dict(
            title=incident.pick("Before you continue", "Your privacy, your choice", "Welcome"),
            sentence=incident.pick(
                "Please choose which cookies you allow.",
                "We and our partners would like to store information on your device.",
            ),
            accept=incident.pick("Accept all", "I agree", "Allow all"),
            reject=incident.pick("Reject all", "Only what is needed", "Decline"),
        )

    @override
    def outcome(self) -> str:
        return "answered 200 with a page that asks for consent, which one click passes"
