"""The `click` command of `footlight audit`. `run` does the work."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from footlight.cli.sections import SectionedCommand, browser_option, format_option, header_option

__all__ = ["audit"]

_file = click.Path(path_type=Path)
_count = click.IntRange(min=0)


SECTIONS = {
    "Pages": ("lists", "sitemaps", "state", "page_headers", "secrets", "timeout", "jobs"),
    "Reports": ("outs", "sources", "form", "quiet"),
    "Thresholds": (
        "baseline",
        "max_critical",
        "max_high",
        "max_medium",
        "max_low",
        "level",
        "allow_partial",
        "allow_failed",
    ),
    "Model": (
        *("provider", "model", "base_url", "personas", "goals", "focus"),
        *("max_requests", "max_tokens"),
    ),
    "Browser and server": ("browser", "executable_path", "headed", "server", "headers", "log_file"),
}

EXAMPLES = (
    "footlight audit https://example.com/",
    "footlight audit --urls pages.txt --max-critical 0 --max-high 0 --out audit.html --out audit.sarif",
    'footlight audit https://example.com/ --provider anthropic --goal "Order two tickets"',
)


@click.command(cls=SectionedCommand, sections=SECTIONS, examples=EXAMPLES)
@click.argument("urls", nargs=-1, metavar="[URL|FILE|FOLDER]...")
@click.option(
    "--urls", "lists", type=_file, multiple=True, help="Read URLs from a file, one per line. Repeatable."
)
@click.option(
    "--sitemap",
    "sitemaps",
    metavar="URL",
    multiple=True,
    help="Audit the pages of this sitemap. Repeatable.",
)
@click.option(
    "--source",
    "sources",
    metavar="URL=FOLDER",
    multiple=True,
    help="Name the files of this folder in SARIF, for URLs that begin like this. Repeatable.",
)
@click.option(
    "--baseline",
    type=_file,
    help="Ignore the findings of this JSON report of an earlier audit in thresholds.",
)
@click.option(
    "--out",
    "outs",
    type=_file,
    multiple=True,
    help="Write a report: .html, .md, .json, .sarif, .junit.xml. It is updated after each page. Repeatable.",
)
@format_option
@click.option("--quiet", is_flag=True, help="Do not show progress.")
@click.option("--max-critical", type=_count, metavar="N", help="Fail with more than N critical findings.")
@click.option("--max-high", type=_count, metavar="N", help="Fail with more than N high findings.")
@click.option("--max-medium", type=_count, metavar="N", help="Fail with more than N medium findings.")
@click.option("--max-low", type=_count, metavar="N", help="Fail with more than N low findings.")
@click.option(
    "--level",
    type=click.Choice(["AA", "AAA"]),
    default="AA",
    help="Level of WCAG up to which findings count in thresholds. Default: AA.",
)
@click.option("--allow-partial", is_flag=True, help="Pass even if something could not be measured.")
@click.option("--allow-failed", is_flag=True, help="Pass even if a page could not be opened.")
@click.option(
    "--provider",
    type=click.Choice(["openai", "anthropic", "google"]),
    help="Let a model of this provider judge the pages. Its key is read from the environment.",
)
@click.option("--model", metavar="NAME", help="Name of the model. Default: a mid-priced one of the provider.")
@click.option(
    "--base-url", metavar="URL", help="Use this server, which is compatible with the provider's API."
)
@click.option(
    "--personas", type=_file, help="Read the personas from a YAML or JSON file. Default: three built-in ones."
)
@click.option(
    "--goal",
    "goals",
    metavar="TEXT",
    multiple=True,
    help="A goal of a visitor that the model tries to reach. Repeatable.",
)
@click.option(
    "--focus", metavar="TEXT", multiple=True, help="What the model should pay most attention to. Repeatable."
)
@click.option(
    "--max-requests",
    type=click.IntRange(min=5),
    metavar="N",
    help="Limit of requests to the model for each page. Default: 40.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    metavar="N",
    help="Limit of the model's tokens for each page. Default: 300000.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="Time limit of each page; what was measured until then is kept. Default: 300, or 1200 with a model.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Pages to audit at the same time. Default: the number of processors, at most 4; 1 with a model.",
)
@browser_option
@click.option("--executable-path", type=_file, help="Use this browser executable.")
@click.option("--headed", is_flag=True, help="Show the browser.")
@click.option(
    "--state", metavar="NAME", help="Begin each visit with a state that save_state saved, such as a login."
)
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
    help="Send this header with every request of a page, to any host. Repeatable.",
)
@click.option("--server", metavar="COMMAND|URL", help="Use this MCP server instead of Footlight's own.")
@header_option
@click.option("--log-file", type=_file, help="Log errors and the server's messages to this file.")
def audit(urls: tuple[str, ...], **options: Any) -> None:
    """Audit the accessibility and usability of web pages. `-` reads URLs from standard input.

    A FILE is an HTML file, and a FOLDER stands for all HTML files in it. They are served on loopback.

    Footlight measures each page at three widths. With --provider, a model then tries to reach the goals of
    visitors and judges what was measured. Progress goes to standard error, the result to standard output.

    Exits with 1 if a threshold is exceeded, 2 if an option is wrong or there is no server, and 3 if a page
    failed.
    """
    from footlight.cli.audit.options import AuditArguments
    from footlight.cli.audit.run import run_audit

    sys.exit(run_audit(AuditArguments(urls=urls, **options)))
