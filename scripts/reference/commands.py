"""The page of the commands."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from footlight.cli.commands import cli
from footlight.cli.sections import EXIT_STATUSES, SectionedCommand
from scripts.reference.markdown import join, prose, table


def render() -> str:
    context = click.Context(cli, info_name="footlight")
    commands = [cli.get_command(context, name) for name in cli.list_commands(context)]
    parts = [part for command in commands if command for part in _render_command(command)]
    return join(
        [
            "# Commands",
            prose(cli.help),
            "`footlight COMMAND --help` prints this reference; `footlight --version` prints the version. "
            "`python -m footlight` is the same as `footlight`.",
            *parts,
            "## Exit statuses",
            table(["Status", "Meaning"], ([str(status), meaning] for status, meaning in EXIT_STATUSES)),
        ]
    )


def _render_command(command: click.Command, group: str = "") -> Iterator[str]:
    yield f"## footlight {group}{command.name}"
    yield from map(prose, inspect.cleandoc(command.help or "").split("\n\n"))
    if isinstance(command, click.Group):
        for each in command.commands.values():
            yield from _render_command(each, f"{group}{command.name} ")
        return
    context = click.Context(command)
    sections = command.options_by_section(context) if isinstance(command, SectionedCommand) else {}
    for title, options in (sections or {"Options": command.params}).items():
        rows = [
            [f"`{' / '.join(option_names(option))}`", _describe_value(option), _describe(option)]
            for option in options
            if isinstance(option, click.Option) and "--help" not in option.opts
        ]
        if rows:
            yield from [f"**{title}**"] if len(sections) > 1 else []
            yield table(["Option", "Value", "Description"], rows)
    if isinstance(command, SectionedCommand) and command.examples:
        yield join(
            ["Examples:", "\n".join(["```console", *(f"$ {each}" for each in command.examples), "```"])]
        )


def get_options(command: click.Command) -> list[click.Option]:
    return [parameter for parameter in command.params if isinstance(parameter, click.Option)]


def option_names(option: click.Option) -> list[str]:
    return [*option.opts, *option.secondary_opts]


def _describe_value(option: click.Option) -> str:
    if option.is_flag:
        return ""
    if option.metavar:
        return f"`{option.metavar}`"
    if isinstance(option.type, click.Choice):
        return " or ".join(f"`{choice}`" for choice in option.type.choices)  # pyright: ignore[reportUnknownVariableType]
    return {"directory": "path", "file": "path"}.get(option.type.name, option.type.name)


def _describe(option: click.Option) -> str:
    default = f" Default: {option.show_default}." if isinstance(option.show_default, str) else ""
    return f"{option.help or ''}{default}"
