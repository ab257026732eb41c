"""The check of who sends a request to the pages for people."""

from __future__ import annotations

from starlette.datastructures import Headers

from footlight.transports.network.access import AccessControl, Refusal

__all__ = ["refuse_sender"]


def refuse_sender(access_control: AccessControl, headers: Headers) -> Refusal | None:
    """Accept requests of our own pages and of programs. Refuse pages of other sites, even on this machine."""
    host, origin = headers.get("host", ""), headers.get("origin")
    is_foreign = origin is not None and origin.lower().partition("://")[2] != host.lower()
    if is_foreign or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return Refusal(403, "Pages of other sites may not watch this server.")
    return access_control.check_sender({"host": host})
