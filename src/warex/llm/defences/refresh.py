"""The paper's refresh prompt."""

from warex.llm.defences.base import Defence

REFRESH = Defence(
    name="refresh",
    summary="Refresh the page on a transient error (the paper, Appendix C).",
    text="Refresh the page when you encounter a transient error. Browsing may experience transient"
    " errors, such as client-side errors (e.g., slow page loading), network errors (e.g., timeout),"
    " and server-side errors (e.g., HTTP error codes 5XX). In such cases, use the Refresh command"
    " to reload the page rather than using Google.",
)
