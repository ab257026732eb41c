"""The public names of the audit package."""

from __future__ import annotations

import subprocess
import sys

from footlight import audit as ux


def test_public_names_are_sorted_and_importable() -> None:
    assert ux.__all__ == sorted(ux.__all__, key=lambda name: (not name.isupper(), name))
    assert set(dir(ux)) == set(ux.__all__)
    assert all(getattr(ux, name) is not None for name in ux.__all__)


def test_measuring_imports_no_model_library() -> None:
    """An audit without a model works without the extra."""
    script = (
        "import sys; from footlight.audit import collect_evidence, page_of; import footlight.cli.audit.run; "
        "print(sorted(name for name in sys.modules if name.partition('.')[0] in "
        "('pydantic_ai', 'openai', 'anthropic', 'google', 'mcp', 'playwright')))"
    )

    process = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True
    )

    assert process.stdout == "[]\n"
