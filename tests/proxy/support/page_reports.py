"""Makes the reports of a changed page as its script does, from the page as it was sent."""

import hashlib
import hmac
import json
import re


class PageScript:
    """The script in a changed page, with its key."""

    def __init__(self, page: bytes | str) -> None:
        text = page if isinstance(page, str) else page.decode()
        path, key = re.search(r'"report":"(/\w+)"', text), re.search(r'\)\("(\w+)"\)\n?', text)
        assert path
        assert key
        self.path, self.key = path[1], key[1]
        self._number = 0

    def report(self, what: str, by: str = "", detail: str = "", payload: str = "") -> bytes:
        """Return the next report."""
        text = f"{self._number}\n{what}\n{by}\n{detail}\n{payload}".encode()
        self._number += 1
        mac = hmac.new(self.key.encode(), text, hashlib.sha256).hexdigest()
        return mac.encode() + b"\n" + text

    def query(self, what: str, text: str) -> bytes:
        """Return the next query."""
        return self.report(what, payload=json.dumps(text))
