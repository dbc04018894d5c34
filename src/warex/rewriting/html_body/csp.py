"""Content Security Policy, opened for one script and one address and no further.

A page's own policy keeps foreign scripts out, as it should. What is put into a page is let in by
the hash of its text, so that nothing else gets in with it. Source: W3C Content Security Policy
Level 3, sections 2.2 and 6.7.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
from typing import Final

type _IsOpen = Callable[[Sequence[str]], bool]

_SCRIPTS: Final = ("script-src-elem", "script-src", "default-src")
"""What rules inline scripts: the first of these that a policy has."""
_CONNECTIONS: Final = ("connect-src", "default-src")
_CLOSES_INLINE: Final = ("'nonce-", "'sha256-", "'sha384-", "'sha512-", "'strict-dynamic'")
"""Sources beside which ``'unsafe-inline'`` means nothing."""


def script_hash(script: str) -> str:
    """Return the source expression that lets in an inline script with this text."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def allow_script(policies: str, script: str, address: str) -> str:
    """Return policies such that an inline script runs and may ask for an address of the site's own.

    ``policies`` is the value of a header, or of a ``meta`` element: one policy, or several parted
    by commas. What allows both already is returned as it is.
    """
    return ",".join(_opened(policy, script, address) for policy in policies.split(","))


def _opened(policy: str, script: str, address: str) -> str:
    policy = _with(policy, _SCRIPTS, script_hash(script), _lets_in_scripts)
    return _with(policy, _CONNECTIONS, address, _lets_in_own)


def _with(policy: str, names: tuple[str, ...], source: str, is_open: _IsOpen) -> str:
    """Return a policy with one more source in the directive that rules here.

    Where the default rules, that of its own is added which the default stands for.
    """
    directives = policy.split(";")
    ruling = [_name(directive) for directive in directives]
    name = next((name for name in names if name in ruling), None)
    if name is None:
        return policy
    # Of two directives of one name the first one counts.
    at = ruling.index(name)
    sources = directives[at].split()[1:]
    if source in sources or is_open([it.lower() for it in sources]):
        return policy
    sources = [it for it in sources if it.lower() != "'none'"] + [source]
    own, default = names[-2:]
    if name == default:
        return ";".join([*directives, f" {own} {' '.join(sources)}"])
    directives[at] = f"{' ' if at else ''}{name} {' '.join(sources)}"
    return ";".join(directives)


def _name(directive: str) -> str:
    return next(iter(directive.split()), "").lower()


def _lets_in_scripts(sources: Sequence[str]) -> bool:
    return "'unsafe-inline'" in sources and not any(it.startswith(_CLOSES_INLINE) for it in sources)


def _lets_in_own(sources: Sequence[str]) -> bool:
    return "*" in sources or "'self'" in sources
