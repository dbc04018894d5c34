"""A page that checks for a person before the site's pages."""

from collections.abc import Mapping
from typing import ClassVar, Literal, override

from pydantic import Field

from warex.faults.pages import Incident
from warex.faults.walls.base import Wall

_PAGE = """\
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
    template: ClassVar = _PAGE

    kind: Literal["captcha_wall"] = "captcha_wall"
    status: Literal[403, 429, 503, 200] = Field(
        default=403, description="What the page is answered with."
    )

    @property
    @override
    def page_status(self) -> int:
        return self.status

    @override
    def words(self, incident: Incident) -> Mapping[str, str]:
        return dict(
            reference=incident.reference("wall", 16),
            title=incident.pick("One more step", "Checking your browser", "Just a moment"),
            sentence=incident.pick(
                "We have seen unusual traffic from your network.",
                "Please confirm that you are a person before you go on.",
                "This site protects itself from automated requests.",
            ),
            question=incident.pick("I am human", "I'm not a machine", "Confirm I am a person"),
        )

    @override
    def outcome(self) -> str:
        return f"answered {self.status} with a page that a click into a box passes"
