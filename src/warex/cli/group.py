"""A group of commands that says what there is when asked for what there is not."""

from difflib import get_close_matches

import click


class Group(click.Group):
    """Names its commands where one is unknown."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is meant; UsageError for an unknown one."""
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-"):
            near = get_close_matches(args[0], names, n=1)
            guess = f"; did you mean {near[0]!r}?" if near else "."
            raise click.UsageError(
                f"there is no command {args[0]!r}{guess} There are: {', '.join(names)}", ctx
            )
        return super().resolve_command(ctx, args)
