"""`make docs` builds a complete site, which is read in a real browser."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Generator
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

import pytest

from footlight.app_errors import APP_CODES
from footlight.errors import CODES, DOCUMENTATION_URL, ConfigurationError
from scripts.screenshots.viewer import Browser, find_ref, open_browser
from scripts.site.pages import UnknownTargetError, copy_pages
from tests.docs.markdown import PAGES, ROOT

LIMIT_SECONDS = 600
REPOSITORY = "https://code.example/footlight"
DESKTOP = (1280, 900)
PHONE = (390, 844)

slow = pytest.mark.slow
long = pytest.mark.timeout(LIMIT_SECONDS)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("docs") / "site"
    command = (sys.executable, "-m", "scripts.site", "--out", str(out))
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def url(built: Path) -> Generator[str]:
    handler = functools.partial(QuietHandler, directory=str(built))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


def pages_of(built: Path) -> list[str]:
    pages = sorted(file.relative_to(built).as_posix() for file in built.rglob("*.html"))
    return [page for page in pages if page != "404.html"]


TABS = 8
"""Number of pages that load side by side: a network is idle half a second after its last request."""


@dataclass(frozen=True)
class Visits:
    """The console messages, requests and links of all pages, which were opened in tabs of one browser.

    `widths` has the width of each page's content on a phone.
    """

    messages: list[dict[str, Any]]
    requests: list[dict[str, Any]]
    links: set[str]
    widths: dict[str, int]


@pytest.fixture(scope="module")
def visits(built: Path, url: str) -> Visits:
    messages: list[dict[str, Any]] = []
    links: set[str] = set()
    widths: dict[str, int] = {}
    pages = pages_of(built)
    with open_browser("--enable-script-evaluation", size=DESKTOP) as browser:
        for first in range(0, len(pages), TABS):
            tabs = {
                page: browser.call("tabs", action="new", url=f"{url}/{page}")["data"]["active"]
                for page in pages[first : first + TABS]
            }
            for tab in tabs.values():
                browser.call("wait_for_load", state="networkidle", pageId=tab)
                messages += browser.call("console_messages", pageId=tab)["data"]["messages"]
                links |= {each["href"] for each in browser.call("extract_links", pageId=tab)["data"]["links"]}
            resize(browser, PHONE)
            for page, tab in tabs.items():
                widths[page] = content_width(browser, tab)
                browser.call("tabs", action="close", pageId=tab)
            resize(browser, DESKTOP)
        requests = browser.call("get_request_log", limit=1_000)["data"]["entries"]
    return Visits(messages, requests, links, widths)


def resize(browser: Browser, size: tuple[int, int]) -> None:
    browser.call("emulate", viewport={"width": size[0], "height": size[1]})


def content_width(browser: Browser, tab: str) -> int:
    script = "document.documentElement.scrollWidth"
    return browser.call("evaluate", script=script, pageId=tab, observe="none")["data"]["result"]


@slow
@long
def test_every_page_loads_without_errors_or_other_hosts(built: Path, url: str, visits: Visits) -> None:
    loaded = {each["url"] for each in visits.requests}

    assert len(pages_of(built)) == len(PAGES)
    assert [page for page in pages_of(built) if f"{url}/{page}" not in loaded] == []
    assert visits.messages == []
    assert [each for each in loaded if not each.startswith(url)] == []
    assert [each["url"] for each in visits.requests if each.get("status") not in (200, 304)] == []


@slow
@long
def test_every_internal_link_targets_an_existing_page_and_anchor(
    built: Path, url: str, visits: Visits
) -> None:
    internal = {link.removeprefix(f"{url}/") for link in visits.links if link.startswith(url)}

    assert len(internal) > 500
    assert [link for link in sorted(internal) if not leads_somewhere(built, link)] == []


def leads_somewhere(built: Path, link: str) -> bool:
    page, anchor = urldefrag(link)
    file = built / (page or "index.html")
    return file.is_file() and (not anchor or f'id="{anchor}"' in file.read_text("utf-8"))


@slow
@long
def test_every_page_is_readable_on_a_phone(built: Path, visits: Visits) -> None:
    assert [*visits.widths] == pages_of(built)
    assert {page: width for page, width in visits.widths.items() if width > PHONE[0]} == {}


def test_documentation_url_matches_package_and_site_configuration() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    site = tomllib.loads((ROOT / "scripts/site/zensical.toml").read_text("utf-8"))["project"]

    assert (project["urls"]["Documentation"], site["site_url"]) == (DOCUMENTATION_URL, DOCUMENTATION_URL)


@slow
@long
def test_every_error_code_has_an_anchor_found_by_search(built: Path, url: str) -> None:
    html = (built / "reference/errors.html").read_text("utf-8")
    anchors = re.findall(r'<h3 id="(\w+)"', html)

    with open_browser(size=DESKTOP) as browser:
        browser.call("navigate", url=f"{url}/index.html", observe="none")
        dialog = browser.observe("press", key="k", modifiers=["Control"])
        browser.call("type", selector=find_ref(dialog, 'combobox "Search"'), text="STALE_REF")
        browser.call("wait_for_selector", selector="[role=option][aria-selected=true]")
        browser.call("press", key="Enter")
        browser.call("wait_for", url="**/reference/errors.html*#stale_ref")

    assert anchors == [error.code.lower() for error in (*CODES, *APP_CODES)]
    linked = [error.documentation_page() for error in (*CODES, *APP_CODES, ConfigurationError)]
    assert [page for page in linked if not leads_somewhere(built, page)] == []


def test_links_are_rewritten_for_moved_pages(tmp_path: Path) -> None:
    root, site = tmp_path / "root", tmp_path / "site"
    write(
        root,
        {
            "README.md": '<img src="docs/pictures/a.png" alt="A"> [guide](docs/guide.md#start) [a](src/a.py)',
            "CONTRIBUTING.md": "[home](README.md)",
            "CHANGELOG.md": "[other](https://example.com) [here](#changed)",
            "docs/guide.md": "[how](../CONTRIBUTING.md), [code](../src)\n\n```text\n[not](a/link)\n```\n",
            "docs/reference/tools.md": "[guide](../guide.md)",
            "docs/pictures/a.png": "",
            "src/a.py": "",
        },
    )

    pages = copy_pages(root, site, repository=REPOSITORY)

    assert pages == {"index.md", "contributing.md", "changelog.md", "guide.md", "reference/tools.md"}
    assert {page: (site / page).read_text() for page in sorted(pages)} == {
        "changelog.md": "[other](https://example.com) [here](#changed)",
        "contributing.md": "[home](index.md)",
        "guide.md": f"[how](contributing.md), [code]({REPOSITORY}/tree/main/src)\n\n"
        "```text\n[not](a/link)\n```\n",
        "index.md": '<img src="pictures/a.png" alt="A"> [guide](guide.md#start) '
        f"[a]({REPOSITORY}/blob/main/src/a.py)",
        "reference/tools.md": "[guide](../guide.md)",
    }
    assert (site / "pictures/a.png").is_file()


def test_link_to_a_missing_file_is_named(tmp_path: Path) -> None:
    texts = {"README.md": "", "CONTRIBUTING.md": "", "CHANGELOG.md": "", "docs/guide.md": "[gone](gone.md)"}
    write(tmp_path, texts)

    with pytest.raises(UnknownTargetError, match=r"docs/guide\.md: gone\.md leads to no file"):
        copy_pages(tmp_path, tmp_path / "site", repository=REPOSITORY)


def write(root: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
