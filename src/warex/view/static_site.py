"""Writes runs as a folder that a browser opens without a server.

Pages that are opened as files cannot fetch others, so each document is a script that hands its data
to the viewer.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from warex.errors import TraceError
from warex.traces.files import write_atomic
from warex.view.body_document import lines_with_bodies
from warex.view.documents import Documents
from warex.view.json_text import as_json
from warex.view.media import media_type
from warex.view.server import ASSETS, CONTENT_POLICY, asset

_HEAD: Final = b"<head>"
_MOST_PAIRS: Final = 20
"""Pairs of a trial that are written; without those of two faulted conditions."""
_MOST_BODIES: Final = 1 << 26
"""Bytes of a trial's bodies that are written, as scripts."""
_NO_ROOM: Final = (
    f"The folder holds {_MOST_BODIES / 1e6:,.0f} MB of bodies of a trial; view the run with"
    " `warex view` for the rest."
)


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
        try:
            run = documents.figures(number)
        except TraceError as error:
            _write(folder, f"figures/{number}", {"error": str(error)})
    _write(folder, f"run/{number}", run)
    for row in run["trials"]:
        try:
            _write_trial(documents, number, str(row["id"]), folder)
        except TraceError as error:
            _write(folder, f"trial/{number}/{row['id']}", {"error": str(error)})
    head, parts = documents.search_index(number)
    _write(folder, f"search/{number}", head)
    for part, texts in enumerate(parts):
        _write(folder, f"search/{number}/{part}", texts)


def _write_trial(documents: Documents, number: int, trial: str, folder: Path) -> None:
    document = documents.trial(number, trial)
    document["judgement"] = document["judgement"] or documents.judgement(number, trial)
    document["others"] = [other for other in document["others"] if other["differs"] != "condition"][
        :_MOST_PAIRS
    ]
    _write(folder, f"trial/{number}/{trial}", document)
    if document["has_log"]:
        _write(folder, f"log/{number}/{trial}", _or_error(partial(documents.log, number, trial)))
    room = _MOST_BODIES
    for chunk in documents.raw_chunks(number, trial):
        lines = documents.raw(number, trial, chunk)
        _write(folder, f"raw/{number}/{trial}/{chunk}", lines)
        for seq in lines_with_bodies(lines):
            room -= _write_body(documents, number, trial, seq, folder, room)
    for step in document["steps"]:
        seq = int(step["seq"])
        _write(folder, f"prompt/{number}/{trial}/{seq}", documents.prompt(number, trial, seq))
        for reference in step["images"]:
            _write_image(documents, number, trial, str(reference), folder)
    for other in document["others"]:
        one, two = (int(other["run"]), str(other["id"])), (number, trial)
        name = "/".join(map(str, ("pair", *one, *two)))
        _write(folder, name, _or_error(partial(documents.pair, one, two)))


def _write_body(
    documents: Documents, number: int, trial: str, seq: int, folder: Path, room: int
) -> int:
    """Write the body of a line, or why it is not there; return how many bytes that takes."""
    name = f"body/{number}/{trial}/{seq}"
    if room <= 0:
        _write(folder, name, {"error": _NO_ROOM})
        return 0
    document = _or_error(partial(documents.body, number, trial, seq))
    return _write(folder, name, document)


def _write_image(
    documents: Documents, number: int, trial: str, reference: str, folder: Path
) -> None:
    try:
        data = documents.blob(number, trial, reference)
    except TraceError:
        return  # The page shows its name in its place.
    if media_type(data).startswith("image/"):
        write_atomic(folder / "data" / f"blob-{number}-{trial}-{reference.replace('/', '-')}", data)


def _or_error(read: Callable[[], object]) -> object:
    try:
        return read()
    except TraceError as error:
        return {"error": str(error)}


def _write(folder: Path, name: str, document: object) -> int:
    """Write a document; return its size in bytes."""
    script = b"warexData(%b,%b)\n" % (as_json(name), as_json(document))
    write_atomic(folder / "data" / f"{name.replace('/', '-')}.js", script)
    return len(script)
