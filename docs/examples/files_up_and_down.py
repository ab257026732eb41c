"""Upload a file to a page, and fetch what the page offers for download.

Run it: `python docs/examples/files_up_and_down.py`.

The page sorts the lines of a text file. The server may upload from one folder, and keeps downloads in
another.
"""

import asyncio
import sys
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

PAGE = b"""<!doctype html><title>Sort lines</title>
<input type="file" id="file">
<a id="result" download="sorted.txt" hidden>Sorted lines</a>
<script>
file.onchange = async () => {
  const lines = (await file.files[0].text()).trim().split('\\n').sort();
  result.href = URL.createObjectURL(new Blob([lines.join('\\n') + '\\n']));
  result.hidden = false;
};
</script>"""


def main() -> None:
    with serve_page() as url, tempfile.TemporaryDirectory() as folder:
        uploads, downloads = Path(folder, "uploads"), Path(folder, "downloads")
        uploads.mkdir()
        (uploads / "cues.txt").write_text("LX 12\nSound 3\nFly 7\n")
        download = asyncio.run(sort_lines(url, "cues.txt", uploads=uploads, downloads=downloads))
        print(download["suggestedFilename"])
        print(Path(download["path"]).read_text(), end="")


async def sort_lines(url: str, file: str, *, uploads: Path, downloads: Path) -> dict[str, Any]:
    """What the server says of the download."""
    flags = ["--log-level", "warn", "--upload-root", str(uploads), "--download-path", str(downloads)]
    server = StdioServerParameters(command=sys.executable, args=["-m", "footlight", "serve", *flags])
    async with Client(server) as client:
        await call(client, "navigate", url=url)
        await call(client, "upload_file", selector="#file", files=[file])
        clicked = await call(client, "click", selector="#result")
        return clicked["downloads"][0]


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The data of the answer."""
    answer = (await client.call_tool(tool, arguments)).structured_content
    if answer is None or not answer["success"]:
        raise RuntimeError(f"{tool}: {answer and answer['error']['message']}")
    return answer["data"]


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(PAGE)


@contextmanager
def serve_page() -> Generator[str]:
    site = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{site.server_port}/"
    site.shutdown()


if __name__ == "__main__":
    main()
