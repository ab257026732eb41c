"""`footlight watch`: the page on which a person can watch the sessions of a server and take over."""

from __future__ import annotations

import webbrowser

import click

from footlight.cli.sections import SectionedCommand
from footlight.cli.watched_server import server_options, watched_server

__all__ = ["watch"]

EXAMPLES = ("footlight watch", "footlight watch --url http://localhost:8931 --token-file token.txt")


@click.command(cls=SectionedCommand, examples=EXAMPLES)
@server_options
@click.option("--open/--no-open", "opens", default=True, help="Open the page in a browser. Default: open.")
def watch(*, url: str | None, token_file: str | None, opens: bool) -> None:
    """Print the address of the page on which a person can watch a server, and open it.

    Without --url it is the page of the background server, which is started if it is not running. The printed
    address contains the token: whoever has it can use the browser.
    """
    server = watched_server(url, token_file, start=True)
    click.echo(server.page)
    if opens:
        webbrowser.open(server.page)
