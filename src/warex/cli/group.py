"""A command group that lists its commands in the error for an unknown one."""

import click

from warex.text.english import did_you_mean


class Group(click.Group):
    """Lists its commands if one is unknown."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command. Raises UsageError for an unknown one."""
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-"):
            guess = did_you_mean(args[0], names) or "."
            raise click.UsageError(
                f"there is no command {args[0]!r}{guess} There are: {', '.join(names)}", ctx
            )
        return super().resolve_command(ctx, args)
