import click

from warex.cli.options.parameters import add_options, json_option


def test_options_are_added_in_the_order_in_which_they_are_given() -> None:
    @click.command()
    @click.option("--first")
    @add_options(json_option, click.option("--second"))
    @click.option("--third")
    def command() -> None:
        pass

    assert [option.name for option in command.params] == ["first", "as_json", "second", "third"]
