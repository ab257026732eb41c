"""`footlight tools`: what can be called."""

from __future__ import annotations

import json
import os
import sys

import click

from footlight.cli.arguments import BadUsage, find_tool
from footlight.cli.calling import BAD_USAGE, ServerError
from footlight.cli.printing import TOOL_FAILED, describe, print_tool, warn
from footlight.daemon.errors import DaemonError
from footlight.daemon.folder import find_folder
from footlight.daemon.running import NO_SERVER
from footlight.daemon.state import Tools

__all__ = ["tools"]


def _complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from footlight.cli.offered import offered

    try:
        names = [tool["name"] for tool in offered(find_folder(os.environ))]
    except (BadUsage, DaemonError):
        return []
    return [name for name in names if name.startswith(incomplete)]


@click.command()
@click.option("--server", metavar="COMMAND|URL", help="Of this server, instead of the one in the background.")
@click.option("--header", metavar="NAME:VALUE", multiple=True, help="Send it to a URL. Repeatable.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Default: text.")
@click.argument("name", required=False, shell_complete=_complete)
def tools(*, server: str | None, header: tuple[str, ...], form: str, name: str | None) -> None:
    """List the tools, or say what one of them takes.

    Where no server runs in the background they are those that one would have; none is started.
    """
    try:
        listed = _listed(server, header)
        if name is not None:
            listed = [find_tool(name, listed)]
    except BadUsage as error:
        warn(str(error))
        sys.exit(BAD_USAGE)
    except ServerError as error:
        warn(str(error))
        sys.exit(TOOL_FAILED)
    except DaemonError as error:
        warn(error.message)
        sys.exit(NO_SERVER)
    if form == "json":
        click.echo(json.dumps(listed if name is None else listed[0], indent=2, ensure_ascii=False))
    elif name is not None:
        print_tool(listed[0])
    else:
        width = max((len(tool["name"]) for tool in listed), default=0)
        for tool in listed:
            click.echo(f"{tool['name']:{width}}  {describe(tool)}")


def _listed(server: str | None, headers: tuple[str, ...]) -> Tools:
    if server:
        from footlight.cli.calling_server import list_server_tools

        return list_server_tools(server, headers=headers)
    from footlight.cli.offered import offered

    return offered(find_folder(os.environ))
