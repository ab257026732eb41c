"""The answer of a call, which consists of plain JSON values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

from footlight.browser.page.events import Events
from footlight.browser.snapshot.text.quoting import shorten_query
from footlight.errors import FootlightError
from footlight.safe_text import cut_text
from footlight.server.answers.json_values import PageText, PageTitle, clean
from footlight.server.answers.untrusted import origin_of

__all__ = [
    "ABOUT_PAGE",
    "Answer",
    "AnswerLink",
    "Image",
    "failure",
    "link_to_whole",
    "success",
    "without_page_texts",
]

ABOUT_PAGE = ("effect", "reason", "locator", "observation")
"""The fields of the content, in addition to `data` and `error`, that may contain text from a page."""
MAX_ADDRESS = 2_000
"""The maximum length of a URL in the text for models. Structured content has the whole URL."""
_ADDRESSES = frozenset(("url", "urls", "finalUrl", "frameUrl"))
MAX_PREVIEW = 2_000
"""The maximum length of the preview of a linked answer, in characters."""
MAX_ERROR_BYTES = 50_000
"""The maximum size of an error. In a larger one, which contains text or URLs of a page, values are cut."""
MAX_TEXT = 1_000
MAX_ITEMS = 50
_USUAL = {"status": 200, "redirected": False, "failed": 0}
"""Expected values, which are left out of the text of an answer."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image in an answer. `mime_type` is `image/png` or `image/jpeg`."""

    data: bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class AnswerLink:
    """A link in an answer to a resource. `bytes` is the size of the resource."""

    uri: str
    name: str
    mime_type: str
    bytes: int


@dataclass(frozen=True)
class Answer:
    """The result of a call. `content` is `{success: true, data}` or `{success: false, error}`.

    The content of an action also has its `effect`, with a `reason` if it had no effect or failed, and an
    `observation` of the changes on the page. The content of an answer that is too large is
    `{success: true, resource, preview}` and the `events`, which are in `data` otherwise.
    """

    content: Mapping[str, Any]
    images: tuple[Image, ...] = ()
    links: tuple[AnswerLink, ...] = ()
    events: Mapping[str, Any] = field(default_factory=dict[str, Any])
    source: str = ""
    """The URL of the page to which the answer belongs."""
    is_origin_known: bool = False
    """True if the call, or an earlier answer about the same page, has named its origin."""
    is_url_known: bool = False
    """True if the last answer about the same page has named its URL."""
    session_id: str | None = None
    """The session to which the answer belongs, or None."""
    duration_ms: int = 0
    locator: Any = None
    """A locator for the element of a ref, which also works in other runs. Several locators are a mapping by
    ref, and those of steps are a list.
    """

    @property
    def success(self) -> bool:
        return bool(self.content["success"])

    @cached_property
    def text(self) -> str:
        """Return the content as JSON for models, without `page_texts`, timings and repeated URLs."""
        content: Mapping[str, Any] = without_page_texts(self.content)
        origin = origin_of(self.source) if self.page_texts else ""
        content = _without_repetition(content, origin, self.page_texts, is_url_known=self.is_url_known)
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"))

    @cached_property
    def page_texts(self) -> tuple[PageText, ...]:
        return tuple(_page_texts(self.content))


def success(
    data: Mapping[str, Any],
    *,
    observation: Mapping[str, Any] | None = None,
    effect: Mapping[str, Any] | None = None,
    events: Events | None = None,
    images: Sequence[Image] = (),
    links: Sequence[AnswerLink] = (),
) -> Answer:
    happened: Mapping[str, Any] = clean(_events_as_json(events)) if events else {}
    observed = {"observation": clean(observation)} if observation is not None else {}
    content = {"success": True, "data": {**clean(data), **happened}, **clean(effect or {}), **observed}
    return Answer(content, tuple(images), tuple(links), happened)


