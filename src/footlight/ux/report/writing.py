"""A report in a file, in the format that the file's ending names."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from footlight.errors import ConfigurationError
from footlight.ux.audited import Audit
from footlight.ux.report.as_html import as_html
from footlight.ux.report.as_json import as_json
from footlight.ux.report.as_markdown import as_markdown
from footlight.ux.report.as_sarif import as_sarif
from footlight.ux.report.verdict import Verdict

__all__ = ["Format", "get_format", "write_report"]


class Format(Protocol):
    """Makes the whole of a file's text."""

    def __call__(self, audit: Audit, *, verdict: Verdict | None = None) -> str: ...


_FORMATS: Mapping[str, Format] = {
    ".html": as_html,
    ".md": as_markdown,
    ".json": as_json,
    ".sarif": as_sarif,
    ".sarif.json": as_sarif,
}


def get_format(path: Path) -> Format:
    """By the longest ending that is known.

    Raises:
        ConfigurationError: none is.
    """
    name = path.name.lower()
    known = [ending for ending in _FORMATS if name.endswith(ending)]
    if not known:
        *others, last = _FORMATS
        raise ConfigurationError(
            f"{path}: a report's name ends in {', '.join(others)} or {last}",
            suggestion="Choose the format by the ending of the file's name.",
        )
    return _FORMATS[max(known, key=len)]


def write_report(audit: Audit, path: Path, *, verdict: Verdict | None = None) -> None:
    """In place of what is there, whole or not at all: also while the audit goes on, again and again.

    Raises:
        ConfigurationError: the ending is not known, or the file cannot be written.
    """
    told = get_format(path)(audit, verdict=verdict).encode()
    target = path.resolve()  # What a link leads to is written, and stays what the link leads to.
    unfinished = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(told)
        unfinished.replace(target)
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be written: {error.strerror or error}",
            suggestion="Name a file in a folder that can be written to.",
        ) from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
