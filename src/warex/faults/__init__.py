"""The fault catalogue: one file per fault, in the folder of its group.

To add a fault, write its file (named like its ``kind``), its test, its line and section in
docs/reference/faults.md, and import it here. tests/faults/test_catalogue.py reports what is
missing.
"""
# ruff: noqa: F401

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from warex.faults.attacks.dark_pattern import DarkPattern
from warex.faults.attacks.deceptive_form import DeceptiveForm
from warex.faults.attacks.prompt_injection import PromptInjection
from warex.faults.attacks.xss import Xss
from warex.faults.base import (
    ConnectionFault,
    ConnectionPhase,
    ErrorStatus,
    Fault,
    FaultState,
    HeldFault,
    PageFault,
    Seconds,
    Stage,
    Target,
)
from warex.faults.connection.connection_cut import ConnectionCut
from warex.faults.connection.connection_refused import ConnectionRefused
from warex.faults.connection.connection_timeout import ConnectionTimeout
from warex.faults.connection.dns_failure import DnsFailure
from warex.faults.connection.network_error import NetworkError
from warex.faults.connection.tls_error import TlsError
from warex.faults.lies.duplicate_write import DuplicateWrite
from warex.faults.lies.empty_result import EmptyResult
from warex.faults.lies.json_corruption import JsonCorruption
from warex.faults.lies.lost_write import LostWrite
from warex.faults.lies.partial_list import PartialList
from warex.faults.lies.soft_error import SoftError
from warex.faults.lies.stale_response import StaleResponse
from warex.faults.lies.text_corruption import TextCorruption
from warex.faults.lies.wrong_page import WrongPage
from warex.faults.llm.base import LlmFault
from warex.faults.llm.llm_cut import LlmCut
from warex.faults.llm.llm_empty import LlmEmpty
from warex.faults.llm.llm_error import LlmError
from warex.faults.llm.llm_malformed import LlmMalformed
from warex.faults.llm.llm_refusal import LlmRefusal
from warex.faults.llm.llm_slow import LlmSlow
from warex.faults.llm.llm_stale import LlmStale
from warex.faults.llm.llm_timeout import LlmTimeout
from warex.faults.mcp.base import McpFault
from warex.faults.mcp.mcp_error import McpError
from warex.faults.mcp.mcp_result_corrupt import McpResultCorrupt
from warex.faults.mcp.mcp_slow import McpSlow
from warex.faults.mcp.mcp_tool_missing import McpToolMissing
from warex.faults.popups.malicious_popup import MaliciousPopup
from warex.faults.popups.popup import Popup
from warex.faults.scripts.javascript_failure import JavascriptFailure
from warex.faults.server.http_error import HttpError
from warex.faults.variation.feature_flag import FeatureFlag
from warex.faults.variation.id_drift import IdDrift
from warex.faults.variation.layout_shift import LayoutShift
from warex.faults.variation.new_feature import NewFeature
from warex.faults.variation.relabel import Relabel
from warex.faults.variation.reorder import Reorder
from warex.faults.variation.restyle import Restyle
from warex.faults.variation.translate import Translate
from warex.faults.walls.captcha_wall import CaptchaWall
from warex.faults.walls.consent_wall import ConsentWall
from warex.faults.walls.header_change import HeaderChange
from warex.faults.walls.maintenance_page import MaintenancePage
from warex.faults.walls.rate_limit import RateLimit
from warex.faults.walls.redirect_loop import RedirectLoop
from warex.faults.walls.resource_failure import ResourceFailure
from warex.faults.walls.session_expired import SessionExpired
from warex.faults.walls.slow_page import SlowPage
from warex.faults.walls.wrong_redirect import WrongRedirect

_IMPORTED = [it for it in tuple(globals().values()) if isinstance(it, type)]
CATALOGUE: Final[tuple[type[Fault], ...]] = tuple(
    sorted(
        (it for it in _IMPORTED if issubclass(it, Fault) and "kind" in it.model_fields),
        key=lambda it: it.__name__,
    )
)
"""Every fault that is imported here, in alphabetical order."""

if TYPE_CHECKING:
    type AnyFault = Fault
else:
    type AnyFault = Annotated[reduce(or_, CATALOGUE), Field(discriminator="kind")]
"""The union of all faults, discriminated by ``kind``."""
