"""Public hosts of LLM APIs.

Calls are recognised by their shape (``warex.llm.recognise``); the names are used if the shape is
invisible, such as in a connection that is passed through.
"""

from fnmatch import translate
from functools import lru_cache

from warex.text.lazy_pattern import lazy_re

KNOWN_LLM_HOSTS = (
    "ai-gateway.vercel.sh",
    "aiplatform.googleapis.com",
    "*-aiplatform.googleapis.com",
    "api.anthropic.com",
    "api.cerebras.ai",
    "api.cohere.com",
    "api.deepinfra.com",
    "api.deepseek.com",
    "api.fireworks.ai",
    "api.groq.com",
    "api.mistral.ai",
    "api.moonshot.ai",
    "api.openai.com",
    "*.api.openai.com",
    "api.perplexity.ai",
    "api.together.xyz",
    "api.x.ai",
    "bedrock-runtime.*.amazonaws.com",
    "bedrock-runtime-fips.*.amazonaws.com",
    "dashscope.aliyuncs.com",
    "dashscope-intl.aliyuncs.com",
    "*.cognitiveservices.azure.com",
    "*.openai.azure.com",
    "*.services.ai.azure.com",
    "generativelanguage.googleapis.com",
    "integrate.api.nvidia.com",
    "models.github.ai",
    "openrouter.ai",
    "router.huggingface.co",
)
"""Globs over host names; ``*`` also spans dots."""

_KNOWN = lazy_re("|".join(map(translate, KNOWN_LLM_HOSTS)))
_PORT = lazy_re(r":\d+$")


@lru_cache(maxsize=4096)
def is_known_llm_host(host: str) -> bool:
    """Whether a host, with or without port, is a public LLM API."""
    return _KNOWN.match(_PORT.sub("", host.lower()).rstrip(".")) is not None


def host_matches(pattern: str, host: str) -> bool:
    """Whether a host in lower case matches a name, or a pattern ``*.example``."""
    pattern = pattern.lower()
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern
