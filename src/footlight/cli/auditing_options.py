"""What was typed after `footlight audit`, as the values that the work is done with."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footlight.cli.arguments import BadUsage
from footlight.cli.headers import read_headers
from footlight.client.errors import MCPError
from footlight.client.validation import checked_url
from footlight.errors import ConfigurationError
from footlight.ux.report.writing import get_format
from footlight.ux.server import own_server, server_of
from footlight.ux.thresholds import Thresholds

if TYPE_CHECKING:
    from footlight.client.channel import Transport
    from footlight.ux.model.provider import AIProvider
    from footlight.ux.page_work import Judge
    from footlight.ux.persona import Persona

__all__ = [
    "Wanted",
    "check_outs",
    "limit_s_of",
    "make_judge",
    "read_urls",
    "session_of",
    "thresholds_of",
    "transport_of",
]

MOST_URLS = 100
LIMIT_SECONDS = 300.0
LIMIT_WITH_MODEL_SECONDS = 1200.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was typed."""

    urls: Sequence[str]
    lists: Sequence[Path]
    outs: Sequence[Path]
    form: str
    quiet: bool
    max_critical: int | None
    max_high: int | None
    max_medium: int | None
    max_low: int | None
    allow_partial: bool
    allow_failed: bool
    provider: AIProvider | None
    model: str | None
    base_url: str | None
    personas: Path | None
    goals: Sequence[str]
    focus: Sequence[str]
    max_requests: int | None
    max_tokens: int | None
    timeout: float | None
    browser: str | None
    executable_path: Path | None
    headed: bool
    state: str | None
    secrets: Path | None
    page_headers: Sequence[str]
    server: str | None
    headers: Sequence[str]
    log_file: Path | None


def read_urls(wanted: Wanted) -> tuple[Sequence[str], int]:
    """Each page once, in order, and how many were named more than once. Raises BadUsage."""
    import ada_url

    pages: dict[str, str] = {}
    named = 0
    for where, url in _named(wanted):
        try:
            checked_url(url, tool=where)
        except MCPError as error:
            raise BadUsage(f"{error.message.removesuffix('.')}: {url}") from None
        parsed = ada_url.URL(url)
        if parsed.username or parsed.password:
            raise BadUsage(f"{where}: a URL with a name or a password would be in every report; use --state")
        pages.setdefault(parsed.href, url)
        named += 1
    if not pages:
        raise BadUsage("name a page: footlight audit URL, or --urls FILE")
    if len(pages) > MOST_URLS:
        raise BadUsage(f"{len(pages)} pages: {MOST_URLS} are the most of a run; split the list")
    return list(pages.values()), named - len(pages)


def _named(wanted: Wanted) -> Iterator[tuple[str, str]]:
    """Where it was named, and the URL."""
    for word in wanted.urls:
        if word == "-":
            yield from _lines("standard input", sys.stdin.read())
        else:
            yield "URL", word
    for file in wanted.lists:
        try:
            yield from _lines(str(file), file.read_text("utf-8-sig"))
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
            raise BadUsage(f"--urls {file}: {why}") from None


def _lines(name: str, text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        url = line.strip()
        if url and not url.startswith("#"):
            yield f"{name}, line {number}", url


def check_outs(outs: Sequence[Path]) -> None:
    """Before anything is begun whose result could not be kept.

    Raises:
        ConfigurationError: no format has that ending, or it cannot be written there.
    """
    for out in outs:
        get_format(out)
        target = out.resolve()
        try:
            if target.is_dir():
                raise IsADirectoryError(None, "it is a folder")
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=target.parent):
                pass
        except OSError as error:
            raise ConfigurationError(
                f"--out {out} cannot be written: {error.strerror or error}",
                suggestion="Name a file in a folder that can be written to.",
            ) from None


def thresholds_of(wanted: Wanted) -> Thresholds:
    return Thresholds(
        critical=wanted.max_critical,
        high=wanted.max_high,
        medium=wanted.max_medium,
        low=wanted.max_low,
        allow_partial=wanted.allow_partial,
        allow_failed=wanted.allow_failed,
    )


def limit_s_of(wanted: Wanted) -> float:
    return wanted.timeout or (LIMIT_WITH_MODEL_SECONDS if wanted.provider else LIMIT_SECONDS)


def transport_of(wanted: Wanted, folder: Path) -> Transport:
    """To our own server, or to the one that is named. Raises BadUsage, MCPError.

    What another server writes down beside its answers, it writes into the folder.
    """
    if wanted.server is not None:
        if own := [name for name, value in _of_our_browser(wanted).items() if value]:
            raise BadUsage(f"{own[0]} is for our own server; give the one of --server what it has for that")
        environ = {"PLAYWRIGHT_MCP_OUTPUT_DIR": str(folder), **os.environ}
        return server_of(wanted.server, headers=read_headers(wanted.headers), environ=environ)
    if wanted.headers:
        raise BadUsage("--header is for a server with a URL (--server); --page-header is sent to the pages")
    flags = ["--headed"] if wanted.headed else []
    flags += ["--browser", wanted.browser] if wanted.browser else []
    flags += ["--executable-path", str(wanted.executable_path)] if wanted.executable_path else []
    flags += ["--secrets", str(_checked_secrets(wanted.secrets))] if wanted.secrets else []
    return own_server(flags, environ=os.environ)


def _checked_secrets(file: Path) -> Path:
    """The server reads it; that it is there is better told by us."""
    if not file.is_file():
        raise BadUsage(f"--secrets {file}: there is no such file")
    return file


def _of_our_browser(wanted: Wanted) -> Mapping[str, object]:
    return {
        "--browser": wanted.browser,
        "--executable-path": wanted.executable_path,
        "--headed": wanted.headed,
        "--secrets": wanted.secrets,
    }


def session_of(wanted: Wanted) -> Mapping[str, Any]:
    """What `create_session` is given. Raises BadUsage."""
    try:
        headers = read_headers(wanted.page_headers)
    except BadUsage as error:
        raise BadUsage(str(error).replace("--header", "--page-header")) from None
    return {
        **({"state": wanted.state} if wanted.state else {}),
        **({"extraHeaders": headers} if headers else {}),
    }


def make_judge(wanted: Wanted, url: str) -> Judge | None:
    """Whose model has connections, which the caller closes.

    Raises:
        BadUsage: there is something for a model, and no model.
        ConfigurationError: it cannot be asked; it says what is missing.
    """
    if wanted.provider is None:
        if unused := [name for name, value in _of_a_model(wanted).items() if value]:
            raise BadUsage(f"{unused[0]} is for a model: add --provider openai, anthropic or google")
        return None
    from footlight.ux.config import AnalysisOptions, UXAnalysisConfig
    from footlight.ux.model.provider import chat_model
    from footlight.ux.model.request import Limits
    from footlight.ux.page_work import Judge

    default = Limits()
    limits = Limits(
        requests=wanted.max_requests or default.requests, tokens=wanted.max_tokens or default.tokens
    )
    return Judge(
        config=UXAnalysisConfig(url, _personas(wanted), wanted.provider, wanted.model, wanted.focus),
        options=AnalysisOptions(base_url=wanted.base_url, limits=limits),
        model=chat_model(wanted.provider, model=wanted.model, base_url=wanted.base_url, environ=os.environ),
    )


def _of_a_model(wanted: Wanted) -> Mapping[str, object]:
    return {
        "--model": wanted.model,
        "--base-url": wanted.base_url,
        "--personas": wanted.personas,
        "--goal": wanted.goals,
        "--focus": wanted.focus,
        "--max-requests": wanted.max_requests,
        "--max-tokens": wanted.max_tokens,
    }


def _personas(wanted: Wanted) -> Sequence[Persona]:
    from footlight.ux.persona import Persona
    from footlight.ux.personas import SHIPPED_PERSONAS, load_personas

    personas = [*load_personas(wanted.personas)] if wanted.personas else []
    if wanted.goals:
        personas.append(
            Persona("Visitor", "Comes with this in mind, and knows nothing of the site.", wanted.goals)
        )
    return personas or SHIPPED_PERSONAS
