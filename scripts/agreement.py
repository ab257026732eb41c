"""Compare the role and name of every element with a ref with those that Chrome computes, and print one table.

    agreement.py [--list] [--limit N] [GROUP ...]

Groups of pages: `cases`, the unusual pages of `tests/browser/pages`; `miniwob`, the pages of that package,
each with its task started; `docs`, pages of the Python documentation, from a Debian package; `shop`, the site
of the demo. `--list` prints every difference. Exits with 1 if fewer than 99 % of the elements agree in both.
Downloads are kept in `.agreement/`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from playwright.async_api import CDPSession, Page, async_playwright

from footlight.browser.page.capture import snapshot_engine
from footlight.demo.shop.site import serve_shop
from scripts.local_server import serve_folder

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".agreement"
GROUPS = ("cases", "miniwob", "docs", "shop")
CASES = ROOT / "tests/browser/pages"
GOAL = 0.99
PAGE_MS = 15_000

MINIWOB = "miniwob==1.1.0"
MINIWOB_PAGES = "miniwob/html/miniwob"
PYTHON_DOCS = ("python3.11-doc", "python3.13-doc", "python3.12-doc", "python3.14-doc")
DOCS_PAGES = (
    *("index", "glossary", "py-modindex", "genindex-B", "faq/general", "howto/logging", "library/index"),
    *("library/json", "library/pathlib", "library/argparse", "library/sqlite3", "library/functions"),
    *("reference/expressions", "tutorial/index", "tutorial/classes", "tutorial/datastructures"),
)
SHOP_PAGES = (
    "/",
    "/products",
    "/products/{sku}",
    "/login",
    "/order",
    "/offers",
    "/upload",
    "/uploads",
    "/none",
)

ROLES = {
    "image": "img",
    "Iframe": "iframe",
    "Canvas": "canvas",
    "Video": "video",
    "Audio": "audio",
    "Details": "group",
    "DisclosureTriangle": "button",
    "DisclosureTriangleGrouped": "button",
    "ColorWell": "textbox",
    "Date": "textbox",
    "DateTime": "textbox",
    "InputTime": "textbox",
    "LabelText": "generic",
    "LayoutTable": "generic",
    "LayoutTableRow": "generic",
    "LayoutTableCell": "generic",
    "SvgRoot": "generic",
    "Abbr": "generic",
    "Pre": "generic",
    "none": "generic",
    "ignored": "generic",
    "graphics-symbol": "generic",
    "DescriptionList": "generic",
    "Ruby": "generic",
    "Figcaption": "caption",
    "MathMLMath": "math",
}
"""Roles that only Chrome has, and the role in ARIA or, where ARIA has none, in a snapshot."""

MARKING = """(() => {
  const engine = %s;
  const mark = (root, refs) => {
    for (const ref of refs) engine.query(root, ref)?.setAttribute("data-agreement", ref);
    return root.documentElement;
  };
  const queryAll = (root, body) =>
    body.startsWith("mark=") ? [mark(root, body.slice(5).split(","))] : engine.queryAll(root, body);
  return { query: (root, body) => queryAll(root, body)[0], queryAll };
})()"""
"""Adds a query that marks elements to the engine. Only the engine, in its isolated world, knows the refs."""

INVISIBLE_CHARACTERS = re.compile("[\u00ad\u200b\u2060\ufeff\ue000-\uf8ff]")


@dataclass(frozen=True)
class Subject:
    """A page to compare."""

    group: str
    name: str
    url: str


@dataclass(frozen=True)
class Pair:
    """The role and name of an element in the snapshot and in Chrome."""

    page: str
    markup: str
    ours: tuple[str, str]
    chrome: tuple[str, str]

    @property
    def same_role(self) -> bool:
        return self.ours[0] == self.chrome[0]

    @property
    def same_name(self) -> bool:
        return self.ours[1] == self.chrome[1]

    @property
    def same(self) -> bool:
        return self.ours == self.chrome

    def __str__(self) -> str:
        ours, chrome = (f"{role} {name!r}" for role, name in (self.ours, self.chrome))
        return f"{self.page}: {ours}, in Chrome {chrome}: {self.markup}"


def main() -> None:
    options = _parse_arguments()
    pairs = asyncio.run(_compare(options.groups or GROUPS, options.limit))
    _print_table(pairs)
    _print_differences(pairs, whole=options.list)
    every = [pair for found in pairs.values() for pair in found]
    sys.exit(0 if every and agreement_of(every) >= GOAL else 1)


def agreement_of(pairs: Sequence[Pair]) -> float:
    """Return the share of elements with the same role and the same name, from 0 to 1."""
    return sum(pair.same for pair in pairs) / len(pairs) if pairs else 1.0


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--list", action="store_true", help="print every difference")
    parser.add_argument("--limit", type=int, default=None, help="maximum number of pages of each group")
    options = parser.parse_args()
    if unknown := set(options.groups) - set(GROUPS):
        parser.error(f"unknown group: {', '.join(unknown)}")
    return options


# ---- Pages ----


@asynccontextmanager
async def _subjects(groups: Iterable[str], limit: int | None) -> AsyncGenerator[Sequence[Subject]]:
    openers = {"cases": _case_pages, "miniwob": miniwob_pages, "docs": _docs_pages, "shop": _shop_pages}
    async with AsyncExitStack() as stack:
        subjects: list[Subject] = []
        for group in groups:
            subjects += (await stack.enter_async_context(openers[group]()))[:limit]
        yield subjects


@asynccontextmanager
async def _case_pages() -> AsyncGenerator[Sequence[Subject]]:
    with serve_folder(CASES) as url:
        yield [Subject("cases", page.stem, f"{url}/{page.name}") for page in sorted(CASES.glob("*.html"))]


@asynccontextmanager
async def miniwob_pages() -> AsyncGenerator[Sequence[Subject]]:
    """Serve the pages of the package. It is not installed, because it depends on a browser driver."""
    folder = CACHE / "miniwob"
    if not folder.is_dir():
        _unpack_wheel(MINIWOB, folder)
    with serve_folder(folder / "miniwob/html") as url:
        names = sorted(page.stem for page in (folder / MINIWOB_PAGES).glob("*.html"))
        yield [Subject("miniwob", name, f"{url}/miniwob/{name}.html") for name in names]


def _unpack_wheel(requirement: str, folder: Path) -> None:
    downloads = CACHE / "downloads"
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*pip, "--dest", str(downloads), requirement], check=True, timeout=120)
    (wheel,) = downloads.glob(f"{requirement.replace('==', '-')}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)


@asynccontextmanager
async def _docs_pages() -> AsyncGenerator[Sequence[Subject]]:
    html = _python_docs()
    if html is None:
        print("docs: skipped, because apt is not available to download them", file=sys.stderr)
        yield []
        return
    with serve_folder(html) as url:
        pages = [name for name in DOCS_PAGES if (html / f"{name}.html").is_file()]
        yield [Subject("docs", name, f"{url}/{name}.html") for name in pages]


def _python_docs() -> Path | None:
    folder = CACHE / "docs"
    if not folder.is_dir():
        if not shutil.which("apt-get"):
            return None
        _unpack_debian(PYTHON_DOCS, folder)
    return next(folder.glob("usr/share/doc/python3*/html"))


def _unpack_debian(names: Iterable[str], folder: Path) -> None:
    downloads = CACHE / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    for name in names:
        with suppress(subprocess.CalledProcessError):
            subprocess.run(["apt-get", "download", "-qq", name], cwd=downloads, check=True, timeout=120)
            (package,) = downloads.glob(f"{name}_*.deb")
            subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True, timeout=120)
            return
    raise SystemExit(f"none of these packages can be downloaded: {', '.join(names)}")


@asynccontextmanager
async def _shop_pages() -> AsyncGenerator[Sequence[Subject]]:
    async with serve_shop() as site:
        sku = site.shop.products[0].sku
        yield [Subject("shop", path, site.url + path.format(sku=sku)) for path in SHOP_PAGES]


# ---- Snapshot and Chrome ----


async def _compare(groups: Iterable[str], limit: int | None) -> Mapping[str, list[Pair]]:
    pairs: dict[str, list[Pair]] = {}
    async with _subjects(groups, limit) as subjects, _browser_page() as page:
        for subject in subjects:
            pairs.setdefault(subject.group, []).extend(await compare_page(page, subject))
    return pairs


@asynccontextmanager
async def _browser_page() -> AsyncGenerator[Page]:
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    async with async_playwright() as playwright:
        await playwright.selectors.register("footlight", marking_engine(), content_script=True)
        browser = await playwright.chromium.launch(executable_path=path, chromium_sandbox=os.geteuid() != 0)
        yield await browser.new_page()
        await browser.close()


def marking_engine() -> str:
    """Return the snapshot engine with a query that marks elements."""
    return MARKING % snapshot_engine()


async def compare_page(page: Page, subject: Subject) -> list[Pair]:
    """Open the page, start its task if it has one, and compare its elements."""
    await page.goto(subject.url, wait_until="load", timeout=PAGE_MS)
    if subject.group == "miniwob":
        await page.evaluate("core.startEpisodeReal()")
    return await compare_open_page(page, f"{subject.group}/{subject.name}")


async def compare_open_page(page: Page, name: str) -> list[Pair]:
    """Compare the elements of a page that is open."""
    session = await page.context.new_cdp_session(page)
    ours = await _snapshot_nodes(page)
    chrome = await _chrome_nodes(session)
    marked = await _mark(page, session, list(ours))
    await session.detach()
    return [
        Pair(name, markup, ours[ref], chrome.get(node, ("missing", "")))
        for ref, (node, markup) in marked.items()
    ]


async def _snapshot_nodes(page: Page) -> dict[str, tuple[str, str]]:
    body = quote(json.dumps({"what": "look", "next": 1}))
    reply = json.loads(await page.get_attribute(f"footlight={body}", "v", timeout=PAGE_MS) or "")
    return {ref: (role, _normalize_name(name)) for _, role, name, ref, *_ in reply["nodes"] if ref}


async def _chrome_nodes(session: CDPSession) -> dict[int, tuple[str, str]]:
    tree = cast("Any", await session.send("Accessibility.getFullAXTree"))
    return {
        node["backendDOMNodeId"]: (_role(node), _normalize_name(node.get("name", {}).get("value", "")))
        for node in tree["nodes"]
        if "backendDOMNodeId" in node
    }


def _role(node: Mapping[str, Any]) -> str:
    role = "ignored" if node.get("ignored") else node["role"]["value"]
    return ROLES.get(role, role)


def _normalize_name(name: str) -> str:
    """Return the name as in a snapshot: no icon glyphs or repeated spaces, and the same maximum length."""
    folded = " ".join(INVISIBLE_CHARACTERS.sub("", name).split())
    return folded if len(folded) <= 400 else folded[:399] + "…"


async def _mark(page: Page, session: CDPSession, refs: Sequence[str]) -> dict[str, tuple[int, str]]:
    """Return Chrome's node id and the opening tag of each element, by ref, found by a temporary mark."""
    await page.get_attribute(f"footlight=mark={','.join(refs)}", "lang", timeout=PAGE_MS)
    document = cast("Any", await session.send("DOM.getDocument", {"depth": -1, "pierce": True}))
    return dict(_find_marked(document["root"]))


