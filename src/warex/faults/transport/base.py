"""The base class of faults at a place in an answer's body."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from warex.effects import BodyUnit
from warex.exchange import Resource
from warex.faults.base import Fault

type ByteCount = Annotated[int, Field(ge=0, le=1_000_000_000, strict=True)]
"""Bytes of a body: from 0 to a billion."""
type Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False, strict=True)]
"""A share of a body, without none and all of it."""


def _usual_share(values: Mapping[str, Any]) -> float | None:
    return 0.5 if values.get("after_bytes") is None else None


class BodyFault(Fault, frozen=True):
    """A fault at a place in the body of the site's answer."""

    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)

    stage: Literal["response"] = "response"
    after_bytes: ByteCount | None = Field(
        default=None,
        description="How many bytes of the body come before, in its content coding; a body that is"
        " not longer is not hit.",
    )
    share: Share | None = Field(
        default_factory=_usual_share,
        description="How much of the body comes before: its first byte at least, never its last."
        " Left out: half of it, unless after_bytes is given.",
    )

    @model_validator(mode="after")
    def _is_one_place(self) -> Self:
        if self.after_bytes is not None and self.share is not None:
            raise ValueError(
                f"after_bytes {self.after_bytes} and share {self.share:g} are two places in one"
                " body; give one of them"
            )
        if self.after_bytes is None and self.share is None:
            raise ValueError("after_bytes and share are both null; give one of them")
        return self

    @property
    def place(self) -> tuple[float, BodyUnit]:
        """Where in the body it is."""
        if self.share is not None:
            return self.share, "share"
        assert self.after_bytes is not None
        return self.after_bytes, "bytes"

    @property
    def beginning(self) -> str:
        """What of the body comes before, in words."""
        if self.share is not None:
            return f"the first {100 * self.share:g} % of its body"
        return f"the first {self.after_bytes} bytes of its body"
