"""Shapes of tokens that gitleaks lacks, or matches too narrowly.

RE2 searches ``KEY_PREFILTER`` and ``PREFIXED`` first, in one pass.
"""

import re

from warex.text.lazy_pattern import lazy_re
from warex.traces.redaction.names import looks_random

REDACTED = "[redacted]"

KEY_PREFILTER = (
    rb"sk-|[sr]k_(?:live|test)_|earer |PRIVATE KEY|AIza|ya29\.|A[KS]IA|gh[pousr]_|glpat-|xox|eyJ"
    rb"|gsk_|xai-|hf_|:AA|-us[0-9]|GOCSPX-|dckr_|1//0|github_pat_|key-|RGAPI-|NRAK-|sbp_"
    rb"|ATATT3|tskey-|BSA|[0-9]:[A-Za-z0-9_-]{5}|sk\.eyJ|pplx-|tvly-|nvapi-|csk-|e2b_|bb_live_|fc-[0-9a-f]"
    rb"|fw_[A-Za-z0-9]|AGE-SECRET-KEY-1|v\^1\.1#i\^1#"
)
COUNTED = rb"pat[A-Za-z0-9]{14}\.|[MNO][A-Za-z0-9_-]{22,26}\.[A-Za-z0-9_-]{6}\."
PREFIXED = rb"\b[A-Za-z][A-Za-z0-9]{0,11}[_-][A-Za-z0-9]{24,}"


def _key(literal: str, rest: str) -> tuple[str, re.Pattern[str], str]:
    """Compile a pattern for keys that begin with a literal.

    The literal comes first because that is ten times faster; the character before it is checked
    afterwards. It must not be a letter or digit ("task-…" is not a key), unless it ends an escape
    of JSON or of a URL.
    """
    prefix = re.escape(literal)
    escapes = (r"\\[nrtbf]", r"\\u[0-9a-f]{4}", r"%[0-9A-Fa-f]{2}")
    behind_escape = "|".join(f"(?<={escape}{prefix})" for escape in escapes)
    before = f"(?<![A-Za-z0-9]{prefix})|{behind_escape}"
    return literal, lazy_re(f"{prefix}(?:{before}){rest}"), REDACTED


# What gitleaks has no rule for, or a narrower one. No prefix begins with a letter that can end a
# JSON escape (b f n r t u) where that letter is not already ruled out by _key, and nothing here
# matches a quote or half an escape: a line of JSON stays one. Lookaheads are bounded, so that the
# time stays linear in the text.
_KEYS: tuple[tuple[str, re.Pattern[str], str], ...] = (
    # OpenAI, Anthropic, OpenRouter…; a digit tells them from CSS classes such as sk-folding-cube.
    _key("sk-", r"(?:(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{12,}|[A-Za-z0-9]{20,})"),
    _key("sk_", r"(?:live|test)_[A-Za-z0-9]{12,}"),  # Stripe
    _key("gsk_", r"[A-Za-z0-9]{20,}"),  # Groq
    _key("xai-", r"[A-Za-z0-9]{20,}"),
    _key("pplx-", r"[A-Za-z0-9]{24,}"),  # Perplexity
    _key("tvly-", r"(?:(?:dev|prod)-)?[A-Za-z0-9]{20,}"),  # Tavily
    _key("nvapi-", r"[A-Za-z0-9_-]{24,}"),  # NVIDIA
    _key("csk-", r"[A-Za-z0-9]{24,}"),  # Cerebras
    _key("e2b_", r"[0-9a-f]{32,}"),
    _key("bb_live_", r"[A-Za-z0-9_-]{16,}"),  # Browserbase
    _key("fc-", r"[0-9a-f]{32}(?![0-9a-f])"),  # Firecrawl
    _key("hf_", r"[A-Za-z0-9]{20,}"),  # Hugging Face
    _key("AIza", r"[A-Za-z0-9_-]{16,}"),  # Google
    _key("ya29.", r"[A-Za-z0-9_-]{16,}"),
    _key("GOCSPX-", r"[A-Za-z0-9_-]{16,}"),
    _key("1//0", r"[A-Za-z0-9_-]{30,}"),
    _key("AKIA", r"[A-Z0-9]{12,}"),  # Amazon
    _key("ASIA", r"[A-Z0-9]{12,}"),
    _key("gh", r"[pousr]_[A-Za-z0-9]{16,}"),
    _key("github_pat_", r"[A-Za-z0-9_]{16,}"),
    _key("glpat-", r"[A-Za-z0-9_-]{16,}"),  # GitLab
    _key("xox", r"[a-z]-[A-Za-z0-9-]{10,}"),  # Slack
    _key("dckr_pat_", r"[A-Za-z0-9_-]{20,}"),  # Docker
    _key("NRAK-", r"[A-Z0-9]{20,}"),  # New Relic
    _key("fw_", r"[A-Za-z0-9]{20,}"),  # Fireworks
    _key("AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}"),  # age
    _key("v^1.1#i^1#", r"[A-Za-z0-9+/=^#]{20,}"),  # eBay
    _key("ATATT3", r"[A-Za-z0-9_=-]{30,}"),  # Atlassian
    _key("tskey-", r"[a-z]+-[A-Za-z0-9-]{16,}"),  # Tailscale
    _key("sk.eyJ", r"[A-Za-z0-9_-]{16,}[.][A-Za-z0-9_-]{8,}"),  # Mapbox
    _key("RGAPI-", r"[0-9a-f-]{30,}"),
    _key("sbp_", r"[0-9a-f]{32,}"),  # Supabase
    _key("key-", r"[0-9a-f]{32}(?![0-9a-f])"),  # Mailgun
    _key("eyJ", r"[A-Za-z0-9_-]{8,}[.][A-Za-z0-9_-]{8,}[.][A-Za-z0-9_-]*"),  # JWT
    ("-us", lazy_re(r"(?<![0-9a-f])[0-9a-f]{32}-us[0-9]{1,2}\b"), REDACTED),  # Mailchimp
    # Airtable, and Discord's bots.
    ("pat", lazy_re(r"pat(?<![A-Za-z0-9]pat)[A-Za-z0-9]{14}[.][0-9a-f]{64}"), REDACTED),
    (
        ".",
        lazy_re(
            r"[MNO](?<![A-Za-z0-9_-][MNO])[A-Za-z0-9_-]{22,26}[.][A-Za-z0-9_-]{6}[.][A-Za-z0-9_-]{27,40}"
            r"(?![A-Za-z0-9_-])"
        ),
        REDACTED,
    ),
    # Telegram's bots.
    (
        ":",
        lazy_re(
            r"[0-9](?<![0-9][0-9])[0-9]{7,9}:(?=[A-Za-z_-]{0,34}[0-9])[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"
        ),
        REDACTED,
    ),
    (":AA", lazy_re(r"[0-9](?<![0-9][0-9])[0-9]{7,9}:AA[A-Za-z0-9_-]{30,}"), REDACTED),
    # Brave.
    (
        "BSA",
        lazy_re(r"BSA(?<![A-Za-z0-9]BSA)(?=[A-Za-z_-]{0,30}[0-9])[A-Za-z0-9_-]{24,32}"),
        REDACTED,
    ),
    # Bearer or bearer, but not "bearer of good-news".
    (
        "earer ",
        lazy_re(r"(earer )(?=[A-Za-z._~+/=-]{0,60}[0-9])[A-Za-z0-9._~+/=-]{12,}"),
        rf"\1{REDACTED}",
    ),
    # PEM; its line ends may be escaped, even more than once.
    (
        "PRIVATE KEY",
        lazy_re(r"(BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)(?:[A-Za-z0-9+/=\s]|\\+[nr])+"),
        rf"\1{REDACTED}",
    ),
)
_HARMLESS_PREFIXES = frozenset(
    {"batch", "blob", "call", "chatcmpl", "cmpl", "evt", "file", "gen", "item", "md5", "msg", "req"}
    | {"resp", "response", "rs", "run", "sha1", "sha256", "sha384", "sha512", "step", "thread"}
    | {"toolu", "tooluse", "trace"}
)
"""Of ids that models and their clients give to calls, and of hashes."""
_TAIL = lazy_re(rb"[A-Za-z0-9_+/=-]*")
_GROUPS = lazy_re(rb"(?:[A-Za-z0-9]+[_-])+")


