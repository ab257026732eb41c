"""The command group. The module of a command is imported when the command is used."""

from __future__ import annotations

import importlib
import sys
from typing import Any, NamedTuple

import click

from footlight import __version__
from footlight.cli.sections import EXIT_STATUSES, CommandGroup
from footlight.cli.usage import INTERRUPTED

__all__ = ["cli"]


class _Entry(NamedTuple):
    """A command. `module` is below `footlight.cli` and defines a `click` command with the entry's name."""

    module: str
    help: str


COMMANDS = {
    "serve": _Entry("serve", "Serve the browser tools over MCP."),
    "call": _Entry("call.command", "Call one tool and print its answer."),
    "tools": _Entry("client.tools", "List the tools, or the parameters of one tool."),
    "codegen": _Entry(
        "client.codegen", "Generate a Python module with a typed method for each tool of a server."
    ),
    "replay": _Entry("client.replay", "Repeat the calls of a call log and compare the results."),
    "export": _Entry("client.export", "Write a call log as a test."),
    "audit": _Entry("audit.command", "Audit the accessibility and usability of web pages."),
    "knowledge": _Entry("knowledge", "Read what sessions with an app under test have recorded."),
    "skill": _Entry("skill", "Teach a coding agent to use Footlight from its shell."),
    "watch": _Entry("watch", "Show a page on which a person can watch the sessions and take over."),
    "report": _Entry("watch", "Write what happened in a session as one HTML file."),
    "daemon": _Entry("daemon", "Start and stop the background server, or show its status."),
    "cluster": _Entry("cluster", "Show the workers of a Ray cluster, or drain a machine."),
    "doctor": _Entry("doctor", "Check that a browser can be started, and say how to fix it."),
    "demo": _Entry("demo", "Drive a demonstration shop through the server and show each call."),
}


EXAMPLES = (
    "footlight serve",
    "footlight call navigate --url https://example.com",
    "footlight audit https://example.com/ --out audit.html",
)


class _Commands(CommandGroup):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # click would exit with the status of a failure.
            sys.exit(INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        return getattr(importlib.import_module(f"footlight.cli.{COMMANDS[cmd_name].module}"), cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without importing their modules."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])
        with formatter.section("Exit status"):
            formatter.write_dl([(str(status), meaning) for status, meaning in EXIT_STATUSES])


@click.group(cls=_Commands, examples=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="footlight")
def cli() -> None:
    """A real browser for language models and test suites, over the Model Context Protocol."""
