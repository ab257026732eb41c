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


def test_the_client_has_the_documents_areas() -> None:
    assert {"adapters.py", "call_log.py", "connect.py", "invoker.py"} <= {
        path.name for path in (CLIENT / "handles").iterdir()
    }


def test_one_file_of_the_client_knows_the_words_of_named_sessions() -> None:
    knowing = {file for file, text in sources(CLIENT).items() if WORDS.search(text)}

    assert knowing == {"handles/adapters.py"}


def test_the_other_handles_have_no_such_word_not_even_for_something_else() -> None:
    words = ("session.open", "session.close", "sessionName")

    assert [
        (file, word)
        for file, text in sources(CLIENT / "handles").items()
        for word in words
        if word in text and file != "handles/adapters.py"
    ] == []


def test_the_public_list_is_sorted_and_there() -> None:
    for module in (handles, adapters):
        assert list(module.__all__) == sorted(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)


def test_a_module_can_be_imported_without_the_sdk_and_a_browser() -> None:
    """A generated module imports this each time a test starts."""
    script = """
import sys
import footlight.client.handles.adapters, footlight.client.handles
print(sorted({"mcp", "mcp_types", "pydantic", "playwright", "httpx2", "websockets"} & set(sys.modules)))
"""
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert process.stdout == "[]\n"
