import base64
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.llm import LlmRequest
from warex.llm.content.image_tokens import (
    anthropic_image_tokens,
    gemini_image_tokens,
    image_size,
    openai_image_tokens,
)
from warex.llm.content.token_estimate import estimate_input
from warex.llm.families.anthropic_messages import AnthropicMessages
from warex.llm.families.openai_chat import OpenAiChat

ROOT = Path(__file__).parents[3]
JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(9) + b"\xff\xff\xc2\x00\x11\x08"
    b"\x02\xd0\x05\x00\x03" + bytes(20)
)
VP8X = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\x04\0\xcf\x02\0" + bytes(8)
VP8L = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + (1279 | 719 << 14).to_bytes(4, "little") + bytes(8)
VP8 = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x00\x05\xd0\x02" + bytes(8)
GIF = b"GIF89a\x00\x05\xd0\x02" + bytes(8)


def coded(content: bytes) -> str:
    return base64.b64encode(content).decode()


@pytest.mark.parametrize("content", [JPEG, VP8X, VP8L, VP8, GIF])
def test_an_images_size_is_read_from_its_head(content: bytes) -> None:
    assert image_size(coded(content)) == (1280, 720)


def test_the_size_of_a_real_screenshot_is_read() -> None:
    content = (ROOT / "docs/images/testbed-calendar.png").read_bytes()
    wide, high = (int.from_bytes(content[at : at + 4]) for at in (16, 20))
    assert image_size(coded(content)) == (wide, high)
    assert image_size(coded(content)[:101]) == (wide, high)


@pytest.mark.parametrize("data", [None, "", "!", "iVBORw0KGgo=", coded(GIF[:8]), coded(JPEG[:9])])
def test_other_data_has_no_size(data: str | None) -> None:
    assert image_size(data) is None


@given(st.sampled_from([JPEG, VP8X, VP8L, VP8, GIF]), st.binary(max_size=40), st.integers(0, 40))
def test_no_image_raises_an_error(head: bytes, rest: bytes, length: int) -> None:
    size = image_size(coded(head[:length] + rest))
    assert size is None or min(size) > 0


@pytest.mark.parametrize(
    ("size", "gpt", "claude", "gemini"),
    [
        ((1024, 1024), 765, 1399, 1032),
        ((1280, 720), 1105, 1229, 1548),
        ((960, 540), 765, 692, 1548),
        ((200, 200), 255, 54, 258),
        ((2048, 4096), 1105, 1600, 2064),
        ((3840, 2160), 1105, 1600, 3096),
        ((1, 65535), 765, 1, 3096),
    ],
)
def test_an_image_counts_by_its_size_as_its_vendor_says(
    size: tuple[int, int], gpt: int, claude: int, gemini: int
) -> None:
    assert (openai_image_tokens(size), anthropic_image_tokens(size), gemini_image_tokens(size)) == (
        gpt, claude, gemini,
    )  # fmt: skip


def test_an_estimate_counts_images_by_their_size() -> None:
    gif = coded(GIF)
    openai = {"type": "image_url", "image_url": {"url": f"data:image/gif;base64,{gif}"}}
    source = {"type": "base64", "media_type": "image/gif", "data": gif}

    def asked(part: object) -> LlmRequest:
        return LlmRequest("f", "m", [{"content": [part]}], [], False, "d")  # type: ignore[list-item]

    assert estimate_input(asked(openai), OpenAiChat().images) - 1105 in range(10)
    claude = estimate_input(asked({"type": "image", "source": source}), AnthropicMessages().images)
    assert claude - 1229 in range(20)
