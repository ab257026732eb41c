"""The entry point `footlight`. `call` and `serve --shared` do not import `click`, because that takes long."""

from __future__ import annotations

import errno
import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footlight.browser.driver.early_driver import EarlyDriver

__all__ = ["main"]

COMPLETION = "_FOOTLIGHT_COMPLETE"
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of a disk on which the output cannot be written. An error about a named file is another one."""


def main() -> None:
    """Run the command, and exit with its status."""
    _open_standard_streams()
    arguments = sys.argv[1:]
    if COMPLETION in os.environ:
        _run_click()
    elif arguments[:1] == ["call"]:
        _call(arguments[1:])
    elif arguments[:1] == ["serve"] and "--help" not in arguments:
        _serve(arguments[1:])
    else:
        _run_click()


def _open_standard_streams() -> None:
    """Open standard streams that are closed (`>&-`).

    Otherwise, the next socket would get their descriptor.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _call(words: list[str]) -> None:
    # Garbage collection and the shutdown of the interpreter would take a sixth of the time of a call.
    gc.disable()
    from footlight.cli.call.arguments import asks_for_command_help
    from footlight.cli.call.run import run_call

    if asks_for_command_help(words):
        _run_click()
    os._exit(run_call(words))


def _serve(words: list[str]) -> None:
    if "--shared" in words:
        from footlight.daemon.pump import run_pump

        sys.exit(run_pump(words))
    # The start consists mostly of imports, and garbage collection would take a sixth of their time.
    gc.disable()
    if any(word.startswith("--cluster") for word in words):  # The browsers run on other machines.
        _run_click()
        return
    from footlight.browser.driver.early_driver import start_early_driver

    with start_early_driver() as driver:
        _run_click(driver)


def _run_click(early_driver: EarlyDriver | None = None) -> None:
    import click

    from footlight.cli.commands import cli
    from footlight.errors import FootlightError

    try:
        cli(prog_name="footlight", obj=early_driver)
    except OSError as error:
        if error.errno not in _UNWRITABLE or error.filename is not None:
            raise
        # Writing the buffered output on exit would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        click.echo(f"footlight: the output could not be written: {error.strerror}", err=True)
        sys.exit(1)
    except FootlightError as error:
        from footlight.config.loading import find_documentation

        link = error.documentation_link(find_documentation(os.environ))
        click.echo(f"footlight: {error.message}\n{error.suggestion}\nMore: {link}", err=True)
        sys.exit(2)
