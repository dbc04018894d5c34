"""The base class of adapters of benchmarks that run from a checkout."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel

from warex.benchmarks.base import Benchmark
from warex.benchmarks.job import AgentSpec
from warex.benchmarks.table import Text
from warex.errors import CampaignError
from warex.sandbox.doctor.finding import Finding, FindingState

_NAMED = 5
"""Largest number of files in a message."""


class CheckoutOptions(BaseModel, frozen=True, extra="forbid"):
    """Options of an adapter that needs a checkout."""

    checkout: Text


class CheckoutBenchmark(Benchmark):
    """A benchmark whose own code is in ``options.checkout``."""

    options: CheckoutOptions
    project: ClassVar[str]
    """The name of its repository in messages."""
    checkout_files: ClassVar[tuple[str, ...]]
    """Files of every checkout."""

    @cached_property
    def checkout(self) -> Path:
        """The folder of the checkout."""
        return self.table.path(self.options.checkout)

    def check(self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool) -> None:
        """Raise CampaignError if there is no checkout."""
        for missing in self._missing():
            raise self.checkout_lacks(missing)

    def checkout_lacks(self, wanted: str) -> CampaignError:
        """Return the error for a checkout without the file ``wanted``."""
        return CampaignError(
            f"benchmark.options.checkout: {self.checkout} holds no {wanted}:"
            f" {describe_path(self.checkout)}; give the folder into which {self.project} was cloned"
        )

    def findings(self) -> Iterator[Finding]:
        """Yield whether there is a checkout."""
        lacks = any(self._missing())
        detail = f"no checkout of {self.project}" if lacks else ", ".join(self.checkout_files)
        state: FindingState = "missing" if lacks else "ok"
        yield Finding(f"{self.name} checkout", state, f"{self.checkout}: {detail}")

    def _missing(self) -> Iterator[str]:
        return (file for file in self.checkout_files if not (self.checkout / file).is_file())


def describe_path(path: Path) -> str:
    """Return a clause about what is at a path."""
    if path.is_symlink() and not path.exists():
        return "it is a link to nowhere"
    try:
        if not path.exists():
            return "there is nothing of this name"
        if not path.is_dir():
            return "it is a file" if path.stat().st_size else "it is an empty file"
        shown = sorted(each.name for each in path.iterdir() if not each.name.startswith("."))
        if not shown:
            return "it is an empty folder"
        more = ", …" if len(shown) > _NAMED else ""
        return f"it is a folder that holds {', '.join(shown[:_NAMED])}{more}"
    except OSError as error:
        return f"it cannot be looked at ({error.strerror})"
