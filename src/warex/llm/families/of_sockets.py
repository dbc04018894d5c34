"""The APIs that there are over a WebSocket only.

Their messages are brought into the form of the API beside them (``warex.llm.sockets``), which then
reads them.
"""

from typing import ClassVar

from warex.llm.families.gemini import Gemini
from warex.llm.families.openai_responses import OpenAiResponses


class OpenAiRealtime(OpenAiResponses):
    """OpenAI's Realtime API, also on Azure."""

    name = "openai_realtime"
    summary = "OpenAI Realtime over a WebSocket; also Azure OpenAI."
    path_endings: ClassVar[tuple[str, ...]] = ("/v1/realtime", "/openai/realtime")


class GeminiLive(Gemini):
    """The Live API of Gemini, also on Vertex AI."""

    name = "gemini_live"
    summary = "Gemini Live over a WebSocket; also on Vertex AI."
    path_endings: ClassVar[tuple[str, ...]] = (".BidiGenerateContent", "/BidiGenerateContent")


SOCKET_APIS = (OpenAiRealtime(), GeminiLive())
