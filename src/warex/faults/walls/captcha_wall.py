"""A page that checks for a person before the site's pages."""

from typing import ClassVar, Final, Literal, override

from pydantic import Field

from warex.faults.pages import Incident
from warex.faults.walls.base import Wall, WallText

_STYLE: Final = """\
main{max-width:32em;margin:11vh auto 0}h1{font-size:27px}
label{display:flex;gap:14px;align-items:center;border:1px solid $accent;padding:18px;width:18em;\
max-width:90%;border-radius:$corner;cursor:pointer}
input{width:24px;height:24px;accent-color:$accent}small{opacity:.7}
"""
_CONTENT: Final = """\
<h1>$title</h1><p>$sentence</p>
<form method="post" action="$path_of_form"><label><input type="checkbox" name="ok" required
 onchange="this.form.submit()">$question</label>
<noscript><p><button type="submit">$button</button></p></noscript></form>
<p><small>$reference: $number</small></p>"""


class CaptchaWall(Wall, frozen=True):
    """Answer with a page, in an invented design, that a click on a checkbox passes."""

    summary: ClassVar = "Show a CAPTCHA on a page before the site's own."

    kind: Literal["captcha_wall"] = "captcha_wall"
    status: Literal[403, 429, 503, 200] = Field(
        default=403, description="What the page is answered with."
    )

    @property
    @override
    def page_status(self) -> int:
        return self.status

    @override
    def text(self, incident: Incident) -> WallText:
        words = dict(
            sentence=incident.say("captcha_sentence"),
            question=incident.say("captcha_question"),
            button=incident.say("continue"),
            reference=incident.say("reference"),
            number=incident.reference("wall", 16),
        )
        return WallText(incident.say("captcha_title"), _STYLE, _CONTENT, words)

    @override
    def outcome(self) -> str:
        return f"answered {self.status} with a page that a click into a box passes"
