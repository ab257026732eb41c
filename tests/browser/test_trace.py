"""Secrets that must not appear in a trace."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from footlight.browser.recording.trace import copy_masked
from footlight.server.answers.masking import Masker
from footlight.server.answers.secrets import Secrets

MASK = Masker(Secrets({"WORD": "hunter2", "PIN": "48213"}))


def mask_files(folder: Path, **files: bytes) -> dict[str, bytes]:
    """Return the files of a trace after their copy."""
    with zipfile.ZipFile(folder / "raw.zip", "w") as raw:
        for name, data in files.items():
            raw.writestr(name, data)
    out = io.BytesIO()
    copy_masked(folder / "raw.zip", out, MASK)
    with zipfile.ZipFile(out) as copied:
        return {name: copied.read(name) for name in copied.namelist()}


def test_lines_may_contain_line_separators_of_unicode(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = [{"text": "a\u2028b\u0085c\u2029hunter2"}, {"text": "x"}]
    data = "".join(f"{json.dumps(event, ensure_ascii=False)}\n" for event in events).encode()

    copied = mask_files(tmp_path, **{"0-trace.trace": data})

    assert [json.loads(line) for line in copied["0-trace.trace"].decode().split("\n") if line] == [
        {"text": "a\u2028b\u0085c\u2029[secret WORD]"},
        {"text": "x"},
    ]


def test_resources_in_any_encoding_are_masked(tmp_path: Path) -> None:
    picture = bytes(range(256)) * 20

    copied = mask_files(tmp_path, **{"a.html": b"Gr\xfc\xdfe: hunter2", "b.jpeg": picture})

    assert copied == {"a.html": b"Gr\xfc\xdfe: [secret WORD]", "b.jpeg": picture}


def test_numbers_that_equal_a_secret_are_masked(tmp_path: Path) -> None:
    data = json.dumps({"args": [{"preview": "48213", "value": 48213}], "time": 1482130.5, "isError": True})

    copied = mask_files(tmp_path, **{"0-trace.trace": data.encode()})

    assert json.loads(copied["0-trace.trace"]) == {
        "args": [{"preview": "[secret PIN]", "value": "[secret PIN]"}],
        "time": 1482130.5,
        "isError": True,
    }
