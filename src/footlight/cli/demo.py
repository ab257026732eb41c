"""`footlight demo`: drive a demonstration shop through the server."""

from pathlib import Path

import click

from footlight.cli.sections import SectionedCommand, browser_option

__all__ = ["demo"]


EXAMPLES = (
    "footlight demo",
    "footlight demo --headed --output shop",
)


@click.command(cls=SectionedCommand, examples=EXAMPLES)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("footlight-demo"),
    help="Folder for the screenshot, the data and the log of the server. Default: footlight-demo.",
)
@click.option("--headed", is_flag=True, help="Show the browser.")
@browser_option
@click.option("--executable-path", metavar="PATH", help="Use this browser executable.")
def demo(*, output: Path, headed: bool, browser: str | None, executable_path: str | None) -> None:
    """Drive a demonstration shop through the server and show each call.

    The demo signs in, searches, orders, uploads and downloads, and compares what the server returned with
    the contents of the shop. Exits with 1 if a step failed.
    """
    import sys

    from footlight.cli.interruption import run_until_signal
    from footlight.demo.run import run_demo
    from footlight.demo.transcript import open_screen

    arguments = ["--headed"] * headed
    arguments += ["--browser", browser] if browser else []
    arguments += ["--executable-path", executable_path] if executable_path else []

    sys.exit(run_until_signal(run_demo(output, console=open_screen(), server_arguments=arguments)))
