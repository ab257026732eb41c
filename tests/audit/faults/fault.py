"""A page with one thing wrong, and the same page without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from tests.site import Handler

__all__ = ["Fault", "reply"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`rule` must be found in `faulty`, and nothing at all in `clean`: both are whole HTML documents.

    `routes` are served beside both pages, on a site of their own: a path and what answers there. The paths
    in `pages.NAVIGATION` answer anyway. Each page is at `/page` and is opened at its `path`, which may answer
    otherwise, such as with a redirect to the page. With `is_secure` the site speaks https.
    """

    name: str
    rule: str
    faulty: str
    clean: str
    routes: Mapping[str, Handler] = field(default_factory=dict[str, Handler])
    faulty_path: str = "/page"
    clean_path: str = "/page"
    is_secure: bool = False


def reply(
    content: str | bytes,
    *,
    type: str = "text/html",
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Handler:
    """Return a route that always answers the same."""

    async def handler(_: Request) -> Response:
        return Response(content, status, headers, type)

    return handler
