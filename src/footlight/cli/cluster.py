"""`footlight cluster`: the workers of a server whose browsers run on a Ray cluster."""

from __future__ import annotations

import asyncio
import json
import sys

import click

from footlight.cli.sections import SectionedCommand

__all__ = ["cluster"]

NO_WORKER = "No worker is running."
UNFINISHED = 3
COLUMNS = ("worker", "node", "nodeId", "pid", "sessions", "maxSessions", "draining", "build")

EXAMPLES = (
    "footlight cluster status",
    "footlight cluster drain browsers-7",
    "footlight cluster status --address 10.0.0.5:6379 --format json",
)


@click.command(cls=SectionedCommand, examples=EXAMPLES)
@click.option("--address", default="auto", help="The Ray cluster: host:port, or auto. Default: auto.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Output format. Default: text.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=600.0,
    metavar="SECONDS",
    help="With drain: how long to wait for the sessions to end. Default: 600.",
)
@click.argument("action", type=click.Choice(["status", "drain"]))
@click.argument("node", required=False)
def cluster(*, address: str, form: str, timeout: float, action: str, node: str | None) -> None:
    """Show the workers of a cluster and their sessions, or drain a machine before it is removed.

    `drain NODE` gives the workers of a machine no more sessions, and ends each after its last one. NODE is
    the name of the machine or the id of the Ray node, as `status` shows them.

    Exits with 3 if a worker does not answer, or still has sessions at the end of the time.
    """
    if (action == "drain") != (node is not None):
        raise click.UsageError("`cluster drain` needs the name of a machine, and `cluster status` takes none")
    from footlight.cluster.overview import ask_workers, drain_node

    if node is not None:
        if not asyncio.run(drain_node(address, node, seconds=timeout, say=click.echo)):
            sys.exit(UNFINISHED)
        return
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
        sys.exit(UNFINISHED)
