"""A page with a cookie banner, on loopback."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Places to stay</title>
<style>
  .cc-overlay { position: fixed; inset: 0; background: rgb(0 0 0 / 60%); }
  .cc-window { position: absolute; inset: auto 0 0; padding: 1rem; background: white; }
</style>
<main>
  <h1>Places to stay</h1>
  <button id="search" onclick="this.textContent = '12 places near you'">Search</button>
  <p>Cookies: <output id="consent">not decided</output></p>
</main>
<div class="cc-overlay" hidden>
  <div class="cc-window" role="dialog" aria-modal="true" aria-label="Cookies">
    <p>We use cookies. May we?</p>
    <button class="cc-btn cc-btn-accept">Accept all</button>
    <button class="cc-btn cc-btn-reject">Reject</button>
  </div>
</div>
<script>
  const overlay = document.querySelector('.cc-overlay');

  function show() {
    const [, decided] = document.cookie.match(/(?:^|; )consent=(\\w+)/) ?? [];
    overlay.hidden = decided !== undefined;
    document.querySelector('#consent').value = decided ?? 'not decided';
  }

  function decide(how) {
    document.cookie = `consent=${how}; path=/; max-age=31536000; SameSite=Lax`;
    show();
  }

  document.querySelector('.cc-btn-accept').addEventListener('click', () => decide('accepted'));
  document.querySelector('.cc-btn-reject').addEventListener('click', () => decide('rejected'));
  show();
</script>
"""


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serve_site() -> Generator[str]:
    """Its URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
