"""A folder of links shows the user's files, holds ours, and loses nothing of what is made in it."""

from pathlib import Path

from warex.sandbox.cleanup.symlink_tree import create_symlink_tree


def tree(folder: Path, *files: str) -> Path:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(file)
    return folder


def ours(path: Path, here: Path) -> None:
    here.write_text("ours")


def test_the_symlink_tree_differs_only_in_replaced_files(tmp_path: Path) -> None:
    real = tree(tmp_path / "real", "a/browser", "a/lib.so", "b/other", "top")
    shadow = tmp_path / "shadow"

    create_symlink_tree(real, shadow, [real / "a/browser"], ours)

    assert (shadow / "a/browser").read_text() == "ours"
    assert (real / "a/browser").read_text() == "a/browser"
    assert {name: (shadow / name).read_text() for name in ("a/lib.so", "b/other", "top")} == {
        "a/lib.so": "a/lib.so",
        "b/other": "b/other",
        "top": "top",
    }


def test_what_is_changed_below_is_changed_where_it_is(tmp_path: Path) -> None:
    real = tree(tmp_path / "real", "app/state")
    create_symlink_tree(real, tmp_path / "shadow")

    (tmp_path / "shadow/app/state").write_text("new")

    assert (real / "app/state").read_text() == "new"


def test_what_is_new_at_the_top_is_brought_home(tmp_path: Path) -> None:
    real = tree(tmp_path / "real", "old/x")
    farm = create_symlink_tree(real, tmp_path / "shadow")
    tree(farm.shadow, "new/y")

    farm.merge_back()

    assert (real / "new/y").read_text() == "new/y"
    assert sorted(path.name for path in real.iterdir()) == ["new", "old"]


def test_a_folder_that_does_not_exist_is_made_when_something_comes_home(tmp_path: Path) -> None:
    farm = create_symlink_tree(tmp_path / "real", tmp_path / "shadow")
    farm.merge_back()
    assert not (tmp_path / "real").exists()

    tree(farm.shadow, "new")
    farm.merge_back()

    assert (tmp_path / "real/new").read_text() == "new"


def test_existing_files_are_not_overwritten(tmp_path: Path) -> None:
    farm = create_symlink_tree(tree(tmp_path / "real"), tmp_path / "shadow")
    tree(farm.shadow, "both")
    tree(tmp_path / "real", "both/inside")

    farm.merge_back()

    assert (tmp_path / "real/both/inside").exists()
