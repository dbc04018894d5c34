import pytest

from warex.view.media import media_type


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n...", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF....WEBPVP8 ", "image/webp"),
        (b"<svg onload='alert(1)'/>", "text/plain"),
        (b"<html>", "text/plain"),
        (b"", "text/plain"),
    ],
)
def test_only_images_without_scripts_are_sent_as_images(data: bytes, kind: str) -> None:
    assert media_type(data) == kind
