import pytest

from warex.llm.actions.shell_words import split_commands


@pytest.mark.parametrize(
    ("script", "commands"),
    [
        ("a b c", [["a", "b", "c"]]),
        ("a && b || c; d | e & f\ng", [[x] for x in "abcdefg"]),
        ("a 'b c' \"d $\" e\\ f", [["a", "b c", "d $", "e f"]]),
        ("a https://x/#y # no", [["a", "https://x/#y"]]),
        ("U=x; a $U/y \"${U}z\" '$U'", [["a", "x/y", "xz", "$U"]]),
        ("U=x a b", [["a", "b"]]),
        ("export U=x\na $U", [["a", "x"]]),
        ("a \\\n  b", [["a", "b"]]),
        ("a 2>&1 >out b", [["a", "b"]]),
        ("a &>out; b", [["a"], ["b"]]),
        ('a "$(b \\"c\\" "d e")"', [["b", '"c"', "d e"], ["a", '$(b \\"c\\" "d e")']]),
        ("x=$(a b)", [["a", "b"]]),
        ("a `b`", [["b"], ["a", "`b`"]]),
        ("a $((1 + 2))", [["a", "$((1 + 2))"]]),
        ("(a; b)", [["a"], ["b"]]),
        ("a ''", [["a", ""]]),
        ("a 'b", [["a", "b"]]),
        ("", []),
    ],
)
def test_a_script_is_split_as_a_shell_does(script: str, commands: list[list[str]]) -> None:
    assert [list(command.words) for command in split_commands(script)] == commands


@pytest.mark.parametrize(
    ("script", "contexts"),
    [
        ("a && b", ["", ""]),
        ("a || b", ["", "handler"]),
        ("for i in 1 2; do a; b; done; c", ["loop", "loop", ""]),
        ("while a; do b; done", ["loop", "loop"]),
        ("if a; then b; else c; fi; d", ["branch", "branch", "branch", ""]),
    ],
)
def test_a_command_has_its_context(script: str, contexts: list[str]) -> None:
    assert [command.context for command in split_commands(script)] == contexts


def test_what_a_command_reads_is_known() -> None:
    commands = split_commands("cat > f <<'E' && b\nx y\nz\nE\nc <<< 'w'")

    assert [(c.words, c.stdin, c.output) for c in commands] == [
        (("cat",), "x y\nz", "f"),
        (("b",), "", ""),
        (("c",), "w", ""),
    ]


def test_a_script_of_any_length_is_read_or_not() -> None:
    assert split_commands("a " * 50_000) == ()
    assert len(split_commands("a;" * 5000)) == 200
