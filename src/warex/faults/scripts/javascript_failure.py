"""Scripts are late or fail, so that a page looks complete but does not work (paper §3.2)."""

from typing import ClassVar, Literal, Self, override

from pydantic import Field, model_validator

from warex.effects import Reply, Truncate
from warex.exchange import Exchange, Resource
from warex.faults.base import EffectsAndState, FaultState, HeldFault, Seconds
from warex.faults.pages import Incident, render
from warex.seeds import KeyedRng

_GATEWAY_TIMEOUT = 504
_ERRORS = (
    "TypeError(\"Cannot read properties of undefined (reading 'map')\")",
    'ReferenceError("module is not defined")',
    'Error("Loading chunk 4 failed")',
)


class JavascriptFailure(HeldFault, frozen=True):
    """Hold scripts, then let them through late, break them, or answer 504 as a gateway would."""

    summary: ClassVar = "Hold scripts, then answer 504, break them or let them through late."
    default_resource: ClassVar[tuple[Resource, ...]] = ("script",)

    kind: Literal["javascript_failure"] = "javascript_failure"
    delay: Seconds = Field(default=10.0, description="How long a script is held, in seconds.")
    mode: Literal["fail", "delay", "throw", "truncate"] = Field(
        default="fail",
        description="After the wait: answer 504; let the script through; answer with a script that"
        " throws; let its first half through (with stage: response).",
    )

    third_party: bool = Field(
        default=False,
        strict=True,
        description="Whether only scripts from another site than the page's are meant.",
    )

    @property
    def third_party_only(self) -> bool:
        """The parameter ``third_party``."""
        return self.third_party

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if self.mode == "delay" and not self.delay:
            raise ValueError("mode 'delay' with delay 0 does nothing; give a delay above 0")
        if self.mode == "truncate" and self.stage != "response":
            raise ValueError(
                "mode 'truncate' with stage 'request' has no script to cut; give stage: response"
            )
        return self

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Fail the script or let it through, after the delay."""
        if self.mode == "delay":
            return self.hold_effects, state
        if self.mode == "truncate":
            return (*self.hold_effects, Truncate(0.5, "clean")), state
        if self.mode == "throw":
            error = rng.choice(_ERRORS, "error", exchange.request.url)
            headers = {"content-type": "text/javascript", "cache-control": "no-store"}
            return (
                *self.hold_effects,
                Reply(200, headers, f"throw new {error};\n".encode()),
            ), state
        incident = Incident.of(exchange.request, _GATEWAY_TIMEOUT, rng)
        return (*self.hold_effects, render("server", incident).reply(_GATEWAY_TIMEOUT)), state

    @override
    def outcome(self) -> str:
        ends = {
            "fail": f"answered {_GATEWAY_TIMEOUT} with a gateway's error page in its place",
            "delay": "let through late",
            "throw": "answered with a script that throws in its place",
            "truncate": "cut after its first half",
        }
        return ends[self.mode]