def failure(
    error: FootlightError,
    *,
    observation: Mapping[str, Any] | None = None,
    effect: Mapping[str, str] | None = None,
    events: Events | None = None,
    images: Sequence[Image] = (),
    links: Sequence[AnswerLink] = (),
) -> Answer:
    details = {**error.details, **(_events_as_json(events) if events else {})}
    happened: Mapping[str, Any] = clean(effect or {})
    observed = {**happened, **({"observation": clean(observation)} if observation is not None else {})}
    error_json = {
        "code": error.code,
        "message": clean(error.message),
        "details": clean(details),
        "retryable": error.retryable,
        "suggestion": clean(error.suggestion),
    }
    answer = Answer({"success": False, "error": error_json, **observed}, tuple(images), tuple(links))
    if len(answer.text.encode()) <= MAX_ERROR_BYTES:
        return answer
    return replace(answer, content={"success": False, "error": _shorten_value(error_json), **observed})


def link_to_whole(answer: Answer, link: AnswerLink) -> Answer:
    """Return a preview of an answer, with a link to the whole answer."""
    content = {
        "success": True,
        "resource": {"uri": link.uri, "mimeType": link.mime_type, "bytes": link.bytes},
        "preview": json.dumps(answer.content["data"], ensure_ascii=False)[:MAX_PREVIEW],
        **_shorten_value(answer.events),
        **{key: answer.content[key] for key in ABOUT_PAGE if key in answer.content},
    }
    return replace(answer, content=content, links=(*answer.links, link))


def without_page_texts(value: Any) -> Any:
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: without_page_texts(item) for key, item in items if not isinstance(item, PageText)}
    return value


def _without_repetition(
    content: Mapping[str, Any], origin: str, texts: Sequence[str], *, is_url_known: bool
) -> Mapping[str, Any]:
    """Return the content without redundant values. Structured content has all of them.

    URLs of this `origin` are shortened to their path, because the marker around the page's texts has the
    origin. With `is_url_known`, the URL of the page is left out of what an action returns.
    """
    data: Any = content.get("data")
    if not isinstance(data, Mapping):
        return content
    short = {
        key: _shorten_addresses(item, key)
        for key, item in _without_echo(cast("Mapping[str, Any]", data)).items()
    }
    if isinstance(steps := short.get("steps"), list):
        short["steps"] = [_shorten_step(step) for step in cast("list[Any]", steps)]
        if all(set(step) == {"tool"} for step in short["steps"]):
            del short["steps"]  # The arguments of the call have the names of the tools.
    observation: Any = content.get("observation")
    if not isinstance(observation, Mapping):
        return _with_data(content, _without_origin(short, origin))
    facts = dict(cast("Mapping[str, Any]", observation))
    facts.pop("cut", None)  # The last line of the page's text shows it.
    if facts.get("kind") == "full":
        del facts["kind"]  # The missing change markers in the page's text show it.
    if is_url_known and "effect" in content:
        short.pop("url", None)
    if facts.get("url") == data.get("url"):
        facts.pop("url", None)
    if any(_shows_title(text, facts.get("title")) for text in texts):
        del facts["title"]
    rest = {
        **_with_data(content, _without_origin(short, origin)),
        "observation": _without_origin(facts, origin),
    }
    if not facts:
        del rest["observation"]
    return rest


