"""`footlight export`: a call log as a test."""

from __future__ import annotations

import sys
from pathlib import Path

import click

__all__ = ["export"]


@click.command()
@click.argument("log", type=click.Path(path_type=Path))
@click.option(
    "--to", type=click.Choice(["pytest"]), required=True, expose_value=False, help="What is written."
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
@click.option("--force", is_flag=True, help="Overwrite the file if it is there and another.")
@click.option("--name", metavar="NAME", help="Of the test. Default: made of the log's name.")
@click.option("--server", metavar="COMMAND|URL", help="What the test is to be run with; the file tells it.")
@click.option(
    "--var",
    "variables",
    metavar="NAME=VALUE",
    multiple=True,
    help="Where the log has VALUE, the test reads NAME of the environment. Repeatable.",
)
def export(
    *,
    log: Path,
    out: Path | None,
    force: bool,
    name: str | None,
    server: str | None,
    variables: tuple[str, ...],
) -> None:
    """Write a test that makes the calls of LOG, and asserts what the log says came of them.

    Only what is the same each time is asserted. Elements that were named by refs are found by the locators
    that the server told; what was redacted is read from the environment. `-` is standard input.
    """
    from footlight.cli.exporting import run_export

    sys.exit(run_export(log, out=out, force=force, name=name, server=server, variables=variables))
