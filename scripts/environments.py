"""Make virtual environments, for the tools of a release and the generator of the site."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

__all__ = ["make_environment", "pip_command"]

LIMIT_SECONDS = 600


def make_environment(folder: Path, *requirements: str) -> Path:
    """Install the requirements into a new virtual environment in `folder`, and return its interpreter.

    Raises:
        SystemExit: they could not be installed.
    """
    venv.create(folder, clear=True)
    install = (*pip_command(folder), "install", "--quiet", "--no-compile", *requirements)
    done = subprocess.run(install, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return folder / "bin/python"


def pip_command(folder: Path) -> tuple[str, ...]:
    """Return the command with which this interpreter's pip changes the environment in `folder`.

    A pip of its own would take longer to install than most of what it installs.
    """
    return sys.executable, "-m", "pip", "--python", str(folder / "bin/python")
