"""A client of the testbed's port for verifiers."""

import json
import urllib.request
from typing import Any

from warex_testbed.server import Testbed


def ask(bed: Testbed, path: str, method: str = "GET") -> dict[str, Any]:
    """Return the JSON object with which the verifiers' port answers."""
    request = urllib.request.Request(f"http://127.0.0.1:{bed.admin_port}{path}", method=method)
    # It bounds a hang: a machine may be busy.
    with urllib.request.urlopen(request, timeout=60) as answer:
        return dict(json.load(answer))
