"""Whoever named the wrong folder is told what was found there, and what to do."""

from pathlib import Path

from warex.benchmarks.installation.checkouts import describe_path


def test_what_is_found_at_a_path_is_told_in_a_few_words(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "blank").touch()
    (tmp_path / "loose").symlink_to(tmp_path / "gone")
    many = tmp_path / "many"
    many.mkdir()
    for name in ("f", "e", "d", "c", "b", "a", ".git"):
        (many / name).touch()

    assert [
        describe_path(tmp_path / name) for name in ("gone", "empty", "file", "blank", "loose")
    ] == [
        "there is nothing of this name",
        "it is an empty folder",
        "it is a file",
        "it is an empty file",
        "it is a link to nowhere",
    ]
    assert describe_path(many) == "it is a folder that holds a, b, c, d, e, …"
