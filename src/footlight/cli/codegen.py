"""`footlight codegen`: a server's tools as a Python module."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from footlight.cli.printing import say, warn

__all__ = ["codegen"]

WOULD_CHANGE = 1
BAD_USAGE = 2
NO_SERVER = 3


@click.command()
@click.option(
    "--server", metavar="COMMAND|URL", required=True, help="Whose tools. The module connects to it."
)
@click.option(
    "--header",
    "headers",
    metavar="NAME:VALUE",
    multiple=True,
    help="Send it to a URL; the module does not have it. Repeatable.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="The module, such as mcp_tools.py."
)
@click.option(
    "--adapter",
    type=click.Choice(["szkrabok", "browser", "none"]),
    help="How the server names its sessions. Default: what its tools show.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 where the module would be another.")
@click.option("--force", is_flag=True, help="Overwrite a file that was not generated.")
def codegen(
    *, server: str, headers: tuple[str, ...], out: Path, adapter: str | None, check: bool, force: bool
) -> None:
    """Write a Python module with a typed method for each tool of an MCP server.

    Run it again when the server's tools have changed, and commit the module. Exits with 2 where the module
    has no place, and 3 where there is no server.
    """
    from footlight.cli.arguments import BadUsage
    from footlight.cli.headers import read_headers
    from footlight.client.codegen.generate import generate
    from footlight.client.errors import MCPError

    try:
        sent = read_headers(headers)
        done = asyncio.run(generate(server, out, headers=sent, adapter=adapter, check=check, force=force))
    except BadUsage as error:
        warn(str(error))
        sys.exit(BAD_USAGE)
    except MCPError as error:
        warn(error.message)
        sys.exit(BAD_USAGE if error.reason == "invalid" else NO_SERVER)
    if not done.differences:
        say("No changes.")
    elif check:
        say(f"{out} is not up to date:")
        for line in done.differences:
            say(f"  {line}")
        say(f"Run {done.command}")
        sys.exit(WOULD_CHANGE)
    else:
        say(f"Generated {done.tools} tools.")
