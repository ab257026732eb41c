"""The watch page: on the listener of the clients, or on its own port."""

from __future__ import annotations

import contextlib
import secrets as random
import socket
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING

from footlight.errors import ConfigurationError

if TYPE_CHECKING:
    from footlight.browser.sessions.engine import Engine
    from footlight.config import Settings
    from footlight.server.answers.masking import Mask
    from footlight.server.toolset import Toolset
    from footlight.watch.watch import Watch

__all__ = ["bind_watch_page", "make_watch", "serve_watch_page"]

LOOPBACK = "127.0.0.1"


def bind_watch_page(settings: Settings) -> socket.socket | None:
    """Bind a port for the page. Return None if there is no page, or if the listener of the clients serves it.

    Raises:
        ConfigurationError: the port is in use.
    """
    if not settings.has_watch_page or settings.transport == "http":
        return None
    try:
        return socket.create_server((LOOPBACK, settings.watch.port))
    except OSError as error:
        raise ConfigurationError(
            f"setting 'watch.port': cannot listen on {LOOPBACK}:{settings.watch.port}: {error.strerror}",
            suggestion="Choose another port, or 0 for a free one.",
        ) from None


def make_watch(
    settings: Settings, toolset: Toolset, engine: Engine, *, mask: Mask, secrets: Sequence[str]
) -> Watch | None:
    """Return the object that records calls and shows the sessions, or None if the watch page is disabled."""
    if not settings.has_watch_page:
        return None
    from footlight.watch.watch import Watch

    return Watch(
        engine.find_sessions,
        toolset.tools,
        mask=mask,
        secrets=secrets,
        keyframes=settings.watch.keyframes,
    )


@contextlib.asynccontextmanager
async def serve_watch_page(watch: Watch | None, listener: socket.socket | None) -> AsyncGenerator[str | None]:
    """Serve the page on its own port, and yield its URL with a new token, or None if it has no port."""
    if watch is None or listener is None:
        yield None
        return
    from footlight.config import ListenSettings
    from footlight.transports.network.access import AccessControl, SharedToken
    from footlight.transports.network.http_server import serve_app
    from footlight.watch.site import PATH

    token = random.token_urlsafe(32)
    site = watch.sites.make_site(AccessControl(bound=LOOPBACK, verifier=SharedToken(token)))
    async with serve_app(site, listener, ListenSettings()) as url:
        watch.sites.set_address(url)
        try:
            # Browsers do not send the fragment of a URL, so the token reaches no log and no other site.
            yield f"{url}{PATH}#token={token}"
        finally:
            site.close()
