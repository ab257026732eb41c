"""Start Playwright's driver while the server is still importing its modules.

The driver is a process of Node.js that needs about a quarter of a second of processor time before it
responds. A server starts it first, and meanwhile imports the modules that communicate with it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import cast

from footlight.browser.driver.run_folder import create_run_folder
from footlight.private_files import ensure_private_folder, remove_folder

__all__ = ["EarlyDriver", "driver_environment", "start_early_driver"]

COMPILE_CACHE = "FOOTLIGHT_DRIVER_CACHE"
"""The variable for `driver_scripts.js`. `event_limits.js` removes it from the environment of the browsers."""
YOUNG_GENERATION = 1
"""The size in MiB of each half of the space for new objects. With Node's 16, the driver needs 17 MiB more and
is not faster.
"""
HELPER_THREADS = 1
"""The number of threads of V8 beside the main one. With Node's 4, the driver needs 4 MiB more and is not
faster on two cores.
"""
MAPPED_BYTES = 1_048_576
"""Larger buffers of the driver are mapped, and thus returned to the system. By default glibc maps fewer with
time, which takes 5 MiB more.
"""
_NODE_OPTIONS = (
    f"--max-semi-space-size={YOUNG_GENERATION}",
    f"--v8-pool-size={HELPER_THREADS}",
    "--no-concurrent-recompilation",
)
"""V8 optimizes functions in the main thread. With a thread for that, the driver needs 5 to 7 MiB more after
most starts, and neither the first page nor the actions of eight sessions are faster on two cores.
"""


class EarlyDriver:
    """A driver process that is not used yet, and the temporary folder that it was started with.

    `take` hands both over. `close` ends the process and removes the folder, unless they were taken.
    """

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self._process = process
        self._folder = folder
        self._taken = False

    def take(self) -> tuple[subprocess.Popen[bytes], Path] | None:
        """Hand over the process and its folder. Return None if they were already taken."""
        if self._taken:
            return None
        self._taken = True
        return self._process, self._folder

    def close(self) -> None:
        if self._taken:
            return
        self._taken = True
        with self._process as process:
            process.kill()
        remove_folder(self._folder)


@contextlib.contextmanager
def start_early_driver() -> Generator[EarlyDriver | None]:
    """Start the driver and yield it, or None if only Playwright itself can start it."""
    driver = _start()
    try:
        yield driver
    finally:
        if driver is not None:
            driver.close()


def _start() -> EarlyDriver | None:
    if sys.platform == "win32":  # asyncio cannot use pipes that it has not created.
        return None
    # These two modules do not import other parts of Playwright.
    from playwright._impl import _driver as installed
    from playwright._impl._errors import Error

    try:
        node, script = installed.compute_driver_executable()
        folder = create_run_folder()
    except (Error, OSError):
        return None
    variables = cast("dict[str, str]", installed.get_driver_env())
    environment = {**variables, **driver_environment(folder)}
    environment.pop("FOOTLIGHT_TOKEN", None)  # Child processes do not need it.
    try:
        process = subprocess.Popen(
            [node, *_NODE_OPTIONS, script, "run-driver"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env=environment,
        )
    except OSError:
        remove_folder(folder)
        return None
    return EarlyDriver(process, folder)


def driver_environment(temporary: Path) -> dict[str, str]:
    """Return the driver's environment variables. Its browser profiles are created below `temporary`."""
    node_options = os.environ.get("NODE_OPTIONS", "")
    limits = Path(__file__).with_name("event_limits.js").as_posix().replace('"', r"\"")
    return {
        "TMPDIR": str(temporary),
        "MALLOC_ARENA_MAX": "1",  # With one for each thread, the driver takes 2 MiB more.
        "MALLOC_MMAP_THRESHOLD_": str(MAPPED_BYTES),
        "NODE_OPTIONS": f'{node_options} --require "{limits}"'.strip(),
        "NODE_OPTIONS_OF_USER": node_options,
        **_find_compile_cache(os.environ),
    }


def _find_compile_cache(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variable with the folder in which the driver caches its compiled scripts.

    The folder must belong to the user, because its files are executed.
    """
    if os.name != "posix" or "HOME" not in environment:
        return {}
    root = environment.get("XDG_CACHE_HOME") or f"{environment['HOME']}/.cache"
    folder = Path(root) / "footlight" / "driver"
    try:
        ensure_private_folder(folder)
        status = folder.stat()
    except OSError:
        return {}
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        return {}
    return {COMPILE_CACHE: str(folder)}
