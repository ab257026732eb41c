"""Write docs/reference/, the JSON Schema of the settings file and the list of the tools from the code.

With `--check` nothing is written; pages that are out of date are named, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.reference import (
    audit,
    browser_tools,
    client,
    commands,
    configuration,
    errors,
    metamask_tools,
    prompts,
    resources,
    settings_schema,
    szkrabok_tools,
)

ROOT = Path(__file__).parents[2]
FOLDER = Path("docs/reference")
SCHEMA = Path("src/footlight/settings.schema.json")
LISTED_TOOLS = Path("src/footlight/toolsets/browser/tools.json")
NOTICE = "<!-- Generated from the code by `make gen`. Do not edit. -->"


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(prog="gen", description="Write docs/reference/ from the code.")
    parser.add_argument("--check", action="store_true", help="only report pages that are out of date")
    check: bool = parser.parse_args(arguments).check
    stale = {path: text for path, text in render_pages().items() if _read(root / path) != text}
    if check and stale:
        print(f"Out of date: {', '.join(map(str, stale))}. Run `make gen` to update.", file=sys.stderr)
        return 1
    for path, text in stale.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
        print(f"wrote {path}")
    return 0


def render_pages() -> dict[Path, str]:
    """Return the text of every generated file, by its path in the project."""
    texts = {
        "tools.md": browser_tools.render(),
        "tools-szkrabok.md": szkrabok_tools.render(),
        "tools-metamask.md": metamask_tools.render(),
        "resources.md": resources.render(),
        "prompts.md": prompts.render(),
        "configuration.md": configuration.render(),
        "errors.md": errors.render(),
        "cli.md": commands.render(),
        "client.md": client.render(),
        "audit.md": audit.render(),
    }
    pages = {FOLDER / name: f"{NOTICE}\n\n{text.strip()}\n" for name, text in texts.items()}
    return {
        **pages,
        SCHEMA: f"{settings_schema.render()}\n",
        LISTED_TOOLS: f"{browser_tools.render_listed_tools()}\n",
    }


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
