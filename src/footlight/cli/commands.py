"""The command group. A command's module is imported when the command is named."""

from __future__ import annotations

import importlib

import click

from footlight import __version__

__all__ = ["cli"]

COMMANDS = {
    "serve": "Serve the browser tools over MCP.",
    "call": "Call one tool, and print its answer.",
    "tools": "List the tools, or say what one of them takes.",
    "codegen": "Write a Python module with a typed method for each tool of a server.",
    "replay": "Make the calls of a log again, and compare what comes of them.",
    "export": "Write a call log as a test.",
    "audit": "Say whether a page's readers can use it.",
    "knowledge": "Read what sessions with an app under test have left.",
    "daemon": "Start and stop the server in the background.",
    "doctor": "Say what is here, what is missing, and how to mend it.",
    "demo": "Run the main job once, on a shop of our own, and show it.",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        return getattr(importlib.import_module(f"footlight.cli.{cmd_name}"), cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Without importing each command for its help."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="footlight")
def cli() -> None:
    """A real browser for language models and test suites, over the Model Context Protocol."""