def _find_marked(node: Mapping[str, Any]) -> Iterator[tuple[str, tuple[int, str]]]:
    pending = [node]
    while pending:
        at = pending.pop()
        flat = at.get("attributes", [])
        attributes = dict(zip(flat[::2], flat[1::2], strict=True))
        if ref := attributes.pop("data-agreement", None):
            words = "".join(f' {name}="{value}"' for name, value in attributes.items())
            yield ref, (at["backendNodeId"], f"<{at['localName']}{words}>"[:120])
        pending += [*at.get("children", []), *at.get("shadowRoots", [])]


# ---- Output ----


def _print_table(pairs: Mapping[str, Sequence[Pair]]) -> None:
    print("| pages | | elements | same role | same name | both |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    every = [pair for found in pairs.values() for pair in found]
    for group, found in [*pairs.items(), ("all", every)]:
        count = max(len(found), 1)
        pages = len({pair.page for pair in found})
        role = sum(pair.same_role for pair in found) / count
        name = sum(pair.same_name for pair in found) / count
        print(f"| {group} | {pages} | {len(found)} | {role:.2%} | {name:.2%} | {agreement_of(found):.2%} |")


def _print_differences(pairs: Mapping[str, Sequence[Pair]], *, whole: bool) -> None:
    different = [pair for found in pairs.values() for pair in found if not pair.same]
    print(f"\n{len(different)} differences")
    if whole:
        for pair in different:
            print(f"- {pair}")
        return
    kinds = Counter((pair.ours[0], pair.chrome[0]) for pair in different)
    for (ours, chrome), count in kinds.most_common():
        example = next(pair for pair in different if (pair.ours[0], pair.chrome[0]) == (ours, chrome))
        print(f"- {count} × {ours} / {chrome}, as in {example}")


if __name__ == "__main__":
    main()
