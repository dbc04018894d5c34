import click
from click.testing import CliRunner

from warex.cli.group import Group


@click.group(cls=Group)
def box() -> None:
    pass


@box.command("open")
def open_() -> None:
    click.echo("opened")


def test_a_command_is_run() -> None:
    assert CliRunner().invoke(box, ["open"]).output == "opened\n"


def test_an_unknown_command_is_reported_with_a_suggestion() -> None:
    far, near = (CliRunner().invoke(box, [name]) for name in ("shake", "opne"))

    assert far.exit_code == near.exit_code == 2
    assert "there is no command 'shake'. There are: open" in far.output
    assert "there is no command 'opne'; did you mean 'open'?" in near.output


def test_an_unknown_option_is_left_to_click() -> None:
    assert "No such option" in CliRunner().invoke(box, ["--shake"]).output
