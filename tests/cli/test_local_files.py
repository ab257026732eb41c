"""The files that `footlight audit` serves on loopback."""

from __future__ import annotations

import http.client
from pathlib import Path
from urllib.parse import urlsplit

from footlight.cli.audit.local_files import serve_local_pages


def test_only_visible_files_are_served_and_only_on_loopback(tmp_path: Path) -> None:
    """A page under audit, or another user of the machine, must not read `.ssh` of the folder."""
    for name in ("index.html", "style.css", ".draft.html", ".env", ".git/config", ".git/page.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)

    with serve_local_pages([str(tmp_path)]) as (urls, sources):
        [origin] = sources

        def get(path: str, host: str = "") -> int:
            connection = http.client.HTTPConnection(urlsplit(origin).netloc, timeout=10)
            connection.request("GET", path, headers={"Host": host} if host else {})
            return connection.getresponse().status

        visible = [get(path) for path in ("/", "/index.html?a=/.b", "/style.css", "/.draft.html")]
        hidden = [get(path) for path in ("/.env", "/%2eenv", "/.git/config", "/x/../.env", "/.git/page.html")]
        rebound = get("/index.html", host="attacker.example")

    assert urls == [f"{origin}.draft.html", f"{origin}index.html"]
    assert (visible, hidden, rebound) == ([200] * 4, [404] * 5, 404)
