"""Run a command, and kill it with all that it started once whoever asked for it is gone.

    python keeper.py COMMAND [ARGUMENT ...]

It leads the group of the command, and its input is a pipe that only the one who asked holds open: whatever
way that process ends, the pipe ends with it. A script for `process`, which starts it without our packages.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import NoReturn

NOT_STARTED = 127


def main(command: list[str]) -> int:
    # Those are for the group: the command decides. Not ignored, which the command would inherit.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave_it)
    try:
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    except (OSError, ValueError) as error:
        print(f"{command[0]} cannot be started: {error}", file=sys.stderr)  # noqa: T201 - its only voice
        return NOT_STARTED
    threading.Thread(target=_end_with_input, daemon=True).start()
    code = program.wait()
    return code if code >= 0 else 128 - code  # As a shell says that it was a signal.


def _leave_it(number: int, frame: object) -> None:
    """To the command."""


def _end_with_input() -> NoReturn:
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)
    raise AssertionError("it outlived its group")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
