"""Masks personal data with a recognisable form: e-mail, phone, card and account numbers.

A value has the same mask throughout a row, so that what an action types is still what the page
shows. Names and street addresses have no such form and stay.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from warex.exports.rows import RowMetadata

CHATS: Final = ("messages", "prompt", "chosen", "rejected", "completion")
_UNMASKED: Final = ("id", "tool_call_id", "role", "type")


def _passes_luhn(text: str) -> bool:
    """Whether a card number has a valid check digit (ISO/IEC 7812-1)."""
    digits = [int(it) for it in text if it.isdigit()]
    doubled = (
        digit if at % 2 == 0 else digit * 2 - 9 * (digit > 4)
        for at, digit in enumerate(reversed(digits))
    )
    return len(digits) >= 13 and sum(doubled) % 10 == 0


def _passes_mod_97(text: str) -> bool:
    """Whether an account number has valid check digits (ISO 13616)."""
    plain = text.replace(" ", "")
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(it, 36)) for it in turned)) % 97 == 1


_FORMS: Final[tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...]] = (
    ("email", re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@(?:[\w-]+\.)+[A-Za-z]{2,}\b"), bool),
    ("iban", re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"),
     _passes_mod_97),
    ("card", re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])"), _passes_luhn),
    ("phone", re.compile(r"(?<![\w+])\+\d[\d ()./-]{6,18}\d(?!\w)"), bool),
    ("phone", re.compile(r"(?<![\w-])(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w-])"), bool),
)  # fmt: skip


def mask_pii[R: RowMetadata](row: R) -> R:
    """Return a row with personal data masked in its messages and URL."""
    masks: dict[str, str] = {}
    chats = [name for name in CHATS if name in type(row).model_fields]
    changed = {name: _mask_value(getattr(row, name), masks) for name in (*chats, "url")}
    return row.model_copy(update=changed)


def _mask_value(value: Any, masks: dict[str, str]) -> Any:
    match value:
        case str():
            return _in_text(value, masks)
        case list():
            return [_mask_value(one, masks) for one in value]
        case Mapping():
            # Ids tie calls to results, and blob names are hashes.
            return {
                k: one if k in _UNMASKED else _mask_value(one, masks) for k, one in value.items()
            }
        case _:
            return value


def _in_text(text: str, masks: dict[str, str]) -> str:
    for name, form, is_one in _FORMS:
        for candidate in dict.fromkeys(form.findall(text)):
            if is_one(candidate):
                text = text.replace(candidate, _mask(name, candidate, masks))
    return text


def _mask(name: str, value: str, masks: dict[str, str]) -> str:
    plain = value.lower() if name == "email" else re.sub(r"[^\w+]", "", value)
    number = sum(it.startswith(f"[{name}-") for it in masks.values()) + 1
    return masks.setdefault(plain, f"[{name}-{number}]")
