"""Rates how secret the value of a header, a parameter, a field or a variable is by its name.

A name is split into words: ``userPassword``, ``user[password]`` and ``X-User-Password`` have the
same ones. The last word is the kind of the value: a ``token_type`` is not a token.
"""

from enum import IntEnum
from urllib.parse import unquote

from warex.text.lazy_pattern import lazy_re
from warex.text.short_cache import cached_if_short
from warex.traces.redaction import password_words


class Secrecy(IntEnum):
    """How likely a value is secret, by its name."""

    NOTHING = 0
    OPENS = 1
    """Secret if it is random or hexadecimal: the value of a link that opens something."""
    MAYBE = 2
    """Secret if it looks random."""
    SECRET = 3


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


_WORD = lazy_re(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_STEMS = words_of(
    """
    apikey accesskey assertion authkey authoriz bearer cookie credential csrf hmac jwt passcode
    mnemonic passphrase passwd passwort password privatekey pwd saml secret seedphrase sessid
    sessionid sessionkey
    signature signingkey subscriptionkey token verifier xsrf
    """
)
"""Mark a secret anywhere in a name, also within a word."""

_WORDS = frozenset(
    {"cred", "creds", "cvc", "cvv", "hotp", "mfa", "otp", "pass", "pin", "psk", "pw", "sas", "sig"}
    | {"ssn", "totp"}
)
_MAYBE_WORDS = frozenset(
    {"appid", "auth", "authentication", "crumb", "invitation", "invite", "key", "magic", "nonce"}
    | {"pat", "policy", "salt", "sess", "session", "sid", "sign", "st", "ticket"}
)

_NOT_ITSELF = words_of(
    """
    address age agent alg algorithm algorithms at audience banner box budget button category
    change changed check checks click consent cost count counts created date description dir
    directory disabled domain enabled endpoint error errors event exists expiration expire
    expired expires expiry field fields file folder form format help hidden hint host href
    in index info input invalid issued issuer kind label length level limit limits link
    location manager max message method methods min mode ms msg name names notice number off
    on origin out page parallelism path placeholder port position preference preferences
    prefix present price provider rate remaining required rotation s scope scopes screen
    seconds set settings size sock socket source state status store storage strength suffix
    text time title ttl type types up updated uri uris url urls usage used valid version
    view visible
    """
)
"""As the last word: a kind, a number, a place or a text about the secret."""

_KEYS_OF_DATA = words_of(
    """
    accept alt answer arrow attribute boundary bucket cache candidate column component
    composite config content control ctrl data dedup dedupe deduplication dictionary element
    enter escape event facet feature field file filter flag foreign group header host
    hot i18n idempotency image index issue item json keyboard label locale lookup map
    message meta modifier natural node object option order param parameter partition press
    primary project property pub public query range react registry resource routing row
    search setting shard shift shortcut sort state storage string surrogate tab tag template
    translation unique widget websocket
    """
)
"""Before ``key``: the name of data, no secret."""
_SECRET_KEYS = words_of(
    """
    access account admin api app application auth client consumer customer decryption deploy
    developer encryption functions hmac host insert license licence live login master
    partner private sandbox secret server service session shared signing ssh subscription
    user webhook
    """
)
_PLACES_IN_TEXT = words_of(
    """
    audio begin bos cached completion continuation cursor end eos first image input last
    mask max min next num output pad page paging per previous prompt reasoning resume skip
    special start stop sync text total unk
    """
)
"""Before ``token``: a piece of text or a page, no secret."""
_SECRET_CODES = words_of(
    """
    fa factor access activation auth authorization authentication backup confirm confirmation device
    invite invitation login mfa one oob otp pass pin recovery reset security sms time totp unlock
    user verification verify
    """
)
_OF_KINDS = frozenset({"session", "sess", "secret"})
_IDS = frozenset({"guid", "id", "ids", "uuid"})
_LINKS_THAT_OPEN = frozenset({"invitation", "invite", "login", "magic"})
_OPENS = frozenset(
    {"activate", "activation", "confirm", "confirmation", "eventvalidation", "invitee", "optout"}
    | {"recover", "recovery", "relaystate", "reset", "unsubscribe", "unsub", "verification"}
    | {"verify", "viewstate"}
)
"""As the last word: names of the values in links that confirm, invite or reset."""
_OWNERS_OF_STATE = frozenset({"auth", "login", "oauth", "oauth2", "oidc", "relay", "sso", "view"})
_NO_TOKENS = lazy_re("tokeni[sz]|tokenless|passwordless|passwordstrength|authoriz(?:able|er)")
"""Words that contain a stem but mean no secret."""
_PLAIN_WORDS_ON_KEY = frozenset({"donkey", "hockey", "hotkey", "jockey", "key", "monkey", "turkey"})


@cached_if_short(maxsize=8192)
def name_secrecy(name: str) -> Secrecy:
    """Rate a name, which may be percent-encoded or have JSON's escapes."""
    if "%" in name:
        name = unquote(unquote(name))
    if "\\u" in name:
        name = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), name)
    words = [word.lower() for word in _WORD.findall(name)]
    if _is_password(name, words):
        return Secrecy.SECRET
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in ("v", "x")):
        words.pop()
    if not words:
        return Secrecy.NOTHING
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _IDS:
        joined = "".join(words)
        if before in _OF_KINDS or joined.endswith(("accesskeyid", "privatekeyid", "sessionid")):
            return Secrecy.SECRET
        return Secrecy.MAYBE if before == "magic" else Secrecy.NOTHING
    if last == "link" and before in _LINKS_THAT_OPEN:
        return Secrecy.MAYBE
    if last in _OPENS or (last == "state" and (not before or before in _OWNERS_OF_STATE)):
        return max(Secrecy.OPENS, _by_stems(words, last))
    if len(words) > 1 and last in _NOT_ITSELF:
        return Secrecy.NOTHING
    if words == ["signature"]:
        return Secrecy.MAYBE  # Mails have one, too.
    if last == "code":
        if not before:
            return Secrecy.MAYBE
        return Secrecy.SECRET if before in _SECRET_CODES else Secrecy.NOTHING
    if last in ("tokens", "tokenizer", "tokenizers", "keys", "secretary"):
        return Secrecy.NOTHING
    if (last == "cookies" and before) or (last == "token" and before in _PLACES_IN_TEXT):
        return Secrecy.NOTHING
    if last == "key" and before:
        if before in _KEYS_OF_DATA and before not in _SECRET_KEYS:
            return Secrecy.NOTHING
        return Secrecy.SECRET if before in _SECRET_KEYS else Secrecy.MAYBE
    return _by_stems(words, last)


