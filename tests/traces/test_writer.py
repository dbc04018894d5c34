import contextlib
import json
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

import msgspec
import pytest

from tests.traces.redaction.test_structured import KEYS
from warex.errors import InputError, MachineError
from warex.traces import (
    Canary,
    Control,
    HarnessBroke,
    RequestSeen,
    TraceWriter,
    TrialEnded,
    read_trace,
)

from .samples import DELIVERED, fixed_clock


def written(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def test_each_event_is_on_disk_at_once_with_its_stamps(tmp_path: Path) -> None:
    path = tmp_path / "run" / "events.jsonl"

    with TraceWriter(path, fixed_clock()) as trace:
        trace.write(DELIVERED)
        assert written(path) == [
            {
                "schema_version": 3,
                "seq": 1,
                "t": 0.0,
                "at": "2026-01-01T00:00:00.000+00:00",
                **msgspec.to_builtins(DELIVERED),
            }
        ]
        trace.write(DELIVERED)

    assert [line["seq"] for line in written(path)] == [1, 2]


def test_an_event_can_be_stamped_with_a_time_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"

    with TraceWriter(path, fixed_clock()) as trace:
        trace.write(DELIVERED, t=2.5)

    (line,) = written(path)
    assert (line["t"], line["at"]) == (2.5, "2026-01-01T00:00:02.500+00:00")


def test_a_second_run_may_not_write_into_the_first_ones_trace(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with TraceWriter(path, fixed_clock()) as trace:
        trace.write(DELIVERED)
    before = path.read_bytes()

    with pytest.raises(InputError, match=r"events\.jsonl already holds a trace"):
        TraceWriter(path, fixed_clock())

    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(MachineError, match=r"events\.jsonl cannot be written"):
        TraceWriter(tmp_path / "file" / "run" / "events.jsonl", fixed_clock())


@contextlib.contextmanager
def at_most(size: int) -> Iterator[None]:
    """No file of this process may grow beyond ``size`` bytes: short writes, then errors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


def test_a_write_that_fails_half_way_leaves_the_trace_whole_and_usable(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with TraceWriter(path, fixed_clock()) as trace:
        trace.write(DELIVERED)
        full = path.read_bytes()

        with at_most(len(full) + 20), pytest.raises(MachineError, match="may not grow further"):
            trace.write(DELIVERED)
        assert path.read_bytes() == full

        trace.write(HarnessBroke(reason="disk"))

    read = read_trace(path)
    assert ([entry.seq for entry in read.entries], read.truncation) == ([1, 2], None)


def test_rubbish_that_cannot_be_taken_back_is_not_glued_to_the_next_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "events.jsonl"

    def refuse(file: FileIO, size: int | None = None) -> int:
        raise OSError(5, "Input/output error")

    class Untruncatable(FileIO):
        truncate = refuse

    monkeypatch.setattr("warex.traces.writer.FileIO", Untruncatable)
    with TraceWriter(path, fixed_clock()) as trace:
        with at_most(20), pytest.raises(MachineError):
            trace.write(DELIVERED)
        trace.write(DELIVERED)

    rubbish, line = path.read_bytes().splitlines()
    assert len(rubbish) == 20
    assert json.loads(line)["seq"] == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk always full")
def test_a_full_disk_is_a_sentence_with_path_and_remedy(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.symlink_to("/dev/full")

    with (
        TraceWriter(path, fixed_clock()) as trace,
        pytest.raises(MachineError, match=r"events\.jsonl .*the disk is full: free some space"),
    ):
        trace.write(DELIVERED)


@pytest.mark.parametrize("key", KEYS)
def test_no_key_reaches_the_disk_in_any_field(tmp_path: Path, key: str) -> None:
    path = tmp_path / "events.jsonl"

    with TraceWriter(path, fixed_clock()) as trace:
        trace.write(Canary(passed=False, detail=f"the answer was\n{key}"))
        trace.write(HarnessBroke(reason=key))

    assert key not in path.read_text()
    assert [entry.event for entry in read_trace(path).entries] == [
        Canary(passed=False, detail="the answer was\n[redacted]"),
        HarnessBroke(reason="[redacted]"),
    ]


def test_header_bytes_that_are_not_utf_8_are_written_as_question_marks(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    value = b"caf\xe9".decode("utf-8", "surrogateescape")
    event = RequestSeen(
        exchange="x1",
        method="GET",
        url="https://a.example/",
        resource="document",
        http_version="HTTP/1.1",
        connection="c1",
        headers=[("server", value)],
        size=0,
    )

    with TraceWriter(path, fixed_clock()) as trace:
        trace.write(event)

    (entry,) = read_trace(path).entries
    assert entry.event == msgspec.structs.replace(event, **{"headers": [("server", "caf?")]})


_WRITE_FOR_EVER = """
import itertools, pathlib, sys
from warex.clock import Clock
from warex.traces import HarnessBroke, TraceWriter
trace = TraceWriter(pathlib.Path(sys.argv[1]), Clock())
for n in itertools.count(1):
    trace.write(HarnessBroke(reason="x" * 5000))
    print(n, flush=True)
"""


@pytest.mark.wire
def test_kill_9_loses_at_most_the_last_line(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    command = [sys.executable, "-c", _WRITE_FOR_EVER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for _ in range(300):
            acknowledged = int(child.stdout.readline())
        child.kill()
        later = child.stdout.read().split()
    acknowledged = max(acknowledged, *map(int, later or ["0"]))

    read = read_trace(path)

    assert len(read.entries) >= acknowledged >= 300
    assert len(read.entries) + (read.truncation is not None) <= acknowledged + 1


def test_what_is_learned_later_is_taken_out_of_earlier_lines_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with TraceWriter(path, fixed_clock()) as trace:
        trace.write(HarnessBroke(reason="the word is Otter!4711"))
        trace.write(Control(call="fill", arguments={"selector": "#password", "text": "Otter!4711"}))
        trace.redactor.learn_form("application/json", b'{"password": "Otter!4711"}')
        trace.write(TrialEnded(exchanges=0, delivered=0, missed=0))

    assert "Otter" not in path.read_text()
    broke, _, ended = (entry.event for entry in read_trace(path).entries)
    assert broke == HarnessBroke(reason="the word is [redacted]")
    assert isinstance(ended, TrialEnded)
    assert ended.redacted == 2
    assert path.stat().st_mode & 0o077 == 0
