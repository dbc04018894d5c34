"""The canary: a page that proves that the agent's browser uses the proxy."""

import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path

from warex.errors import MachineError, ProcessDied, TrialVoid
from warex.lane.hosts.own_hosts import CANARY_HOST
from warex.sandbox.chromium import headless_command
from warex.sandbox.isolation import Sandbox

_SECONDS = 30.0


def fetch_canary(chromium: Path, place: Sandbox, stop: Callable[[], bool] | None = None) -> None:
    """Fetch a nonce page with the agent's browser in the sandbox.

    Only the proxy answers this host. Raises TrialVoid if the page does not come back.
    """
    nonce = secrets.token_hex(8)
    with tempfile.TemporaryDirectory(prefix="warex-canary-", ignore_cleanup_errors=True) as scratch:
        page = Path(scratch) / "page"
        command = headless_command(
            chromium,
            Path(scratch) / "profile",
            (*place.environment.browser_arguments, "--dump-dom", f"https://{CANARY_HOST}/{nonce}"),
        )
        try:
            done = place.run(command, page, timeout_s=_SECONDS, stop=stop)
        except ProcessDied:
            raise
        except MachineError as error:
            raise TrialVoid(f"the canary could not be sent: {error}") from None
        shown = page.read_text("utf-8", "replace")
    if nonce.encode().hex() in shown:
        return
    if done.code is None:
        raise TrialVoid(
            f"the canary page did not come back within {_SECONDS:g} s: the browser is stuck, or"
            " its traffic does not reach the proxy"
        )
    raise TrialVoid(
        "the canary page did not come back: the browser's traffic does not pass through the"
        f" proxy, or it does not trust its certificate. It showed: {_excerpt(shown)}"
    )


def _excerpt(shown: str) -> str:
    """Return the beginning of the page, without the browser's own messages."""
    page = shown[max(shown.find("<html"), 0) :].strip()
    return repr(page[:200]) if page else "nothing"
