"""The `click` command of `footlight call`, with its help and shell completion. `run` does the work."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

from footlight.cli.call.arguments import OPTIONS, Flag, asks_for_command_help, find_parameter, read_words
from footlight.cli.output import ignore_broken_pipe
from footlight.cli.sections import SectionedCommand
from footlight.cli.usage import InvalidUsageError
from footlight.daemon.errors import DaemonError
from footlight.daemon.folder import find_folder

__all__ = ["call"]

Items = list[CompletionItem[str]]


class _Call(SectionedCommand):
    """A command whose flags depend on the tool. `click` cannot parse them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            read_words(args)
        except InvalidUsageError as error:
            raise click.UsageError(str(error), ctx) from None
        if asks_for_command_help(args):
            try:
                click.echo(ctx.get_help())
            except BrokenPipeError:
                ignore_broken_pipe()
            ctx.exit()
        ctx.params["words"] = tuple(args)
        return []

    def invoke(self, ctx: click.Context) -> None:
        from footlight.cli.call.run import run_call

        sys.exit(run_call(ctx.params["words"]))

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return ["TOOL", "[--PARAMETER VALUE]...", "[OPTIONS]"]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> Items:
        """Complete the name of a tool, then its flags and their values."""
        from footlight.cli.call.known_tools import find_known_tools

        typed = read_words(ctx.params["words"])
        try:
            tools = {tool["name"]: tool for tool in find_known_tools(find_folder(os.environ))}
        except (InvalidUsageError, DaemonError):
            return []  # The error is reported by the call.
        if typed.tool is None and not incomplete.startswith("-"):
            return _items({name: str(tool.get("title") or "") for name, tool in tools.items()}, incomplete)
        properties = tools.get(typed.tool or "", {}).get("inputSchema", {}).get("properties", {})
        if not incomplete.startswith("-"):
            return _complete_value(properties, typed.flags, incomplete)
        own = {option.name: option.help for option in OPTIONS}
        theirs = {f"--{name}": str(schema.get("description", "")) for name, schema in properties.items()}
        return _items(own | theirs, incomplete) or _items(_hyphenate(theirs), incomplete)


def _complete_value(properties: Mapping[str, Mapping[str, Any]], flags: list[Flag], incomplete: str) -> Items:
    """Complete the value of the last flag."""
    if not flags or flags[-1].value is not None:
        return []
    schema = properties.get(find_parameter(flags[-1].name, properties) or "", {})
    choices = schema.get("enum") or schema.get("items", {}).get("enum", [])
    return _items({str(choice): "" for choice in choices}, incomplete)


def _hyphenate(flags: Mapping[str, str]) -> dict[str, str]:
    """Return the flags in kebab case: `--fullPage` becomes `--full-page`."""
    return {re.sub("([A-Z])", r"-\1", flag).lower(): help for flag, help in flags.items()}


def _items(texts: Mapping[str, str], incomplete: str) -> Items:
    return [
        CompletionItem(text, help=help or None) for text, help in texts.items() if text.startswith(incomplete)
    ]


def _option(name: str, value: str | None, help: str) -> click.Option:
    if value is None:
        return click.Option([name], is_flag=True, help=help)
    choices = value.split("|") if value.islower() else None
    return click.Option([name], type=click.Choice(choices) if choices else None, metavar=value, help=help)


EXAMPLES = (
    "footlight call navigate --url https://example.com",
    "footlight call screenshot --output page.png",
    "footlight call fill --selector '[name=user]' --value reader",
    "footlight call list_sessions --json",
)

call = _Call(
    "call",
    params=[_option(option.name, option.value, option.help) for option in OPTIONS],
    examples=EXAMPLES,
    help="""Call one tool and print its answer.

    Without --server, the tool is called on the background server, which keeps its pages between calls. The
    server is started if it is not running. The parameters of the tool are flags: `footlight call navigate
    --url https://example.com`. `footlight call TOOL --help` lists them.

    Exits with 1 if the tool failed, 2 if the command line is wrong, and 3 if there is no server.
    """,
)
