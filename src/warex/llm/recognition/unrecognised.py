"""Detects requests that look like LLM calls but that no family reads.

They are counted and reported, so that figures that depend on the agent's calls become unknown.
Requests of pages are ignored; those of programs and browser extensions are not.
"""

from collections.abc import Mapping

from warex.llm.body.lenient_json import TOO_MANY_VALUES, has_too_many_values, parse_object
from warex.llm.families import is_api_path, is_counting_path, prompt_keys
from warex.llm.recognition.browser_origin import is_browser_request
from warex.llm.recognition.hosts import is_known_llm_host
from warex.text.lazy_pattern import lazy_re

_PATHS = (
    "/v1/complete",
    "/completions",
    "/responses/compact",
    "/v1/chat",
    "/batches",
    ":batchGenerateContent",
    "/language-model",
)
"""Path endings of unsupported text APIs of Anthropic, OpenAI, Bedrock, Cohere and Vercel."""
_TALKS = lazy_re(r"/interactions$|/conversations(?:/[^/]+(?:/restart)?)?$")
"""Paths of Gemini and Mistral that generate text if there is a prompt; OpenAI's only store it."""
_RUNS = lazy_re(r"/threads/(?:[^/]+/)?runs(?:/[^/]+/submit_tool_outputs)?$")
"""Paths of OpenAI's and Azure's Assistants; other servers use such paths for agents."""
_PROMPTS = ("message", "inputs", "inputText", "requests")
"""Keys of the prompt in these APIs; others are as in the families."""
_NAMES = ("model", "agent", "agent_id")
_NAMED_BY_PATH = (":", "/converse", "/invoke")
"""Parts of paths that name the model."""
_NAMED_BY_HEADER = "ai-language-model-id"
"""The header of Vercel's AI Gateway that names the model."""
_EMBEDS = lazy_re(r"/model/[^/]*(?:embed|rerank)[^/]*/invoke$")
"""Bedrock's calls to models that generate no text."""
_KEEPS = lazy_re(r"/threads/[^/]+/messages$")
"""Messages that OpenAI's Assistants answer in a later run."""
_GRPC_METHODS = ("/GenerateContent", "/StreamGenerateContent", "/Predict", "/StreamRawPredict")

NO_SUCH_API = "WAREX reads no API of this form"
NOT_UNDERSTOOD = "its body has no form that WAREX reads"
BINARY = "its body is not JSON"


def may_be_unrecognised(method: str, path: str) -> bool:
    """Whether a request's body must be kept for ``unrecognised_reason``; fast."""
    where = path.partition("?")[0]
    listed = is_api_path(where) or where.endswith(_PATHS) or _TALKS.search(where) is not None
    return method == "POST" and listed


def unrecognised_reason(
    method: str,
    host: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes,
    broken: str | None = None,
) -> str | None:
    """Return why a request that looks like an LLM call could not be read; None for others.

    The request was recognised by no family. On a known host every request to a path that generates
    text counts; on others the body must be JSON with a model and a prompt. ``headers`` have names
    in lower case; ``body`` is decompressed and may be missing. ``broken`` is the error of its
    decompression, if any: then only the path counts.
    """
    from_page = is_browser_request(headers) or ("referer" in headers and "origin" not in headers)
    if method != "POST" or from_page:
        return None
    path = path.partition("?")[0]
    if is_counting_path(path) or _EMBEDS.search(path) or _KEEPS.search(path):
        return None
    if broken is None and has_too_many_values(body):
        broken = TOO_MANY_VALUES
    known, read = is_known_llm_host(host), is_api_path(path)
    listed = read or path.endswith(_PATHS)
    why = NOT_UNDERSTOOD if read else NO_SUCH_API
    if known and path.endswith(_GRPC_METHODS):
        return BINARY
    if (known or broken) and (listed or _RUNS.search(path)):
        return broken or why
    sent = parse_object(body) if body[:64].lstrip().startswith(b"{") else {}
    prompts = any(sent.get(key) for key in (*prompt_keys(), *_PROMPTS))
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
