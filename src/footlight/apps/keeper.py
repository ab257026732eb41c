"""Run a command, and kill it and its children when the requesting process ends.

    python keeper.py COMMAND [ARGUMENT ...]

The keeper leads the process group of the command. Only the requesting process has the other end of its
standard input open, so the input ends with that process. `process` starts this script without access to
installed packages.
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
    # The command handles these signals itself. It would inherit SIG_IGN, but not a handler.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave_it)
    try:
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    except (OSError, ValueError) as error:
        print(f"{command[0]} cannot be started: {error}", file=sys.stderr)  # noqa: T201 - it has no log
        return NOT_STARTED
    threading.Thread(target=_end_with_input, daemon=True).start()
    code = program.wait()
    return code if code >= 0 else 128 - code  # The exit code that shells use for a signal.


def _leave_it(number: int, frame: object) -> None:
    """Do nothing, because the signal is meant for the command."""


def _end_with_input() -> NoReturn:
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)
    raise AssertionError("the keeper is still running after its group was killed")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
