"""The fault catalogue: one file per fault.

To add a fault: write its file (named like its ``kind``), its test, its line and section in
docs/reference/faults.md, and name it below. tests/faults/test_catalogue.py names what is missing.
"""

from typing import Annotated, get_args

from pydantic import Field

from warex.faults.base import (
    Certificate,
    ConnectionFault,
    Cut,
    Delay,
    Drop,
    Effect,
    ErrorStatus,
    Fault,
    Memory,
    Point,
    Refuse,
    Reply,
    Seconds,
    Stage,
    Unresolved,
    ends,
)
from warex.faults.connection_cut import ConnectionCut
from warex.faults.connection_refused import ConnectionRefused
from warex.faults.connection_timeout import ConnectionTimeout
from warex.faults.dns_failure import DnsFailure
from warex.faults.http_error import HttpError
from warex.faults.javascript_failure import JavascriptFailure
from warex.faults.network_error import NetworkError
from warex.faults.tls_error import TlsError

type AnyFault = Annotated[
    ConnectionCut
    | ConnectionRefused
    | ConnectionTimeout
    | DnsFailure
    | HttpError
    | JavascriptFailure
    | NetworkError
    | TlsError,
    Field(discriminator="kind"),
]
"""Any fault there is, told apart by ``kind``."""

CATALOGUE: tuple[type[Fault], ...] = get_args(get_args(AnyFault.__value__)[0])
"""The same as classes, in the order of their names."""

__all__ = [
    "CATALOGUE",
    "AnyFault",
    "Certificate",
    "ConnectionCut",
    "ConnectionFault",
    "ConnectionRefused",
    "ConnectionTimeout",
    "Cut",
    "Delay",
    "DnsFailure",
    "Drop",
    "Effect",
    "ErrorStatus",
    "Fault",
    "HttpError",
    "JavascriptFailure",
    "Memory",
    "NetworkError",
    "Point",
    "Refuse",
    "Reply",
    "Seconds",
    "Stage",
    "TlsError",
    "Unresolved",
    "ends",
]
