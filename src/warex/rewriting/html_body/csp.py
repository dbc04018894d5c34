"""Extends a Content Security Policy by one script and one address, and nothing else.

The injected script is allowed by its hash. Source: W3C Content Security Policy Level 3, sections
2.2 and 6.7.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
from typing import Final

type _IsOpen = Callable[[Sequence[str]], bool]

_SCRIPTS: Final = ("script-src-elem", "script-src", "default-src")
"""The directives for inline scripts: the first one that a policy has applies."""
_CONNECTIONS: Final = ("connect-src", "default-src")
_CLOSES_INLINE: Final = ("'nonce-", "'sha256-", "'sha384-", "'sha512-", "'strict-dynamic'")
"""Sources that make ``'unsafe-inline'`` ineffective."""


def script_hash(script: str) -> str:
    """Return the source expression that allows an inline script with this text."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def allow_script(policies: str, script: str, address: str) -> str:
    """Return policies that allow an inline script, and requests to an address of the same site.

    ``policies`` is the value of a header or a ``meta`` element: one policy, or several separated by
    commas. Policies that already allow both are returned unchanged.
    """
    return ",".join(_allow(policy, script, address) for policy in policies.split(","))


def forbids_dialogs(policies: str) -> bool:
    """Whether policies sandbox a page so that it cannot open the browser's dialogs.

    Source: WHATWG HTML, section 7.1.5 (``allow-modals``).
    """
    directives = (it.split() for policy in policies.lower().split(",") for it in policy.split(";"))
    return any(it[:1] == ["sandbox"] and "allow-modals" not in it for it in directives)


def _allow(policy: str, script: str, address: str) -> str:
    policy = _with_source(policy, _SCRIPTS, script_hash(script), _allows_scripts)
    return _with_source(policy, _CONNECTIONS, address, _allows_own)


def _with_source(policy: str, names: tuple[str, ...], source: str, is_open: _IsOpen) -> str:
    """Return a policy with one more source in the first of the directives that it has.

    If that is ``default-src``, the specific directive is added instead.
    """
    directives = policy.split(";")
    present = [next(iter(directive.split()), "").lower() for directive in directives]
    name = next((name for name in names if name in present), None)
    if name is None:
        return policy
    # Of two directives with one name the first applies.
    at = present.index(name)
    sources = directives[at].split()[1:]
    if source in sources or is_open([it.lower() for it in sources]):
        return policy
    sources = [it for it in sources if it.lower() != "'none'"] + [source]
    own, default = names[-2:]
    if name == default:
        return ";".join([*directives, f" {own} {' '.join(sources)}"])
    directives[at] = f"{' ' if at else ''}{name} {' '.join(sources)}"
    return ";".join(directives)


def _allows_scripts(sources: Sequence[str]) -> bool:
    return "'unsafe-inline'" in sources and not any(it.startswith(_CLOSES_INLINE) for it in sources)


def _allows_own(sources: Sequence[str]) -> bool:
    return "*" in sources or "'self'" in sources
