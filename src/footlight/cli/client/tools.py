"""`footlight tools`: list the tools that can be called."""

from __future__ import annotations

import json
import os
import sys

import click

from footlight.cli.call.arguments import find_tool
from footlight.cli.output import escape_surrogates, print_tool, say, summarize_tool, warn
from footlight.cli.sections import SectionedCommand, format_option, header_option
from footlight.cli.usage import BAD_USAGE, FAILED, InvalidUsageError, RequestRefusedError
from footlight.daemon.errors import DaemonError
from footlight.daemon.folder import find_folder
from footlight.daemon.running import NO_SERVER
from footlight.daemon.state import Tools

__all__ = ["tools"]


def _complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from footlight.cli.call.known_tools import find_known_tools

    try:
        names = [tool["name"] for tool in find_known_tools(find_folder(os.environ))]
    except (InvalidUsageError, DaemonError):
        return []
    return [name for name in names if name.startswith(incomplete)]


EXAMPLES = (
    "footlight tools",
    "footlight tools navigate",
    'footlight tools --server "npx @playwright/mcp"',
)


@click.command(cls=SectionedCommand, examples=EXAMPLES)
@click.option(
    "--server", metavar="COMMAND|URL", help="List the tools of this server instead of the background server."
)
@header_option
@format_option
@click.argument("name", required=False, shell_complete=_complete)
def tools(*, server: str | None, headers: tuple[str, ...], form: str, name: str | None) -> None:
    """List the tools, or the parameters of the tool NAME.

    If no background server is running, the tools are those that it would offer. No server is started.
    """
    escape_surrogates()
    try:
        listed = _list(server, headers)
        if name is not None:
            listed = [find_tool(name, listed)]
    except InvalidUsageError as error:
        warn(str(error))
        sys.exit(BAD_USAGE)
    except RequestRefusedError as error:
        warn(str(error))
        sys.exit(FAILED)
    except DaemonError as error:
        warn(error.message)
        sys.exit(NO_SERVER)
    if form == "json":
        say(json.dumps(listed if name is None else listed[0], indent=2, ensure_ascii=False))
    elif name is not None:
        print_tool(listed[0])
    else:
        width = max((len(tool["name"]) for tool in listed), default=0)
        for tool in listed:
            say(f"{tool['name']:{width}}  {summarize_tool(tool)}")


def _list(server: str | None, headers: tuple[str, ...]) -> Tools:
    if server:
        from footlight.cli.call.server import list_server_tools

        return list_server_tools(server, headers=headers)
    from footlight.cli.call.known_tools import find_known_tools

    return find_known_tools(find_folder(os.environ))
