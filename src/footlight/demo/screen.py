"""Standard output as the demo writes on it."""

import io
import sys
from contextlib import suppress

from rich.console import Console


class Screen(Console):
    """Standard output; when nobody reads it any more, the work goes on in silence."""

    def on_broken_pipe(self) -> None:
        """Be quiet from now on, as by default, but do not leave."""
        with suppress(SystemExit):
            super().on_broken_pipe()


def open_screen() -> Screen:
    """Standard output, with a `?` for what its encoding does not have."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Screen()
