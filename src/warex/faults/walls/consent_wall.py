"""A page that asks for a choice about cookies before the site's pages."""

from typing import ClassVar, Final, Literal, override

from warex.faults.pages import Incident
from warex.faults.walls.base import Wall, WallText

_STYLE: Final = """\
main{max-width:36em;margin:9vh auto 0}
button{margin:0 12px 12px 0}button+button{background:transparent;color:inherit}
"""
_CONTENT: Final = """\
<h1>$title</h1><p>$sentence</p>
<p>$uses</p>
<form method="post" action="$path_of_form"><button type="submit" name="choice" value="all"
>$accept</button><button type="submit" name="choice" value="needed">$reject</button></form>"""


class ConsentWall(Wall, frozen=True):
    """Answer with a page that asks for consent to cookies; either choice passes it."""

    summary: ClassVar = "Ask for consent, on a page before the site's own."

    kind: Literal["consent_wall"] = "consent_wall"

    @override
    def text(self, incident: Incident) -> WallText:
        words = dict(
            sentence=incident.say("consent_sentence"),
            uses=incident.say("consent_uses"),
            accept=incident.say("accept"),
            reject=incident.say("reject"),
        )
        return WallText(incident.say("consent_title"), _STYLE, _CONTENT, words)

    @override
    def outcome(self) -> str:
        return "answered 200 with a page that asks for consent, which one click passes"
