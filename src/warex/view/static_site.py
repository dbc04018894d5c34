"""Writes runs as a folder that a browser opens without a server.

Pages that are opened as files cannot fetch others, so each document is a script that hands its data
to the viewer.
"""

import json
from pathlib import Path
from typing import Final

from warex.traces.files import write_atomic
from warex.view.documents import Documents
from warex.view.media import media_type
from warex.view.server import ASSETS, CONTENT_POLICY, asset
from warex.view.trial_document import RAW_CHUNK

_HEAD: Final = b"<head>"


def write_static_site(documents: Documents, folder: Path) -> None:
    """Write all runs into a folder, with ``index.html``. Raises MachineError if that fails."""
    for name in ASSETS:
        data = asset(name)
        write_atomic(folder / name, _static(data) if name == "index.html" else data)
    _write(folder, "runs", {**documents.runs(), "follow": False})
    for number in range(documents.number_of_runs):
        _write_run(documents, number, folder)


def _static(page: bytes) -> bytes:
    """Return the page with its policy, which no server sends, and a mark that it is static."""
    policy = CONTENT_POLICY.replace("; frame-ancestors 'none'", "").replace(
        "connect-src 'self'", "connect-src 'none'"
    )
    tags = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="warex-static" content="1">'
    )
    return page.replace(_HEAD, _HEAD + tags.encode(), 1)


def _write_run(documents: Documents, number: int, folder: Path) -> None:
    run = documents.run(number)
    if not run["has_figures"]:
        run = documents.figures(number)
    _write(folder, f"run/{number}", run)
    for row in run["trials"]:
        _write_trial(documents, number, str(row["id"]), folder)


def _write_trial(documents: Documents, number: int, trial: str, folder: Path) -> None:
    document = documents.trial(number, trial)
    _write(folder, f"trial/{number}/{trial}", document)
    for chunk in range(-(-int(document["lines"]) // RAW_CHUNK)):
        _write(folder, f"raw/{number}/{trial}/{chunk}", documents.raw(number, trial, chunk))
    for step in document["steps"]:
        for reference in step["images"]:
            _write_image(documents, number, trial, str(reference), folder)
    if twin := document["twin"]:
        pair = documents.pair((number, str(twin)), (number, trial))
        _write(folder, f"pair/{number}/{twin}/{number}/{trial}", pair)


def _write_image(
    documents: Documents, number: int, trial: str, reference: str, folder: Path
) -> None:
    data = documents.blob(number, trial, reference)
    if media_type(data).startswith("image/"):
        write_atomic(folder / "data" / f"blob-{number}-{trial}-{reference.replace('/', '-')}", data)


def _write(folder: Path, name: str, document: object) -> None:
    script = f"warexData({json.dumps(name)},{json.dumps(document)})\n"
    write_atomic(folder / "data" / f"{name.replace('/', '-')}.js", script.encode())
