"""Commands whose help lists options in sections and ends with examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

__all__ = [
    "EXIT_STATUSES",
    "CommandGroup",
    "SectionedCommand",
    "browser_option",
    "format_option",
    "header_option",
]

EXIT_STATUSES = (
    (0, "Success."),
    (
        1,
        "The work failed: a tool failed, results differ, a threshold is exceeded, no browser starts.",
    ),
    (2, "The command line, a setting or an input file is wrong. Nothing was done."),
    (3, "There is no server, or the connection to it was lost. `audit`: a page could not be opened."),
    (130, "Interrupted by Ctrl-C, or 143 by SIGTERM."),
)
"""The exit statuses of all commands."""

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Output format. Default: text.",
)
browser_option = click.option(
    "--browser",
    type=click.Choice(["chromium", "firefox", "webkit"]),
    help="Browser engine. Default: chromium.",
)
header_option = click.option(
    "--header",
    "headers",
    metavar="NAME:VALUE",
    multiple=True,
    help="Send this header to a server with a URL. Repeatable.",
)


class SectionedCommand(click.Command):
    """A command with option sections and examples.

    `sections` maps the title of each section to the names of its parameters. All other options follow.
    """

    def __init__(
        self,
        *arguments: Any,
        sections: Mapping[str, Sequence[str]] | None = None,
        examples: Sequence[str] = (),
        **keywords: Any,
    ) -> None:
        super().__init__(*arguments, **keywords)
        self.sections = sections or {}
        self.examples = examples

    def options_by_section(self, ctx: click.Context) -> dict[str, list[click.Parameter]]:
        """Return the options by the title of their section, in the order of the help."""
        options = {each.name: each for each in self.get_params(ctx) if isinstance(each, click.Option)}
        found: dict[str, list[click.Parameter]] = {
            title: [options.pop(name) for name in names] for title, names in self.sections.items()
        }
        if options:
            found["Other options" if found else "Options"] = [*options.values()]
        return found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, options in self.options_by_section(ctx).items():
            with formatter.section(title):
                formatter.write_dl([record for each in options if (record := each.get_help_record(ctx))])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        _write_examples(self.examples, formatter)


class CommandGroup(click.Group):
    """A group of commands with examples."""

    def __init__(self, *arguments: Any, examples: Sequence[str] = (), **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        _write_examples(self.examples, formatter)


def _write_examples(examples: Sequence[str], formatter: click.HelpFormatter) -> None:
    if examples:
        with formatter.section("Examples"):
            for example in examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")
