"""Write a report to a file in the format of the file's extension."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from footlight.atomic_files import real_path, write_atomically
from footlight.audit.report.html_report import render_html
from footlight.audit.report.json_report import render_json
from footlight.audit.report.junit_report import render_junit
from footlight.audit.report.markdown_report import render_markdown
from footlight.audit.report.sarif_report import render_sarif
from footlight.audit.results import Audit
from footlight.audit.thresholds import Verdict
from footlight.errors import ConfigurationError

__all__ = ["ReportFormat", "get_format", "write_report"]


class ReportFormat(Protocol):
    """Renders an audit as the text of a file."""

    def __call__(self, audit: Audit, *, verdict: Verdict | None = None) -> str: ...


_FORMATS: Mapping[str, ReportFormat] = {
    ".html": render_html,
    ".md": render_markdown,
    ".json": render_json,
    ".junit.xml": render_junit,
    ".xml": render_junit,
    ".sarif": render_sarif,
    ".sarif.json": render_sarif,
}


def get_format(path: Path) -> ReportFormat:
    """Return the format for the longest known extension of the file's name.

    Raises:
        ConfigurationError: the extension is unknown.
    """
    name = path.name.lower()
    known = [ending for ending in _FORMATS if name.endswith(ending)]
    if not known:
        *others, last = _FORMATS
        raise ConfigurationError(
            f"{path}: the name of a report must end in {', '.join(others)} or {last}",
            suggestion="Choose the format by the extension of the file.",
        )
    return _FORMATS[max(known, key=len)]


def write_report(audit: Audit, path: Path, *, verdict: Verdict | None = None) -> None:
    """Write the report atomically, replacing an existing file.

    Raises:
        ConfigurationError: the extension is unknown, or the file cannot be written.
    """
    content = get_format(path)(audit, verdict=verdict).encode()
    try:
        real_path(path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be written: {error.strerror or error}",
            suggestion="Name a file in a folder that can be written to.",
        ) from error
