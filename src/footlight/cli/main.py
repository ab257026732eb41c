"""The entry point `footlight`. Frequent commands skip `click`, which takes long to import."""

from __future__ import annotations

import gc
import os
import sys

__all__ = ["main"]

COMPLETION = "_FOOTLIGHT_COMPLETE"


def main() -> None:
    """Run the command and exit with its status."""
    _open_standard_streams()
    arguments = sys.argv[1:]
    if COMPLETION in os.environ:
        _run_click()
    elif arguments[:1] == ["call"]:
        _call(arguments[1:])
    elif arguments[:1] == ["serve"] and "--shared" in arguments and "--help" not in arguments:
        from footlight.daemon.pump import run_pump

        sys.exit(run_pump(arguments[1:]))
    else:
        _run_click()


def _open_standard_streams() -> None:
    """Open closed standard streams (`>&-`): otherwise the next socket would get their file descriptor."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _call(words: list[str]) -> None:
    # Garbage collection and the shutdown of the interpreter take a sixth of the time of a call.
    gc.disable()
    from footlight.cli.call.arguments import asks_for_command_help
    from footlight.cli.call.run import run_call

    if asks_for_command_help(words):
        _run_click()
    os._exit(run_call(words))


def _run_click() -> None:
    import click

    from footlight.cli.commands import cli
    from footlight.errors import FootlightError

    try:
        cli(prog_name="footlight")
    except FootlightError as error:
        from footlight.config import find_documentation

        link = error.documentation_link(find_documentation(os.environ))
        click.echo(f"footlight: {error.message}\n{error.suggestion}\nMore: {link}", err=True)
        sys.exit(2)
