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
from warex.view.documents import Documents
from warex.view.json_text import as_json
from warex.view.media import media_type
from warex.view.server import ASSETS, CONTENT_POLICY, asset

_HEAD: Final = b"<head>"
_MOST_PAIRS: Final = 20
"""Pairs of a trial that are written; without those of two faulted conditions."""


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


def _write_trial(documents: Documents, number: int, trial: str, folder: Path) -> None:
    document = documents.trial(number, trial)
    document["judgement"] = document["judgement"] or documents.judgement(number, trial)
    document["others"] = [other for other in document["others"] if other["differs"] != "condition"][
        :_MOST_PAIRS
    ]
    _write(folder, f"trial/{number}/{trial}", document)
    for chunk in documents.raw_chunks(number, trial):
        _write(folder, f"raw/{number}/{trial}/{chunk}", documents.raw(number, trial, chunk))
    for step in document["steps"]:
        seq = int(step["seq"])
        _write(folder, f"prompt/{number}/{trial}/{seq}", documents.prompt(number, trial, seq))
        for reference in step["images"]:
            _write_image(documents, number, trial, str(reference), folder)
    for other in document["others"]:
        one, two = (int(other["run"]), str(other["id"])), (number, trial)
        name = "/".join(map(str, ("pair", *one, *two)))
        _write(folder, name, _or_error(partial(documents.pair, one, two)))


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


def _write(folder: Path, name: str, document: object) -> None:
    script = b"warexData(%b,%b)\n" % (as_json(name), as_json(document))
    write_atomic(folder / "data" / f"{name.replace('/', '-')}.js", script)
