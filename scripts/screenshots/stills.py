"""Take still pictures: the page on which a person watches, and the reports of a session and of an audit."""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

from scripts.screenshots.shop_tour import serve_demo_shop, shop_secrets, use_shop
from scripts.screenshots.viewer import Browser, open_browser, serve_pages

__all__ = ["picture_audit", "picture_report", "picture_watch_page"]

ROOT = Path(__file__).parents[2]
AGENT_SIZE = (900, 760)
WATCH_SIZE = (1400, 720)
REPORT_SIZE = (1100, 820)
AUDITED_PAGE = ROOT / "docs/examples/audit/signup.html"
FINDING = "#page-1-F2"
AUDIT_LIMIT_S = 300
COLOURS = 256


def picture_watch_page(file: Path) -> None:
    """Show what a person sees of an agent that uses the demo shop."""
    with _agent_in_shop(size=AGENT_SIZE) as (agent, shop), open_browser(size=WATCH_SIZE) as person:
        agent.call("navigate", url=shop)
        _watch(person, agent)
        use_shop(agent.observe, shop)
        person.call("wait_for_selector", selector="#calls > li:nth-child(7)")
        person.call("click", selector="#calls > li:first-child summary")
        person.call("wait_for_selector", selector="#picture")
        _save(person.screenshot(), file)


def picture_report(file: Path) -> None:
    """Show the beginning of the report of such a session."""
    with tempfile.TemporaryDirectory() as downloads, _agent_in_shop("--keyframes") as (agent, shop):
        use_shop(agent.observe, shop)
        with open_browser("--download-path", downloads) as person:
            _watch(person, agent)
            saved = person.call("click", selector="#report")["data"]["downloads"][0]["path"]
        with _show(Path(saved)) as browser:
            _save(browser.screenshot(), file)


def picture_audit(file: Path) -> None:
    """Show the beginning of the report of an audit, and a finding in a second picture."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.html")
        with serve_pages({"/signup.html": AUDITED_PAGE.read_text("utf-8")}, "localhost") as url:
            command = ("-m", "footlight", "audit", f"{url}/signup.html", "--quiet", "--out", str(report))
            subprocess.run(
                (sys.executable, *command), stdout=subprocess.DEVNULL, timeout=AUDIT_LIMIT_S, check=True
            )
        with _show(report) as browser:
            _save(browser.screenshot(), file)
            _save(browser.screenshot(FINDING), file.with_stem(f"{file.stem}-finding"))


@contextmanager
def _agent_in_shop(*flags: str, size: tuple[int, int] | None = None) -> Generator[tuple[Browser, str]]:
    """Start a server that people can watch and the demo shop, and yield both."""
    with (
        serve_demo_shop() as shop,
        shop_secrets() as secrets,
        open_browser("--watch", "--secrets", secrets, *flags, size=size) as agent,
    ):
        yield agent, shop


def _watch(person: Browser, agent: Browser) -> None:
    """Open the page of the agent's server."""
    address = agent.find_output(r"Watch the sessions at (\S+)")[1]
    person.call("navigate", url=address)
    person.call("click", selector="#sessions button")


@contextmanager
def _show(html: Path) -> Generator[Browser]:
    with serve_pages({"/": html.read_text("utf-8")}) as url, open_browser(size=REPORT_SIZE) as browser:
        browser.call("navigate", url=f"{url}/")
        yield browser


def _save(picture: bytes, file: Path) -> None:
    """Save a picture with a palette, which halves its size."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
