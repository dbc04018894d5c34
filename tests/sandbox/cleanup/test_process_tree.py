"""The processes of a command are identified by their session and their mark."""

from warex.sandbox.cleanup.process_tree import ProcessTree


def test_a_mark_is_added_and_nothing_taken_away() -> None:
    family = ProcessTree()

    assert family.marked({"A": "b"}) == {"A": "b", "WAREX_COMMAND": family.mark}


def test_two_commands_never_share_a_mark() -> None:
    assert ProcessTree().mark != ProcessTree().mark


def test_a_family_that_never_began_needs_no_ending() -> None:
    ProcessTree().end()
