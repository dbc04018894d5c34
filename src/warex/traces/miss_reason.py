"""Why a planned injection did not reach the client."""

from typing import Literal

type MissReason = Literal[
    "not_armed",
    "never",
    "client_gone",
    "client_left",
    "site_failed",
    "trial_over",
    "superseded",
    "nothing_to_rewrite",
    "decompression_bomb",
    "not_rendered",
    "removed_by_page",
    "browser_cache",
    "websocket",
]