HEX_KEY = (
    rb"(?i)\b[a-z0-9_.-]*(?:key|sk|pk|rk|ak|api|tok|token|pat|pt|secret|sec|live|test|prod|ls|crsr|hb"
    rb"|lsv2|sntry[su]|shp[a-z]+|dop|ste|psk|auth|bot|cli|oauth|rnd|nk|apify|wandb|v1)(?:__?|[.])[a-z0-9]"
)
"""A prefix of keys that are hexadecimal or random, and the first character behind it."""
_OF_KEY = lazy_re(rb"(?:[A-Za-z0-9]{1,16}(?:__?|[.-]))+")
_ESCAPED = lazy_re(rb"u[0-9a-fA-F]{4}|[nrtbf]")
_SEGMENT_TAIL = lazy_re(rb"[A-Za-z0-9_-]*")
_HEX_TAIL = lazy_re(
    r"(?=[0-9_]*[a-fA-F])(?=[a-fA-F_]*[0-9])[0-9a-fA-F]{24,}(?:[_-][0-9a-fA-F]{6,})?"
)


def hex_key(text: bytes, begin: int) -> tuple[int, int] | None:
    """Return the span of a hexadecimal key with a prefix that announces one, or None."""
    escape = _ESCAPED.match(text, begin) if text[begin - 1 : begin] == b"\\" else None
    begin = escape.end() if escape else begin
    prefix = _OF_KEY.match(text, begin)
    while prefix is not None:
        tail = _SEGMENT_TAIL.match(text, prefix.end())
        value = tail.group().decode() if tail else ""
        if _HEX_TAIL.fullmatch(value) or looks_random(value, 24, 33):
            named = prefix.group().endswith(b".")
            return prefix.end() if named else begin, prefix.end() + len(value)
        shorter = prefix.group()[:-1]
        cut = max(shorter.rfind(sign) for sign in (b"_", b".", b"-"))
        prefix = _OF_KEY.match(text, begin, begin + cut + 1) if cut > 0 else None
    return None


def redact_vendor_keys(text: bytes) -> bytes:
    """Return the text with vendors' keys replaced."""
    words = before = text.decode("utf-8", "surrogateescape")
    for literal, pattern, instead in _KEYS:
        if literal in words:
            words = pattern.sub(instead, words)
    return text if words == before else words.encode("utf-8", "surrogateescape")


def prefixed_token(text: bytes, begin: int) -> tuple[int, int] | None:
    """Return the span of a random token with a vendor's prefix, such as ``figd_…``, or None."""
    tail = _TAIL.match(text, begin)
    token_text = tail.group() if tail else b""
    named = _GROUPS.match(token_text)
    if named is None:
        return None
    prefix = re.split(rb"[_-]", token_text, maxsplit=1)[0].decode().lower()
    if prefix in _HARMLESS_PREFIXES:
        return None
    for token in (token_text, token_text.partition(b"/")[0]):
        if looks_random(token[named.end() :].decode(), 30):
            return begin, begin + len(token)
    return None