def _is_password(name: str, words: list[str]) -> bool:
    """Whether a name is a word for a password in another language than English."""
    if name.isascii() and not words:
        return False
    folded = password_words.folded(name)
    if any(mark in folded for mark in password_words.marks()):
        return not words or words[-1] not in _NOT_ITSELF
    others = password_words.words()
    return folded in others or not others.isdisjoint(words)


def _by_stems(words: list[str], last: str) -> Secrecy:
    joined = _NO_TOKENS.sub("", "".join(words))
    if any(stem in joined for stem in _STEMS) or not _WORDS.isdisjoint(words):
        return Secrecy.SECRET
    if not _MAYBE_WORDS.isdisjoint(words):
        return Secrecy.MAYBE
    if last.endswith("key") and last not in _PLAIN_WORDS_ON_KEY:
        return Secrecy.MAYBE
    return Secrecy.NOTHING


_TELLING = lazy_re(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[^\s<>\"'\\(){}\[\];,]{12,}")
_ESCAPE = lazy_re(r"\\+u([0-9a-fA-F]{4})")
_HEX = lazy_re(r"(?=[0-9]*[A-Fa-f])(?=[A-Fa-f]*[0-9])(?:[0-9a-f]{6,}|[0-9A-F]{6,})")
_UUID = lazy_re(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_TURN = lazy_re(r"(?=[a-z][A-Z0-9]|[A-Z][a-z0-9]|[0-9][A-Za-z])")
_WILD = lazy_re(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^0-9]*[0-9])[A-Za-z0-9_+/=~-]{10,}")


def is_secret(secrecy: Secrecy, value: str) -> bool:
    """Whether a value is secret whose name has this secrecy."""
    if secrecy is Secrecy.OPENS:
        return opens(value)
    if secrecy is Secrecy.MAYBE:
        return looks_secret(value) or (len(value) >= 8 and opens(value))
    return secrecy is Secrecy.SECRET


def opens(value: str) -> bool:
    """Whether a value may open what a link names: it is hexadecimal, a UUID or random."""
    return (
        _HEX.fullmatch(value) is not None
        or _UUID.fullmatch(value) is not None
        or looks_random(value, 16, 33)
    )


def looks_secret(value: str) -> bool:
    """Whether a value with a name rated MAYBE is secret: long, of letters and digits."""
    return _TELLING.fullmatch(value) is not None


def looks_random(value: str, least: int = 20, mixed: int = 45) -> bool:
    """Whether a value looks random by itself: letters of both cases and digits, well mixed.

    ``mixed`` is the minimum percentage of characters of another kind than the one before. Hashes
    in hex and UUIDs do not count, since they are usually identifiers.
    """
    if len(value) < least or _WILD.fullmatch(value) is None:
        return False
    # It is 62 % in random characters, and a third in words.
    return len(_TURN.findall(value)) * 100 >= len(value) * mixed
