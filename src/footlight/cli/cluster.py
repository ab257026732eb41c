"""`footlight cluster`: the workers of a server whose browsers run on a Ray cluster."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from footlight.cli.sections import SectionedCommand, format_option
from footlight.config.loading import load_settings

__all__ = ["cluster"]

NO_WORKER = "No worker is running."
UNFINISHED = 3
COLUMNS = ("worker", "node", "nodeId", "pid", "sessions", "maxSessions", "draining", "build")

EXAMPLES = (
    "footlight cluster status",
    "footlight cluster up --config footlight.toml",
    "footlight cluster drain browsers-7",
    "footlight cluster status --address 10.0.0.5:6379 --format json",
)


@click.command(cls=SectionedCommand, examples=EXAMPLES)
@click.option(
    "--address", default="auto", metavar="ADDRESS", help="The Ray cluster: host:port, or auto. Default: auto."
)
@format_option
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=600.0,
    metavar="SECONDS",
    help="With drain: how long to wait for the sessions to end. Default: 600.",
)
@click.option(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With up: settings from a JSON or TOML file, as for footlight serve.",
)
@click.argument("action", type=click.Choice(["status", "up", "drain", "down"]))
@click.argument("node", required=False)
def cluster(
    *, address: str, form: str, timeout: float, config: Path | None, action: str, node: str | None
) -> None:
    """Show the workers of a cluster, start or end them, or drain a machine before it is removed.

    `up` starts workers until there are `cluster.minWorkers`, and `down` closes all sessions and ends all
    workers. Ray itself is started and stopped with `ray start` and `ray stop`.

    `drain NODE` gives the workers of a machine no more sessions, and ends each after its last one. NODE is
    the name of the machine or the id of the Ray node, as `status` shows them. With
    `session.persistentSessions`, idle sessions move to other machines.

    Exits with 3 if a worker does not answer or cannot start, or still has sessions at the end of the time.
    """
    if (action == "drain") != (node is not None):
        raise click.UsageError(f"`cluster {action}` {'needs' if action == 'drain' else 'takes no'} NODE")
    from footlight.cluster import commands

    if action == "up":
        flags = {"cluster.address": address, "transport": "http"}
        settings = load_settings(file=config, environment=os.environ, flags=flags)
        sys.exit(0 if asyncio.run(commands.start_workers(settings, say=click.echo)) else UNFINISHED)
    elif node is not None:
        finished = asyncio.run(commands.drain_node(address, node, seconds=timeout, say=click.echo))
        sys.exit(0 if finished else UNFINISHED)
    elif action == "down":
        sys.exit(0 if asyncio.run(commands.end_workers(address, say=click.echo)) else UNFINISHED)
    else:
        _show_status(asyncio.run(commands.ask_workers(address)), form)


def _show_status(workers: list[dict[str, Any]], form: str) -> None:
    if form == "json":
        click.echo(json.dumps(workers))
    elif not workers:
        click.echo(NO_WORKER)
    else:
        rows = [COLUMNS, *([str(each.get(name, "-")) for name in COLUMNS] for each in workers)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
        for row in rows:
            click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        for each in workers:
            if "failure" in each:
                click.echo(f"{each['worker']} cannot start: {each['failure']}")
    if any("node" not in each or "failure" in each for each in workers):
        sys.exit(UNFINISHED)
