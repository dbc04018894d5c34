"""How much a lane's process grows while it reads a call to a model with large images in it."""

import base64
import json
from contextlib import ExitStack
from hashlib import shake_256
from pathlib import Path

from bench import first_event
from bench.candidates import LOADED, warex_config
from bench.counted import Uncounted, counting_lane
from bench.load import trusting, tunnel
from bench.processes import KNOWN, peak_resident_anew, resident
from bench.programs import site
from bench.row import Row
from bench.setting import HOST, Setting
from bench.streams import ask, said

_IMAGES = 10


def measure(setting: Setting) -> list[Row]:
    """Compare the peak of resident memory with what it was before, in bodies.

    Reads ``/proc``, so Linux only: elsewhere there is no row.
    """
    if not KNOWN:
        return []
    size = (2_000_000 if setting.quick else 50_000_000) * 3 // 4 // _IMAGES
    config = warex_config(setting, LOADED)
    assert config.out is not None
    grown: list[float] = []
    shown = 0
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.site", *setting.tls))
        authority = f"{HOST}:{port}"
        recorder = stack.enter_context(counting_lane(setting, config))
        connection = stack.enter_context(tunnel(recorder.port, port, trusting()))
        ask(connection, authority, first_event.PATH)
        for seed in range(1 if setting.quick else 3):
            question = _question(seed, size)
            peak_resident_anew(recorder.pid)
            before = resident(recorder.pid, "VmRSS")
            ask(connection, authority, first_event.PATH, question)
            grown.append((resident(recorder.pid, "VmHWM") - before) / len(question))
            shown += _IMAGES * size
        recorder.answered(f"https://{authority}{first_event.PATH}", times=1 + len(grown))
        recorder.called(said(1), times=1 + len(grown))
    if (kept := _kept(config.out)) != shown:
        raise Uncounted(f"the trace has {kept:,} bytes of images, but {shown:,} were sent")
    return [
        Row(
            "question-memory",
            "memory growth of a lane while it reads a model call of 50 MB (images), to its size",
            max(grown),
            "times",
            1.25,
            at_least=False,
            detail=f"{len(question) / 1e6:.0f} MB each time, grown by "
            + ", ".join(f"{each:.2f}" for each in grown)
            + f" times that; {kept / 1e6:.0f} MB of images in the trace",
        )
    ]


def _question(seed: int, size: int) -> bytes:
    """Return a call with images of so many bytes, none of which is in another call."""
    drawn = (shake_256(b"%d %d" % (seed, number)).digest(size) for number in range(_IMAGES))
    urls = (f"data:image/png;base64,{base64.b64encode(image).decode()}" for image in drawn)
    images = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    asked = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, *images]}]
    return json.dumps({"model": "bench", "stream": True, "messages": asked}).encode()


def _kept(trace: Path) -> int:
    return sum(path.stat().st_size for path in trace.rglob("sha256/*"))
