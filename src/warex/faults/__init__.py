"""The fault catalogue: one file per fault.

To add a fault: write its file (named like its ``kind``), its test, its line and section in
docs/reference/faults.md, and name it below. tests/faults/test_catalogue.py names what is missing.
"""

from typing import Annotated, get_args

from pydantic import Field

from warex.faults.base import (
    Cut,
    Delay,
    Effect,
    ErrorStatus,
    Fault,
    Memory,
    Reply,
    Seconds,
    Stage,
    ends,
)
from warex.faults.connection_cut import ConnectionCut
from warex.faults.http_error import HttpError
from warex.faults.javascript_failure import JavascriptFailure
from warex.faults.network_error import NetworkError

type AnyFault = Annotated[
    ConnectionCut | HttpError | JavascriptFailure | NetworkError,
    Field(discriminator="kind"),
]
"""Any fault there is, told apart by ``kind``."""

CATALOGUE: tuple[type[Fault], ...] = get_args(get_args(AnyFault.__value__)[0])
"""The same as classes, in the order of their names."""

__all__ = [
    "CATALOGUE",
    "AnyFault",
    "ConnectionCut",
    "Cut",
    "Delay",
    "Effect",
    "ErrorStatus",
    "Fault",
    "HttpError",
    "JavascriptFailure",
    "Memory",
    "NetworkError",
    "Reply",
    "Seconds",
    "Stage",
    "ends",
]
