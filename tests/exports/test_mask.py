from typing import Any

import pytest

from tests.exports.builders import row
from warex.exports.mask import mask_pii


def after_masking(text: str, answer: str = "reload()") -> tuple[str, str]:
    messages = [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]
    first, last = mask_pii(row(messages=messages)).messages
    return first["content"], last["content"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Write to Ada.Byron+x@post.example now", "Write to [email-1] now"),
        ("Pay with 4111 1111 1111 1111.", "Pay with [card-1]."),
        ("Pay with 4111-1111-1111-1111", "Pay with [card-1]"),
        ("IBAN DE89 3704 0044 0532 0130 00", "IBAN [iban-1]"),
        ("Call +49 (30) 901820-10", "Call [phone-1]"),
        ("Call (415) 555-0132 or 415-555-0133", "Call [phone-1] or [phone-2]"),
    ],
)
def test_what_has_the_form_of_personal_data_is_masked(text: str, shown: str) -> None:
    assert after_masking(text)[0] == shown


@pytest.mark.parametrize(
    "text",
    [
        "[12] link 'Order 4111 1111 1111 1112'",
        "2026-11-24 10:00:00, 12345678901234567890123",
        "DE88 3704 0044 0532 0130 00",
        "€1,299.00 for 3 of 12",
        "version 1.2.3, @ada, a @ b",
        "https://shop.example/products/4111111111111112?page=2",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert after_masking(text)[0] == text


def test_what_an_action_types_has_the_same_mask_as_on_the_page() -> None:
    page, answer = after_masking(
        "To: ada@x.example, cc: bob@x.example", "fill('4', 'BOB@x.example')"
    )

    assert page == "To: [email-1], cc: [email-2]"
    assert answer == "fill('4', '[email-2]')"


def test_parts_and_calls_are_masked_and_their_ids_and_addresses_are_whole() -> None:
    call: dict[str, Any] = {
        "id": "4111111111111111",
        "type": "function",
        "function": {"name": "fill", "arguments": '{"text": "ada@x.example"}'},
    }
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "ada@x.example"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    result = mask_pii(row(messages=messages, url="https://x.example/?to=ada@x.example"))

    assert result.messages[0]["content"] == [{"type": "text", "text": "[email-1]"}]
    (masked,) = result.messages[1]["tool_calls"]
    assert masked["id"] == call["id"]
    assert masked["function"]["arguments"] == '{"text": "[email-1]"}'
    assert result.url == "https://x.example/?to=[email-1]"
