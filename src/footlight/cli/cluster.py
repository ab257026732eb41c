"""`footlight cluster`: the workers of a server whose browsers run on a Ray cluster."""

from __future__ import annotations

import asyncio
import json
import sys

import click

from footlight.cli.sections import SectionedCommand

__all__ = ["cluster"]

NO_WORKER = "No worker is running."
NOT_ANSWERING = 3
COLUMNS = ("worker", "node", "pid", "sessions", "maxSessions", "build")

EXAMPLES = ("footlight cluster status", "footlight cluster status --address 10.0.0.5:6379 --format json")


@click.command(cls=SectionedCommand, examples=EXAMPLES)
@click.option("--address", default="auto", help="The Ray cluster: host:port, or auto. Default: auto.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Output format. Default: text.",
)
@click.argument("action", type=click.Choice(["status"]))
def cluster(*, address: str, form: str, action: str) -> None:
    """Show the workers of a cluster and their sessions.

    Exits with 3 if a worker does not answer.
    """
    del action
    from footlight.cluster.overview import ask_workers

    workers = asyncio.run(ask_workers(address))
    if form == "json":
        click.echo(json.dumps(workers))
    elif not workers:
        click.echo(NO_WORKER)
    else:
        rows = [COLUMNS, *([str(each.get(name, "-")) for name in COLUMNS] for each in workers)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
        for row in rows:
            click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    if any("node" not in each for each in workers):
        sys.exit(NOT_ANSWERING)
