"""The modules of the client, and which of them knows named sessions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import footlight
from footlight.client import handles
from footlight.client.handles import adapters

CLIENT = Path(footlight.__file__).parent / "client"
WORDS = re.compile(r"(?<!\w)session\.(open|close)|sessionName")
"""Not those of a variable's methods, as `self._session.close()` is."""


def sources(folder: Path) -> dict[str, str]:
    return {path.relative_to(CLIENT).as_posix(): path.read_text() for path in folder.rglob("*.py")}


def test_client_has_the_documented_modules() -> None:
    assert {"adapters.py", "call_log.py", "connect.py", "invoker.py"} <= {
        path.name for path in (CLIENT / "handles").iterdir()
    }


def test_only_adapters_module_knows_session_tool_names() -> None:
    knowing = {file for file, text in sources(CLIENT).items() if WORDS.search(text)}

    assert knowing == {"handles/adapters.py"}


def test_other_handle_modules_mention_no_session_tools() -> None:
    words = ("session.open", "session.close", "sessionName")

    assert [
        (file, word)
        for file, text in sources(CLIENT / "handles").items()
        for word in words
        if word in text and file != "handles/adapters.py"
    ] == []


def test_public_names_are_sorted_and_exist() -> None:
    for module in (handles, adapters):
        assert list(module.__all__) == sorted(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)


def test_import_needs_neither_sdk_nor_browser() -> None:
    """A generated module imports this each time a test starts."""
    script = """
import sys
import footlight.client.handles.adapters, footlight.client.handles
print(sorted({"mcp", "mcp_types", "pydantic", "playwright", "httpx2", "websockets"} & set(sys.modules)))
"""
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert process.stdout == "[]\n"
