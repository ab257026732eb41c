"""A module that `footlight codegen` wrote, and its handle."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from footlight.client.adapters import Adapter
from footlight.client.runtime.handle import Handle
from footlight.client.runtime.logger import CallLog

__all__ = ["connect_generated", "made_from"]


async def connect_generated(
    module: str | Path,
    session: str,
    adapter: Callable[[Adapter], Adapter],
    *,
    server: object,
    log: CallLog,
) -> Handle:
    """`adapter` gets the module's own, and gives the one that is taken.

    Raises:
        pytest.UsageError: there is no such module, or it was not generated.
    """
    connect = getattr(_module(module), "mcp_connect", None)
    if connect is None:
        raise pytest.UsageError(f"--mcp-module: {module} has no mcp_connect; footlight codegen writes it")
    own = inspect.signature(connect).parameters["adapter"].default
    return await connect(session, adapter(own), server=server, log=log)


def made_from(module: str | Path) -> object:
    """The server that the module was made from. Raises pytest.UsageError where there is no such module."""
    return getattr(_module(module), "SERVER", None)


def _module(module: str | Path) -> ModuleType:
    if isinstance(module, Path):
        return _of_file(module)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and not f"{module}.".startswith(f"{error.name}."):
            raise
        raise pytest.UsageError(f"--mcp-module: there is no module {module}; give its file") from None


def _of_file(file: Path) -> ModuleType:
    """The one that tests have imported, where they have: its types are theirs."""
    for known in tuple(sys.modules.values()):
        if getattr(known, "__file__", None) == str(file):
            return known
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise pytest.UsageError(f"--mcp-module: there is no file {file}")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded
