"""Writing reports to files."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from footlight.audit.report.html_report import render_html
from footlight.audit.report.json_report import render_json
from footlight.audit.report.markdown_report import render_markdown
from footlight.audit.report.report_file import ReportFormat, get_format, write_report
from footlight.audit.report.sarif_report import render_sarif
from footlight.errors import ConfigurationError
from tests.audit.report.audits import shop
from tests.audit.report.verdicts import FAILED


@pytest.mark.parametrize(
    ("name", "made_by"),
    [
        ("audit.json", render_json),
        ("AUDIT.MD", render_markdown),
        ("audit.html", render_html),
        ("audit.sarif", render_sarif),
        ("audit.sarif.json", render_sarif),
    ],
)
def test_file_extension_selects_the_format(tmp_path: Path, name: str, made_by: ReportFormat) -> None:
    write_report(shop(), tmp_path / name, verdict=FAILED)

    assert (tmp_path / name).read_text("utf-8") == made_by(shop(), verdict=FAILED)


@pytest.mark.parametrize("name", ["audit.pdf", "audit", "json", ".", ""])
def test_unknown_extension_error_lists_known_extensions(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        ConfigurationError, match=r"must end in \.html, \.md, \.json, \.junit\.xml, \.xml, \.sarif or "
    ):
        get_format(tmp_path / name)


def test_report_is_rewritten_without_leftover_files(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folders" / "audit.md"
    began = replace(shop(), pages=shop().pages[:1], finished_ms=None)

    write_report(began, path)
    first = path.read_text("utf-8")
    write_report(shop(), path)

    assert (first, path.read_text("utf-8")) == (render_markdown(began), render_markdown(shop()))
    assert os.listdir(path.parent) == ["audit.md"]  # noqa: PTH208 - hidden files too


@pytest.mark.skipif(sys.platform == "win32", reason="Windows makes links for few users only")
def test_report_is_written_through_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "latest.json").symlink_to(tmp_path / "audit-7.json")

    write_report(shop(), tmp_path / "latest.json")

    assert (tmp_path / "latest.json").is_symlink()
    assert (tmp_path / "audit-7.json").read_text("utf-8") == render_json(shop())


def test_unwritable_path_is_reported_and_existing_files_are_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "audit.json").mkdir()

    for path in (tmp_path / "file" / "audit.json", tmp_path / "audit.json"):
        with pytest.raises(ConfigurationError, match=r"audit\.json cannot be written: "):
            write_report(shop(), path)

    assert sorted(os.listdir(tmp_path)) == ["audit.json", "file"]  # noqa: PTH208
    assert (tmp_path / "file").read_text() == "mine"
