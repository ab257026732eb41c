"""`footlight codegen`: generate a Python module from the tools of a server."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from footlight.cli.interruption import run_until_signal
from footlight.cli.output import say, warn
from footlight.cli.sections import SectionedCommand
from footlight.cli.usage import BAD_USAGE, InvalidUsageError, read_headers
from footlight.daemon.running import NO_SERVER

__all__ = ["codegen"]

WOULD_CHANGE = 1


EXAMPLES = (
    'footlight codegen --server "footlight serve" --out mcp_tools.py',
    'footlight codegen --server https://mcp.example.com/mcp --header "X-Team: web" --out mcp_tools.py',
    'footlight codegen --server "footlight serve" --out mcp_tools.py --check',
)


@click.command(cls=SectionedCommand, examples=EXAMPLES)
@click.option(
    "--server", metavar="COMMAND|URL", required=True, help="Server with the tools. The module connects to it."
)
@click.option(
    "--header",
    "headers",
    metavar="NAME:VALUE",
    multiple=True,
    help="Send this header to a server with a URL. It is not written into the module. Repeatable.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="File of the module, such as mcp_tools.py."
)
@click.option(
    "--adapter",
    type=click.Choice(["szkrabok", "browser", "none"]),
    help="How the server names its sessions. Default: detected from its tools.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if the module would change.")
@click.option("--force", is_flag=True, help="Overwrite a file that was not generated.")
def codegen(
    *, server: str, headers: tuple[str, ...], out: Path, adapter: str | None, check: bool, force: bool
) -> None:
    """Generate a Python module with a typed method for each tool of an MCP server.

    Run it again when the tools of the server have changed, and commit the module. Exits with 2 if the module
    cannot be written, and 3 if there is no server.

    A secret in --server, such as a token in a URL, is not written into the module, which reads it from an
    environment variable instead. Codegen reads it too if --server has ${NAME} in place of the secret.
    """
    from footlight.client.codegen.generate import generate
    from footlight.protocol.errors import MCPError

    try:
        done = run_until_signal(
            generate(server, out, headers=read_headers(headers), adapter=adapter, check=check, force=force)
        )
    except InvalidUsageError as error:
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
        if done.variables:
            names = ", ".join(done.variables)
            warn(
                f"{out} does not contain the secrets of --server; it reads them from the environment: {names}"
            )
