"""`footlight call`, as `click` sees it: for its help, the reference and completion. `calling` runs it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

from footlight.cli.arguments import OPTIONS, BadUsage, Given, find_parameter, read_words
from footlight.daemon.errors import DaemonError
from footlight.daemon.folder import find_folder

__all__ = ["call", "call_help"]

Items = list[CompletionItem[str]]


class _Call(click.Command):
    """Its flags depend on the tool, so that `click` can parse none of them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            read_words(args)
        except BadUsage as error:
            raise click.UsageError(str(error), ctx) from None
        ctx.params["words"] = tuple(args)
        return []

    def invoke(self, ctx: click.Context) -> None:
        from footlight.cli.calling import run_call

        sys.exit(run_call(ctx.params["words"]))

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return ["TOOL", "[--PARAMETER VALUE]...", "[OPTIONS]"]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> Items:
        """The tools, then what the named one takes: its flags, and what a flag may be."""
        from footlight.cli.offered import offered

        typed = read_words(ctx.params["words"])
        try:
            tools = {tool["name"]: tool for tool in offered(find_folder(os.environ))}
        except (BadUsage, DaemonError):
            return []  # A call says it.
        if typed.tool is None and not incomplete.startswith("-"):
            return _items({name: str(tool.get("title") or "") for name, tool in tools.items()}, incomplete)
        properties = tools.get(typed.tool or "", {}).get("inputSchema", {}).get("properties", {})
        if not incomplete.startswith("-"):
            return _values(properties, typed.flags, incomplete)
        own = {option.name: option.help for option in OPTIONS}
        theirs = {f"--{name}": str(schema.get("description", "")) for name, schema in properties.items()}
        return _items(own | theirs, incomplete) or _items(_hyphened(theirs), incomplete)


def _values(properties: Mapping[str, Mapping[str, Any]], flags: list[Given], incomplete: str) -> Items:
    """Of the flag that stands before."""
    if not flags or flags[-1].value is not None:
        return []
    schema = properties.get(find_parameter(flags[-1].name, properties) or "", {})
    choices = schema.get("enum") or schema.get("items", {}).get("enum", [])
    return _items({str(choice): "" for choice in choices}, incomplete)


def _hyphened(flags: Mapping[str, str]) -> dict[str, str]:
    """--fullPage is --full-page too."""
    return {re.sub("([A-Z])", r"-\1", flag).lower(): told for flag, told in flags.items()}


def _items(texts: Mapping[str, str], incomplete: str) -> Items:
    return [
        CompletionItem(text, help=told or None) for text, told in texts.items() if text.startswith(incomplete)
    ]


def _option(name: str, value: str | None, told: str) -> click.Option:
    if value is None:
        return click.Option([name], is_flag=True, help=told)
    choices = value.split("|") if value.islower() else None
    return click.Option([name], type=click.Choice(choices) if choices else None, metavar=value, help=told)


call = _Call(
    "call",
    params=[_option(option.name, option.value, option.help) for option in OPTIONS],
    help="""Call one tool, and print its answer.

    Without --server the tool is one of the browser server in the background, which keeps its pages between
    calls and is started if none runs. The tool's parameters are flags: `footlight call navigate --url
    https://example.com`; `footlight call TOOL --help` lists them.

    Exits with 1 where the tool failed, 2 where the call cannot be meant, 3 where there is no server.
    """,
)


def call_help() -> str:
    """What `footlight call --help` prints."""
    return call.get_help(click.Context(call, info_name="footlight call")) + "\n"
