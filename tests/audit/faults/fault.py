"""The form of a planted fault: a page with one fault, and its clean twin, the same page without the fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from tests.site import Handler

__all__ = ["Fault", "reply"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A case: the audit must report `rule` for the document `faulty`, and nothing at all for `clean`.

    Each document is at `/page` of a site of its own, which also serves `routes` and `pages.NAVIGATION`. The
    audit opens `faulty_path` or `clean_path`, which may be another route, such as a redirect to `/page`. With
    `is_secure` the site uses HTTPS.
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
    """Return a route that always sends this answer."""

    async def handler(_: Request) -> Response:
        return Response(content, status, headers, type)

    return handler
