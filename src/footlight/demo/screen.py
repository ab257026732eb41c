"""Standard output as the demo writes on it."""

import sys
from contextlib import suppress

from rich.console import Console

__all__ = ["open_screen"]


class _Screen(Console):
    """Standard output; when nobody reads it any more, the work goes on in silence."""

    def on_broken_pipe(self) -> None:
        """Be quiet from now on, as by default, but do not leave."""
        with suppress(SystemExit):
            super().on_broken_pipe()


def open_screen() -> _Screen:
    """Standard output, with a `?` for what its encoding does not have."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    return _Screen()
