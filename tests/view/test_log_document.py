import os
from pathlib import Path

import pytest

from warex.errors import TraceError
from warex.view.log_document import log_document


def test_a_log_is_text_without_what_a_terminal_obeys(tmp_path: Path) -> None:
    (tmp_path / "agent.log").write_bytes(
        b"\x1b[1;31mred\x1b[0m\r\n10 %\r20 %\x1b]0;title\x07 \xff <b>\x08\n"
    )

    log = log_document(tmp_path)

    assert log["parts"] == ["red\n10 %\n20 % � <b>␈\n"]
    assert (log["size"], log["left_out"]) == (43, 0)


def test_a_long_log_shows_its_beginning_and_end(tmp_path: Path) -> None:
    path = tmp_path / "agent.log"
    path.write_bytes(b"first\n")
    os.truncate(path, 100_000_000)
    with path.open("ab") as file:
        file.write(b"\nlast")

    log = log_document(tmp_path)
    beginning, end = log["parts"]

    assert beginning.startswith("first\n")
    assert end.endswith("\nlast")
    assert len(beginning) + len(end) + log["left_out"] == log["size"] == 100_000_005


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [("missing", "No such file"), ("fifo", "it is a FIFO"), ("link", "it is a link")],
)
def test_a_log_that_cannot_be_read_is_reported_in_a_sentence(
    tmp_path: Path, damage: str, sentence: str
) -> None:
    if damage == "fifo":
        os.mkfifo(tmp_path / "agent.log")
    elif damage == "link":
        (tmp_path / "agent.log").symlink_to("/etc/passwd")

    with pytest.raises(TraceError, match=sentence):
        log_document(tmp_path)
