"""The base class of popups."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, JsonValue

from warex.faults.base import PageFault, Seconds


class PopupFault(PageFault, frozen=True):
    """A dialog over a page, with its place and timing."""

    category: ClassVar = "popup"

    place: Literal["overlay", "corner"] = Field(
        default="overlay", description="Over the whole page, or in a corner of it."
    )
    after: Seconds = Field(default=0.0, description="Seconds from the page's load to the popup.")
    times: int = Field(
        default=1, ge=1, le=20, strict=True, description="How often it opens on one page."
    )
    every: Seconds = Field(
        default=5.0, description="Seconds from when it is closed to when it opens again."
    )

    def timing(self) -> Mapping[str, JsonValue]:
        """Return the timing settings of the page's script, in milliseconds."""
        after, every = round(self.after * 1000), round(self.every * 1000)
        return {"after": after, "every": every, "times": self.times}

    def describe_timing(self) -> str:
        """Return where and when it opens, in words."""
        where = "over the whole page" if self.place == "overlay" else "in a corner of the page"
        late = f" {self.after:g} s after its load" if self.after else ""
        often = f", {self.times} times" if self.times > 1 else ""
        return f"{where}{late}{often}"
