"""Recognise a popup in a screenshot by the colour of its button."""

import re
from base64 import b64encode

from playwright.sync_api import Page

from warex.exchange import Exchange, Request
from warex.faults import Fault
from warex.seeds import KeyedRng


def accent(fault: Fault, rule: str, seed: int) -> str:
    """Return the colour of a popup's button on the first page that the fault hits."""
    exchange = Exchange("", Request("GET", "https://any.example/"))
    effects, _ = fault.effects(exchange, {}, KeyedRng(seed, rule))
    found = re.search(r'"accent":"(#\w{6})"', str(effects))
    assert found
    return found[1]


def pixels(page: Page, png: bytes, colour: str) -> int:
    """Count the pixels of a picture with a colour."""
    count: int = page.evaluate(
        """async ([data, colour]) => {
            const bitmap = await createImageBitmap(await (await fetch(data)).blob());
            const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
            const context = canvas.getContext("2d");
            context.drawImage(bitmap, 0, 0);
            const all = context.getImageData(0, 0, bitmap.width, bitmap.height).data;
            const wanted = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
            let count = 0;
            for (let at = 0; at < all.length; at += 4) {
                count += wanted.every((value, part) => all[at + part] === value);
            }
            return count;
        }""",
        [f"data:image/png;base64,{b64encode(png).decode()}", colour],
    )
    return count
