"""Proves, before the agent starts, that its browser's traffic passes through the proxy."""

import secrets
import subprocess
import tempfile
from pathlib import Path

from warex.errors import TrialVoid
from warex.proxy.interception import CANARY_HOST
from warex.sandbox.chromium import headless
from warex.sandbox.environment import Environment

_SECONDS = 30.0


def fetch_canary(chromium: Path, environment: Environment) -> None:
    """Fetch a nonce page with the agent's browser in the agent's environment.

    The host exists nowhere: only the proxy answers it, with what was asked for. Raises TrialVoid
    where the page does not come back: faults would not reach this browser.
    """
    nonce = secrets.token_hex(8)
    with tempfile.TemporaryDirectory(prefix="warex-canary-", ignore_cleanup_errors=True) as profile:
        command = headless(
            chromium,
            Path(profile),
            (*environment.browser_arguments, "--dump-dom", f"https://{CANARY_HOST}/{nonce}"),
        )
        try:
            done = subprocess.run(
                command,
                env=dict(environment.variables),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise TrialVoid(
                f"the canary page did not come back within {_SECONDS:g} s: the browser is stuck, or"
                " its traffic does not reach the proxy"
            ) from None
        except OSError as error:
            raise TrialVoid(f"the browser {chromium} cannot be started: {error}") from None
    if nonce.encode().hex().encode() not in done.stdout:
        raise TrialVoid(
            "the canary page did not come back: the browser's traffic does not pass through the"
            f" proxy, or it does not trust its certificate. It showed: {_shown(done.stdout)}"
        )


def _shown(page: bytes) -> str:
    text = page.decode(errors="replace")
    return repr(text[:200]) if text.strip() else "nothing"
