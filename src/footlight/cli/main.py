"""The entry point `footlight`. What a caller waits for every time does not wait for `click`."""

from __future__ import annotations

import gc
import os
import sys

__all__ = ["main"]

COMPLETION = "_FOOTLIGHT_COMPLETE"


def main() -> None:
    """Exits with the command's status."""
    _open_standard_streams()
    arguments = sys.argv[1:]
    if COMPLETION in os.environ:
        _run_command()
    elif arguments[:1] == ["call"]:
        _call(arguments[1:])
    elif arguments[:1] == ["serve"] and "--shared" in arguments and "--help" not in arguments:
        from footlight.daemon.pump import run_pump

        sys.exit(run_pump(arguments[1:]))
    else:
        _run_command()


def _open_standard_streams() -> None:
    """The number of one that was closed (`>&-`) would be that of the next socket."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _call(words: list[str]) -> None:
    # Collecting garbage, and the interpreter's own end, are a sixth of what a call costs.
    gc.disable()
    from footlight.cli.calling import run_call

    os._exit(run_call(words))


def _run_command() -> None:
    import click

    from footlight.cli.commands import cli
    from footlight.errors import FootlightError

    try:
        cli(prog_name="footlight")
    except FootlightError as error:
        click.echo(f"footlight: {error.message}\n{error.suggestion}", err=True)
        sys.exit(2)
