"""The page of the resource templates."""

from __future__ import annotations

from footlight.server.resources.resources import Resources
from scripts.reference.markdown import join, table
from scripts.reference.prompts import PROTOCOL_ERROR

INTRO = """\
The resource templates that `resources/templates/list` returns. `resources/list` returns every session, page,
network log, screenshot and long answer of the caller; elements are listed by
[`find_elements`](tools.md#find_elements). [Resources](../resources.md) describes their content, how long they
are kept, and subscriptions.
"""


def render() -> str:
    rows = (
        [f"`{each.uri_template}`", each.name, each.mime_type or "that of the image", f"{each.description}."]
        for each in Resources(lambda: None).templates()
    )
    return join(
        [
            "# Resources",
            INTRO.strip(),
            table(["URI template", "Name", "MIME type", "Description"], rows),
            f"Reading a resource that does not exist is {PROTOCOL_ERROR}; its `data` has the `uri`.",
        ]
    )
