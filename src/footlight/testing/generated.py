"""Load a module that `footlight codegen` wrote, and connect its handle."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from footlight.client.handles.adapters import Adapter
from footlight.client.handles.call_log import CallLog
from footlight.client.handles.handle import Handle
from footlight.client.server_address import ServerFromEnvironment
from footlight.protocol.errors import MCPError

__all__ = ["connect_generated", "get_module_server"]


async def connect_generated(
    module: str | Path,
    session: str,
    adapter: Callable[[Adapter], Adapter],
    *,
    server: object,
    log: CallLog,
) -> Handle:
    """Connect the handle of a generated module.

    `adapter` receives the adapter of the module and returns the one to use.

    Raises:
        pytest.UsageError: the module does not exist or was not generated.
    """
    connect = getattr(_import_module(module), "mcp_connect", None)
    if connect is None:
        raise pytest.UsageError(
            f"--mcp-module: {module} has no mcp_connect: it was not written by `footlight codegen`"
        )
    default = inspect.signature(connect).parameters["adapter"].default
    return await connect(session, adapter(default), server=server, log=log)


def get_module_server(module: str | Path) -> object:
    """Return the server from which the module was generated.

    Raises:
        pytest.UsageError: the module does not exist, or its server needs a variable that is not set.
    """
    server = getattr(_import_module(module), "SERVER", None)
    if not isinstance(server, ServerFromEnvironment):
        return server
    try:
        return server.expand()
    except MCPError as error:
        raise pytest.UsageError(f"--mcp-module: {error.message}") from None


def _import_module(module: str | Path) -> ModuleType:
    if isinstance(module, Path):
        return _load_file(module)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and not f"{module}.".startswith(f"{error.name}."):
            raise
        raise pytest.UsageError(f"--mcp-module: there is no module {module}; name its file instead") from None


def _load_file(file: Path) -> ModuleType:
    """Return the module of the file. Reuse a module that the tests have imported, so that types match."""
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
