"""A header field of the answer is lost, added or wrong, as by an intermediary."""

from typing import Annotated, ClassVar, Literal, override

from pydantic import Field, StringConstraints

from warex.effects import Rewrite
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, PageFault
from warex.rewriting.header_edit import HeaderEdit
from warex.seeds import KeyedRng

type _Value = Annotated[
    str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[!-~]([ -~]*[!-~])?$")
]


class HeaderChange(PageFault, frozen=True):
    """Change the headers of an answer but not its body.

    Sources: RFC 6265, section 4.1 (Set-Cookie); W3C Content Security Policy Level 3, section 3.1 (a
    further policy only forbids more); RFC 9110, section 8.3 (Content-Type).
    """

    summary: ClassVar = "Give a page a strict policy or a wrong type, or lose its cookies."

    kind: Literal["header_change"] = "header_change"
    change: Literal["policy", "type", "cookies"] = Field(
        default="policy",
        description="Add a Content-Security-Policy; replace Content-Type; take Set-Cookie out.",
    )
    policy: _Value = Field(
        default="script-src 'none'", description="The policy that is added, with `change: policy`."
    )
    content_type: _Value = Field(
        default="text/plain", description="The type in place of the site's, with `change: type`."
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Change the headers of the site's answer."""
        return (Rewrite(self._edit()),), state

    def _edit(self) -> HeaderEdit:
        match self.change:
            case "cookies":
                # The answer to a login is often a redirect.
                return HeaderEdit(remove=("set-cookie",), html_only=False)
            case "policy":
                return HeaderEdit(add=(("content-security-policy", self.policy),))
            case "type":
                return HeaderEdit(("content-type",), (("content-type", self.content_type),))

    @override
    def outcome(self) -> str:
        ends = {
            "cookies": "without the cookies that it sets",
            "policy": f"with the policy {self.policy!r} beside its own",
            "type": f"as {self.content_type}",
        }
        return f"comes {ends[self.change]}"
