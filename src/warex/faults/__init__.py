"""The fault catalogue: one file per fault.

To add a fault: write its file (named like its ``kind``), its test, its line and section in
docs/reference/faults.md, and name it below. tests/faults/test_catalogue.py names what is missing.
"""

from typing import Annotated, get_args

from pydantic import Field

from warex.faults.base import (
    ConnectionFault,
    ErrorStatus,
    Fault,
    Memory,
    PageFault,
    Point,
    Seconds,
    Stage,
)
from warex.faults.connection_cut import ConnectionCut
from warex.faults.connection_refused import ConnectionRefused
from warex.faults.connection_timeout import ConnectionTimeout
from warex.faults.dns_failure import DnsFailure
from warex.faults.http_error import HttpError
from warex.faults.javascript_failure import JavascriptFailure
from warex.faults.llm import LlmFault
from warex.faults.llm_cut import LlmCut
from warex.faults.llm_empty import LlmEmpty
from warex.faults.llm_error import LlmError
from warex.faults.llm_malformed import LlmMalformed
from warex.faults.llm_refusal import LlmRefusal
from warex.faults.llm_slow import LlmSlow
from warex.faults.llm_stale import LlmStale
from warex.faults.llm_timeout import LlmTimeout
from warex.faults.mcp import McpFault
from warex.faults.mcp_error import McpError
from warex.faults.mcp_result_corrupt import McpResultCorrupt
from warex.faults.mcp_slow import McpSlow
from warex.faults.mcp_tool_missing import McpToolMissing
from warex.faults.network_error import NetworkError
from warex.faults.popup import Popup
from warex.faults.tls_error import TlsError

type AnyFault = Annotated[
    ConnectionCut
    | ConnectionRefused
    | ConnectionTimeout
    | DnsFailure
    | HttpError
    | JavascriptFailure
    | LlmCut
    | LlmEmpty
    | LlmError
    | LlmMalformed
    | LlmRefusal
    | LlmSlow
    | LlmStale
    | LlmTimeout
    | McpError
    | McpResultCorrupt
    | McpSlow
    | McpToolMissing
    | NetworkError
    | Popup
    | TlsError,
    Field(discriminator="kind"),
]
"""Any fault there is, told apart by ``kind``."""

CATALOGUE: tuple[type[Fault], ...] = get_args(get_args(AnyFault.__value__)[0])
"""The same as classes, in the order of their names."""

__all__ = [
    "CATALOGUE",
    "AnyFault",
    "ConnectionCut",
    "ConnectionFault",
    "ConnectionRefused",
    "ConnectionTimeout",
    "DnsFailure",
    "ErrorStatus",
    "Fault",
    "HttpError",
    "JavascriptFailure",
    "LlmCut",
    "LlmEmpty",
    "LlmError",
    "LlmFault",
    "LlmMalformed",
    "LlmRefusal",
    "LlmSlow",
    "LlmStale",
    "LlmTimeout",
    "McpError",
    "McpFault",
    "McpResultCorrupt",
    "McpSlow",
    "McpToolMissing",
    "Memory",
    "NetworkError",
    "PageFault",
    "Point",
    "Popup",
    "Seconds",
    "Stage",
    "TlsError",
]
