import pytest

from tests.proxy.support.lanes import scenario
from warex.errors import ScenarioError
from warex.faults import (
    HttpError,
    LlmCut,
    LlmSlow,
    McpError,
    SlowPage,
    every_fault,
)
from warex.mitmproxy_addon.refusals import require_possible
