"""Command groups."""

from collections.abc import Callable

import click

from warex.cli.options.parameters import json_option
from warex.text.english import did_you_mean


class Group(click.Group):
    """Names the most similar command if one is unknown, or all of them."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command. Raises UsageError for an unknown one."""
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-"):
            guess = did_you_mean(args[0], names) or f". There are: {', '.join(names)}"
            raise click.UsageError(f"there is no command {args[0]!r}{guess}", ctx)
        return super().resolve_command(ctx, args)


def listing(name: str) -> Callable[[Callable[[bool], None]], click.Group]:
    """Return a decorator: a function that prints a list, as JSON or not, becomes a group."""

    def decorate(print_list: Callable[[bool], None]) -> click.Group:
        @click.group(name, cls=Group, invoke_without_command=True, help=print_list.__doc__)
        @json_option
        @click.pass_context
        def group(context: click.Context, as_json: bool) -> None:
            if context.invoked_subcommand is None:
                print_list(as_json)

        return group

    return decorate
