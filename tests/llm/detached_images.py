"""Messages whose images are replaced with references, and the images."""

from pydantic import JsonValue

from warex.llm.body.large_base64 import NOTHING_OMITTED, OmittedBase64
from warex.llm.content.images import detach_images
from warex.llm.content.token_estimate import ImagesOf
from warex.traces.blobs import reference


def detached(
    messages: list[JsonValue], images: ImagesOf, left_out: OmittedBase64 = NOTHING_OMITTED
) -> tuple[list[JsonValue], dict[str, bytes]]:
    """Return the messages with references to images, and the images by SHA-256 in hex."""
    blobs: dict[str, bytes] = {}

    def keep(content: bytes) -> str:
        ref = reference(content)
        blobs[ref.removeprefix("sha256/")] = content
        return ref

    return detach_images(messages, images, keep, left_out), blobs
