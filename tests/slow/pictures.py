"""Recognise a popup in screenshots by what it covers and dims."""

from base64 import b64encode

from playwright.sync_api import Page


def changed(page: Page, png: bytes, other: bytes) -> float:
    """Return the share of pixels in which two pictures of one size differ; 1 for other sizes."""
    share: float = page.evaluate(
        """async (pictures) => {
            const [one, other] = await Promise.all(pictures.map(async (data) => {
                const bitmap = await createImageBitmap(await (await fetch(data)).blob());
                const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
                const context = canvas.getContext("2d");
                context.drawImage(bitmap, 0, 0);
                return context.getImageData(0, 0, bitmap.width, bitmap.height).data;
            }));
            if (one.length !== other.length) return 1;
            let count = 0;
            for (let at = 0; at < one.length; at += 4) {
                count += [0, 1, 2].some((part) => Math.abs(one[at + part] - other[at + part]) > 8);
            }
            return count / (one.length / 4);
        }""",
        [f"data:image/png;base64,{b64encode(it).decode()}" for it in (png, other)],
    )
    return share
