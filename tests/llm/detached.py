"""Images taken out of messages, for tests that look at both."""

from pydantic import JsonValue

from warex.llm.estimate import ImagesOf
from warex.llm.images import detach_images
from warex.llm.left_out import NOTHING, LeftOut
from warex.traces.blobs import reference


def detached(
    messages: list[JsonValue], images: ImagesOf, left_out: LeftOut = NOTHING
) -> tuple[list[JsonValue], dict[str, bytes]]:
    """Return the messages with references for images, and the images by SHA-256 in hex."""
    blobs: dict[str, bytes] = {}

    def keep(content: bytes) -> str:
        ref = reference(content)
        blobs[ref.removeprefix("sha256/")] = content
        return ref

    return detach_images(messages, images, keep, left_out), blobs
