"""`footlight audit`: pages, looked at for their readers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

__all__ = ["audit"]

_file = click.Path(path_type=Path)
_count = click.IntRange(min=0)


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--urls", "lists", type=_file, multiple=True, help="A file with a URL a line. Repeatable.")
@click.option(
    "--out",
    "outs",
    type=_file,
    multiple=True,
    help="Write a report: .html, .md, .json or .sarif. It is there after the first page. Repeatable.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="Of what is printed."
)
@click.option("--quiet", is_flag=True, help="Do not tell what is being done.")
@click.option("--max-critical", type=_count, metavar="N", help="Fail with more critical findings than that.")
@click.option("--max-high", type=_count, metavar="N", help="The same for high ones.")
@click.option("--max-medium", type=_count, metavar="N", help="The same for medium ones.")
@click.option("--max-low", type=_count, metavar="N", help="The same for low ones.")
@click.option("--allow-partial", is_flag=True, help="Pass also where something could not be measured.")
@click.option("--allow-failed", is_flag=True, help="Pass also where a page could not be opened.")
@click.option(
    "--provider",
    type=click.Choice(["openai", "anthropic", "google"]),
    help="Let a model judge. The key is in the environment.",
)
@click.option("--model", metavar="NAME", help="Of the provider. Default: one of its middle ones.")
@click.option("--base-url", metavar="URL", help="Ask this server, which speaks as the provider does.")
@click.option("--personas", type=_file, help="Who the model is, from a YAML or JSON file. Default: three.")
@click.option(
    "--goal",
    "goals",
    metavar="TEXT",
    multiple=True,
    help="What a visitor wants, to be tried by the model. Repeatable.",
)
@click.option(
    "--focus", metavar="TEXT", multiple=True, help="What the model shall look at above all. Repeatable."
)
@click.option(
    "--max-requests", type=click.IntRange(min=5), metavar="N", help="To the model, for a page. Default: 40."
)
@click.option(
    "--max-tokens", type=click.IntRange(min=1), metavar="N", help="Of the model, for a page. Default: 300000."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="For a page. What was measured until then is kept. Default: 300, with a model 1200.",
)
@click.option("--browser", type=click.Choice(["chromium", "firefox", "webkit"]), help="Default: chromium.")
@click.option("--executable-path", type=_file, help="This browser and no other.")
@click.option("--headed", is_flag=True, help="Show the browser.")
@click.option("--state", metavar="NAME", help="Begin each visit with what save_state has saved: logged in.")
@click.option(
    "--secrets",
    type=_file,
    help="Let goals name the secrets in this file as secret:NAME, for the model to type.",
)
@click.option(
    "--page-header",
    "page_headers",
    metavar="NAME:VALUE",
    multiple=True,
    help="Send it with every request of a page, to whatever host. Repeatable.",
)
@click.option("--server", metavar="COMMAND|URL", help="See pages by this MCP server instead of our own.")
@click.option(
    "--header",
    "headers",
    metavar="NAME:VALUE",
    multiple=True,
    help="Send it to a server with a URL. Repeatable.",
)
@click.option("--log-file", type=_file, help="Log what goes wrong, and what the server says, to this file.")
def audit(urls: tuple[str, ...], **options: Any) -> None:
    """Say whether the readers of each page at URL can use it. `-` reads URLs from standard input.

    Code measures the page, at three widths. With --provider, a model then tries what readers come for, and
    judges what was measured. What is being done is told on standard error, the result on standard output.

    Exits with 1 where a threshold is exceeded, 2 where an option is wrong or there is no server, 3 where a
    page failed.
    """
    from footlight.cli.auditing import run_audit
    from footlight.cli.auditing_options import Wanted

    sys.exit(run_audit(Wanted(urls=urls, **options)))
