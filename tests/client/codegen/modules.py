"""Generate modules for tests, and import them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from footlight.client.codegen import Source, render_tools
from footlight.protocol.tools import Tool

RUFF = Path(sys.executable).with_name("ruff")


def tool(name: str, properties: Mapping[str, Any] | None = None, *required: str, **other: Any) -> Tool:
    """Return a tool with these parameters."""
    schema = {"type": "object", "properties": dict(properties or {}), "required": list(required)}
    return Tool(name=name, input_schema=other.pop("input_schema", schema), **other)


def render(*tools: Tool, adapter: str = "none", **source: Any) -> str:
    return render_tools(tools, Source(adapter=adapter, **source))


def execute(text: str) -> dict[str, Any]:
    """Return the names of a module after it was executed."""
    names: dict[str, Any] = {"__name__": "generated"}
    module = ModuleType("generated")
    module.__dict__.update(names)
    sys.modules["generated"] = module  # A TypedDict asks its module for what it refers to.
    # This file's own `from __future__` is not the module's.
    exec(compile(text, "generated.py", "exec", dont_inherit=True), module.__dict__)
    return module.__dict__


def import_module(path: Path) -> Any:
    """Import the module in this file under a unique name, and return it."""
    spec = importlib.util.spec_from_file_location(f"{path.stem}_{abs(hash(path))}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def reformat(texts: Sequence[str], folder: Path) -> Sequence[str]:
    """Return each text as `ruff format` writes it."""
    for number, text in enumerate(texts):
        (folder / f"{number}.py").write_text(text, "utf-8", newline="\n")
    subprocess.run(
        [RUFF, "format", "--isolated", "--no-cache", "--quiet", "--line-length", "110", str(folder)],
        check=True,
        timeout=120,
    )
    return [(folder / f"{number}.py").read_text("utf-8") for number in range(len(texts))]
