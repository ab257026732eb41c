"""Check the arguments of `footlight audit`, and convert them to the parameters of the audit."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from footlight.atomic_files import real_path
from footlight.audit.page.server import own_server, server_of
from footlight.audit.report.report_file import get_format
from footlight.audit.thresholds import Thresholds
from footlight.cli.usage import InvalidUsageError, read_headers
from footlight.errors import ConfigurationError

if TYPE_CHECKING:
    from footlight.audit.analysis.personas import Persona
    from footlight.audit.auditor import Judge
    from footlight.audit.model.provider import AIProvider
    from footlight.protocol.channel import Transport

__all__ = [
    "AuditArguments",
    "check_outputs",
    "count_jobs",
    "make_judge",
    "make_thresholds",
    "make_transport",
    "page_limit_s",
    "read_sources",
    "session_arguments",
]

LIMIT_SECONDS = 300.0
LIMIT_WITH_MODEL_SECONDS = 1200.0
MAX_JOBS = 4
"""The maximum number of pages that are audited at the same time without `--jobs`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditArguments:
    """The arguments from the command line."""

    urls: Sequence[str]
    lists: Sequence[Path]
    sitemaps: Sequence[str]
    sources: Sequence[str]
    baseline: Path | None
    outs: Sequence[Path]
    form: str
    quiet: bool
    max_critical: int | None
    max_high: int | None
    max_medium: int | None
    max_low: int | None
    level: Literal["AA", "AAA"]
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
    jobs: int | None
    browser: str | None
    executable_path: Path | None
    headed: bool
    state: str | None
    secrets: Path | None
    page_headers: Sequence[str]
    server: str | None
    headers: Sequence[str]
    log_file: Path | None


def check_outputs(outs: Sequence[Path]) -> None:
    """Check that every report can be written, before the audit begins.

    Raises:
        ConfigurationError: the file name has no known suffix, or the file cannot be written.
    """
    for out in outs:
        get_format(out)
        try:
            target = real_path(out)
            if target.is_dir():
                raise IsADirectoryError(None, "it is a folder")
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=target.parent):
                pass
        except OSError as error:
            raise ConfigurationError(
                f"--out {out} cannot be written: {error.strerror or error}",
                suggestion="Name a file in a writable folder.",
            ) from None


def read_sources(values: Sequence[str]) -> dict[str, str]:
    """Parse the `URL=FOLDER` values. Return the folders by URL.

    Raises:
        InvalidUsageError: a value has another format.
    """
    sources: dict[str, str] = {}
    for each in values:
        url, _, folder = each.rpartition("=")
        if "://" not in url:
            raise InvalidUsageError(f"--source {each}: write URL=FOLDER, such as https://example.com/=public")
        sources[url] = folder.strip("/")
    return sources


def make_thresholds(arguments: AuditArguments) -> Thresholds:
    return Thresholds(
        critical=arguments.max_critical,
        high=arguments.max_high,
        medium=arguments.max_medium,
        low=arguments.max_low,
        level=arguments.level,
        allow_partial=arguments.allow_partial,
        allow_failed=arguments.allow_failed,
    )


def page_limit_s(arguments: AuditArguments) -> float:
    return arguments.timeout or (LIMIT_WITH_MODEL_SECONDS if arguments.provider else LIMIT_SECONDS)


def count_jobs(arguments: AuditArguments) -> int:
    return arguments.jobs or min(os.cpu_count() or 1, MAX_JOBS)


def make_transport(arguments: AuditArguments, folder: Path) -> Transport:
    """Return the transport for Footlight's own server, or for that of `--server`.

    `folder` is the folder for output files of another server.

    Raises:
        InvalidUsageError: an option does not apply to the server.
        MCPError: `--server` is neither a command nor a URL.
    """
    if arguments.server is not None:
        if own := [name for name, value in _own_server_options(arguments).items() if value]:
            raise InvalidUsageError(
                f"{own[0]} is for Footlight's own server; use an option of the --server command instead"
            )
        environ = {"PLAYWRIGHT_MCP_OUTPUT_DIR": str(folder), **os.environ}
        return server_of(arguments.server, headers=read_headers(arguments.headers), environ=environ)
    if arguments.headers:
        raise InvalidUsageError(
            "--header is for a server with a URL (--server); use --page-header for the pages"
        )
    flags = ["--headed"] if arguments.headed else []
    flags += ["--browser", arguments.browser] if arguments.browser else []
    flags += ["--executable-path", str(arguments.executable_path)] if arguments.executable_path else []
    flags += ["--secrets", str(_check_secrets(arguments.secrets))] if arguments.secrets else []
    return own_server(flags, environ=os.environ)


def _check_secrets(file: Path) -> Path:
    """Check that the file exists. The server reads it, but its error would be less clear."""
    if not file.is_file():
        raise InvalidUsageError(f"--secrets {file}: there is no such file")
    return file


def _own_server_options(arguments: AuditArguments) -> Mapping[str, object]:
    return {
        "--browser": arguments.browser,
        "--executable-path": arguments.executable_path,
        "--headed": arguments.headed,
        "--secrets": arguments.secrets,
    }


def session_arguments(arguments: AuditArguments) -> Mapping[str, Any]:
    """Return the arguments of `create_session`.

    Raises:
        InvalidUsageError: a header is not NAME:VALUE.
    """
    headers = read_headers(arguments.page_headers, option="--page-header")
    return {
        **({"state": arguments.state} if arguments.state else {}),
        **({"extraHeaders": headers} if headers else {}),
    }


def make_judge(arguments: AuditArguments, url: str) -> Judge | None:
    """Return the judge, or None without `--provider`. The caller must close its model.

    Raises:
        InvalidUsageError: an option for a model is given without `--provider`.
        ConfigurationError: the model cannot be used, for example because there is no key.
    """
    if arguments.provider is None:
        if unused := [name for name, value in _model_options(arguments).items() if value]:
            raise InvalidUsageError(f"{unused[0]} needs a model: add --provider openai, anthropic or google")
        return None
    from footlight.audit.analysis.config import AnalysisOptions, UXAnalysisConfig
    from footlight.audit.auditor import Judge
    from footlight.audit.model.provider import chat_model
    from footlight.audit.model.request import Limits

    default = Limits()
    limits = Limits(
        requests=arguments.max_requests or default.requests, tokens=arguments.max_tokens or default.tokens
    )
    return Judge(
        config=UXAnalysisConfig(
            url, _personas(arguments), arguments.provider, arguments.model, arguments.focus
        ),
        options=AnalysisOptions(base_url=arguments.base_url, limits=limits),
        model=chat_model(
            arguments.provider, model=arguments.model, base_url=arguments.base_url, environ=os.environ
        ),
    )


def _model_options(arguments: AuditArguments) -> Mapping[str, object]:
    return {
        "--model": arguments.model,
        "--base-url": arguments.base_url,
        "--personas": arguments.personas,
        "--goal": arguments.goals,
        "--focus": arguments.focus,
        "--max-requests": arguments.max_requests,
        "--max-tokens": arguments.max_tokens,
    }


def _personas(arguments: AuditArguments) -> Sequence[Persona]:
    from footlight.audit.analysis.personas import SHIPPED_PERSONAS, Persona, load_personas

    personas = [*load_personas(arguments.personas)] if arguments.personas else []
    if arguments.goals:
        personas.append(
            Persona("Visitor", "Comes with this in mind, and knows nothing of the site.", arguments.goals)
        )
    return personas or SHIPPED_PERSONAS
