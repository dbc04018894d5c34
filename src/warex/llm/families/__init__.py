"""The catalogue of LLM APIs: one file per family.

To add one: write its file, its test, its section in docs/reference/llm.md, and name it below.
tests/llm/families/test_catalogue.py names whichever is missing.
"""

from warex.llm.families.anthropic_messages import AnthropicMessages
from warex.llm.families.base import LlmApi
from warex.llm.families.bedrock_converse import BedrockConverse
from warex.llm.families.bedrock_invoke import BedrockInvoke
from warex.llm.families.cohere import Cohere
from warex.llm.families.gemini import Gemini
from warex.llm.families.ollama import Ollama
from warex.llm.families.openai_chat import OpenAiChat
from warex.llm.families.openai_responses import OpenAiResponses

LLM_APIS: tuple[LlmApi, ...] = (
    OpenAiChat(),
    OpenAiResponses(),
    AnthropicMessages(),
    Gemini(),
    Ollama(),
    BedrockConverse(),
    BedrockInvoke(),
    Cohere(),
)

__all__ = ["LLM_APIS", "LlmApi"]
