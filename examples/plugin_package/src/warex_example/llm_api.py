"""The API of a company's gateway: OpenAI's messages, at another path."""

from typing import ClassVar

from warex.llm.families.openai_chat import OpenAiChat


class CompanyGateway(OpenAiChat):
    """Chat Completions below ``/llm/ask``."""

    name: ClassVar = "company_gateway"
    summary: ClassVar = "The company's gateway"
    path_endings: ClassVar = ("/llm/ask",)
