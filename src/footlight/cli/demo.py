"""`footlight demo`: the main job, on a small shop of its own."""

from pathlib import Path

import click

__all__ = ["demo"]


@click.command()
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("footlight-demo"),
    show_default="./footlight-demo",
    help="Where the screenshot, the data and the server's log are left.",
)
@click.option("--headed", is_flag=True, help="Show the browser.")
@click.option("--browser", type=click.Choice(["chromium", "firefox", "webkit"]), help="The browser to use.")
@click.option("--executable-path", help="The browser's program, where it should not be looked for.")
def demo(*, output: Path, headed: bool, browser: str | None, executable_path: str | None) -> None:
    """Serve a small shop, and log in, order, upload, read and download there through a browser server."""
    import signal
    import sys

    import anyio

    from footlight.demo.run import run_demo
    from footlight.demo.screen import open_screen

    arguments = ["--headed"] * headed
    arguments += ["--browser", browser] if browser else []
    arguments += ["--executable-path", executable_path] if executable_path else []

    def end(_signal: int, _frame: object) -> None:
        # Asked to end, the demo ends as by Ctrl-C, and takes the server with it.
        signal.raise_signal(signal.SIGINT)

    async def run() -> int:
        return await run_demo(output, console=open_screen(), server_arguments=arguments)

    signal.signal(signal.SIGTERM, end)
    sys.exit(anyio.run(run))
