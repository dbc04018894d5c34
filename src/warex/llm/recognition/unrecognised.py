"""Requests that look like calls to a model and are of no family that WAREX reads.

They are counted and named, so that what depends on an agent's calls is said to be unknown. What is
recognised here errs towards the agent's programs, extensions of a browser among them: what a page
sends is not looked at.
"""

import re
from collections.abc import Mapping

from warex.llm.body.lenient_json import parse_json
from warex.llm.families import LLM_APIS
from warex.llm.recognition.browser_origin import is_browser_request
from warex.llm.recognition.hosts import is_known_llm_host

_READ = tuple(ending for family in LLM_APIS for ending in family.path_endings)
_PATHS = (
    "/v1/complete",
    "/completions",
    "/responses/compact",
    "/v1/chat",
    "/batches",
    ":batchGenerateContent",
    "/language-model",
)
"""How the paths of APIs end that generate text and that no family reads: of Anthropic, OpenAI,
Bedrock, Cohere and Vercel's AI Gateway."""
_TALKS = re.compile(r"/interactions$|/conversations(?:/[^/]+(?:/restart)?)?$")
"""Paths of Gemini and Mistral that generate text where a prompt comes along, which OpenAI has to
keep texts."""
_RUNS = re.compile(r"/threads/(?:[^/]+/)?runs(?:/[^/]+/submit_tool_outputs)?$")
"""Paths of OpenAI's and Azure's Assistants that generate text; other servers have such ones for
agents."""
_PROMPTS = (
    *(key for family in LLM_APIS for key in family.prompts),
    *("message", "inputs", "inputText", "requests"),
)
"""Where those APIs, and the families', have what the model is asked."""
_NAMES = ("model", "agent", "agent_id")
"""Where they have whom they ask."""
_NAMED_BY_PATH = (":", "/converse", "/invoke")
"""In paths that name the model themselves."""
_NAMED_BY_HEADER = "ai-language-model-id"
"""Where Vercel's AI Gateway is told the model."""
_COUNTS = tuple(ending for family in LLM_APIS for ending in family.counting_endings)
"""Of requests that generate nothing."""
_EMBEDS = re.compile(r"/model/[^/]*(?:embed|rerank)[^/]*/invoke$")
"""Calls of Bedrock's to models that generate nothing."""
_KEEPS = re.compile(r"/threads/[^/]+/messages$")
"""Messages that OpenAI's Assistants are to answer when a run is begun."""
_GRPC_METHODS = ("/GenerateContent", "/StreamGenerateContent", "/Predict", "/StreamRawPredict")

NO_SUCH_API = "WAREX reads no API of this form"
NOT_UNDERSTOOD = "its body has no form that WAREX reads"
BINARY = "its body is not JSON"


def may_be_unrecognised(method: str, path: str) -> bool:
    """Tell quickly whether a request's body is worth keeping for ``unread``."""
    where = path.partition("?")[0]
    listed = where.endswith(_READ + _PATHS) or _TALKS.search(where) is not None
    return method == "POST" and listed


def unrecognised_reason(
    method: str,
    host: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes,
    broken: str | None = None,
) -> str | None:
    """Return why a request that looks like a call to a model could not be read; None for others.

    It is asked of what no family has recognised. On a known host every request to a path that
    generates text is one; elsewhere its body must be JSON, with a model and what that is asked.
    ``headers`` have names in lower case; ``body`` is decompressed and may be missing. ``broken``
    says why it could not be decompressed, where that is so: its path alone tells then.
    """
    from_page = is_browser_request(headers) or ("referer" in headers and "origin" not in headers)
    if method != "POST" or from_page:
        return None
    path = path.partition("?")[0]
    if path.endswith(_COUNTS) or _EMBEDS.search(path) or _KEEPS.search(path):
        return None
    known, read = is_known_llm_host(host), path.endswith(_READ)
    listed = read or path.endswith(_PATHS)
    why = NOT_UNDERSTOOD if read else NO_SUCH_API
    if known and path.endswith(_GRPC_METHODS):
        return BINARY
    if (known or broken) and (listed or _RUNS.search(path)):
        return broken or why
    sent = _mapping(body)
    prompts = any(sent.get(key) for key in _PROMPTS)
    if _TALKS.search(path):
        named = known or any(name in sent for name in _NAMES)
        return why if named and prompts else None
    if listed:
        by_path = any(part in path for part in _NAMED_BY_PATH)
        named = "model" in sent or by_path or _NAMED_BY_HEADER in headers
        return why if named and prompts else None
    turns = sent.get("messages")
    is_chat = isinstance(turns, list) and all(isinstance(t, dict) and "role" in t for t in turns)
    return why if isinstance(sent.get("model"), str) and turns and is_chat else None


def _mapping(body: bytes) -> dict[str, object]:
    if not body[:64].lstrip().startswith(b"{"):
        return {}
    try:
        sent = parse_json(body)
    except ValueError:
        return {}
    return dict(sent) if isinstance(sent, dict) else {}