def _with_data(content: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with this data, or without any if nothing is left of the data of an action."""
    if not data and "effect" in content:
        return {key: value for key, value in content.items() if key != "data"}
    return {**content, "data": data}


def _shows_title(text: str, title: Any) -> bool:
    """Return whether a page's text has all words of the title, and some of them in a heading.

    The name of a known site does not count.
    """
    own = title.own if isinstance(title, PageTitle) else title
    if not isinstance(own, str):
        return False
    words = set(_WORD.findall(own))
    headings = "\n".join(_HEADING.findall(text))
    return not words.isdisjoint(_WORD.findall(headings)) and words.issubset(_WORD.findall(text))


_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"^[+~ ]*(?:e\d+ )?h\d.*", re.MULTILINE)


def _without_origin(fields: Mapping[str, Any], origin: str) -> Mapping[str, Any]:
    """Return the fields with the URL of the page shortened like that of a link if it has this origin."""
    url: Any = fields.get("url")
    if not (origin and isinstance(url, str) and url.startswith(f"{origin}/")):
        return fields
    return {**fields, "url": shorten_query(url.removeprefix(origin))}


def _shorten_addresses(value: Any, key: str) -> Any:
    """Return a value with its long URLs cut for a model. The result of a script is not changed."""
    if key == "result":
        return value
    if isinstance(value, str):
        return f"{value[:MAX_ADDRESS]}…" if key in _ADDRESSES and len(value) > MAX_ADDRESS else value
    if isinstance(value, list):
        return [_shorten_addresses(item, key) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {
            inner: _shorten_addresses(item, inner) for inner, item in cast("dict[str, Any]", value).items()
        }
    return value


def _without_echo(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data without timings, expected values, repeated URLs and repeated arguments."""
    left_out = {"timing"}
    left_out.update(key for key, usual in _USUAL.items() if data.get(key) == usual)
    if "url" in data and data.get("finalUrl") == data["url"]:
        left_out.update(("finalUrl", "redirected"))
        if data.get("redirected") is False and "moved" not in data:
            left_out.add("url")  # The URL that the call has given.
    fields: Any = data.get("fields")
    if isinstance(fields, list) and all(_is_echo(each) for each in cast("list[Any]", fields)):
        left_out.add("fields")
    return {key: value for key, value in data.items() if key not in left_out}


def _is_echo(field: Any) -> bool:
    return isinstance(field, Mapping) and set(cast("Mapping[str, Any]", field)) == {"selector", "kind"}


def _shorten_step(step: Any) -> Any:
    """Return a step without the URL of the page, because the answer has the final URL."""
    fields: Mapping[str, Any] = cast("Mapping[str, Any]", step) if isinstance(step, Mapping) else {}
    if not isinstance(fields.get("data"), Mapping):
        return cast("Any", step)
    data = {key: value for key, value in _without_echo(fields["data"]).items() if key != "url"}
    return {
        **{key: value for key, value in fields.items() if key != "data"},
        **({"data": data} if data else {}),
    }


def _page_texts(value: Any) -> Iterator[PageText]:
    for item in cast("Mapping[str, Any]", value).values():
        if isinstance(item, PageText):
            yield item
        elif isinstance(item, Mapping):
            yield from _page_texts(item)


def _events_as_json(events: Events) -> dict[str, Any]:
    """Return the lists of events that are not empty, oldest first, and whether the session was restored."""
    lists: dict[str, Any] = {
        "newPages": [{"pageId": page.page_id, "url": page.url} for page in events.pages],
        "closedPages": [*events.closed],
        "refusedPages": events.refused or None,
        "restored": events.restored,
        "dialogs": [
            {
                **({"pageId": dialog.page_id} if dialog.page_id else {}),
                "type": dialog.type,
                "message": dialog.message,
                **({"defaultValue": dialog.default_value} if dialog.type == "prompt" else {}),
                "handled": dialog.handled,
            }
            for dialog in events.dialogs
        ],
        "downloads": [
            {
                "suggestedFilename": download.suggested_filename,
                "url": download.url,
                **({"failure": download.failure} if download.failure else {"path": download.path}),
            }
            for download in events.downloads
        ],
    }
    return {key: value for key, value in lists.items() if value not in ([], None)}


def _shorten_value(value: Any) -> Any:
    """Return a copy of a clean value, with long texts and lists cut and the cuts marked."""
    if isinstance(value, str):
        return cut_text(value, MAX_TEXT)
    if isinstance(value, Mapping):
        return {key: _shorten_value(item) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        cut = [f"[cut, {len(items)} items]"] if len(items) > MAX_ITEMS else []
        return [*map(_shorten_value, items[:MAX_ITEMS]), *cut]
    return value
