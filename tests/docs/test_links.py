"""The links between the documents have targets."""

import re
from pathlib import Path

import pytest

from tests.docs.markdown import PAGES, ROOT, remove_blocks

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_targets_an_existing_file_and_heading(page: Path) -> None:
    targets = [target for target in LINK.findall(remove_blocks(page)) if "://" not in target]

    assert [target for target in targets if not leads_somewhere(page, target)] == []


def test_every_page_is_reachable_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            found = LINK.findall(remove_blocks(page))
            waiting += [
                (page.parent / target.partition("#")[0]).resolve() for target in found if "://" not in target
            ]

    assert set(PAGES) - reached == set()


def leads_somewhere(page: Path, target: str) -> bool:
    name, _, anchor = target.partition("#")
    file = (page.parent / name).resolve() if name else page
    return file.exists() and (not anchor or anchor in anchors(file))


def anchors(page: Path) -> set[str]:
    """Return the anchors that renderers derive from the headings."""
    headings = re.findall(r"^#+ (.+)$", remove_blocks(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
