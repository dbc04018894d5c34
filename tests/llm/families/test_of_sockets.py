"""The APIs over a WebSocket have a name of their own, and stand in the docs."""

from pathlib import Path

import pytest

from warex.llm import LLM_APIS, LlmApi
from warex.llm.families.of_sockets import SOCKET_APIS

DOCS = (Path(__file__).parents[3] / "docs/reference/llm.md").read_text()


@pytest.mark.parametrize("api", SOCKET_APIS, ids=lambda api: api.name)
def test_an_api_over_a_websocket_is_no_other_and_is_documented(api: LlmApi) -> None:
    assert api.name not in {family.name for family in LLM_APIS}
    endings = ", ".join(f"`{ending}`" for ending in api.path_endings)
    assert f"| `{api.name}` | {api.summary} | {endings} |" in DOCS
