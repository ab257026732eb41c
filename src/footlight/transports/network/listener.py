"""Bind the configured address, and create the access control for it."""

from __future__ import annotations

import importlib
import inspect
import os
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from footlight.errors import ConfigurationError
from footlight.transports.loopback import is_loopback
from footlight.transports.network.access import AccessControl, SharedToken
from footlight.transports.network.protected_resource import metadata_url

if TYPE_CHECKING:
    from pathlib import Path

    from mcp.server.auth.provider import TokenVerifier

    from footlight.config import Settings

__all__ = ["DEFAULT_PORT", "bind", "make_access_control", "make_url"]

DEFAULT_PORT = 8931
BACKLOG = 512
MIN_TOKEN_LENGTH = 16


def bind(settings: Settings) -> socket.socket:
    """Return a listening socket on the configured address.

    Raises:
        ConfigurationError: the address does not belong to this machine, or is in use.
    """
    host = settings.listen.host
    port = DEFAULT_PORT if settings.port is None else settings.port
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        # Pass the protocol, because asyncio sets TCP_NODELAY only on sockets with the protocol TCP.
        listener = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except BaseException:
            listener.close()
            raise
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(
            f"settings 'listen.host' and 'port': cannot listen on {host}:{port}: {reason}",
            suggestion="Choose another port, or 0 for a free one.",
        ) from None
    return listener


def make_url(listener: socket.socket, scheme: str) -> str:
    """Return the URL with the actual port, which the system has chosen if the setting is 0."""
    host, port = listener.getsockname()[:2]
    name = "localhost" if is_loopback(host) else f"[{host}]" if ":" in host else host
    return f"{scheme}://{name}:{port}"


def make_access_control(settings: Settings) -> AccessControl:
    """Return the access control for the configured address.

    Raises:
        ConfigurationError: the token or the verifier cannot be used, or a token is required and missing.
    """
    listen = settings.listen
    verifier = _verifier(settings)
    if verifier is None and not is_loopback(listen.host):
        raise ConfigurationError(
            f"setting 'listen.host': {listen.host} can be reached from other machines, "
            "so a token is required",
            suggestion="Set FOOTLIGHT_TOKEN or --token-file, or listen on 127.0.0.1.",
        )
    return AccessControl(
        bound=listen.host,
        verifier=verifier,
        hosts=[
            *listen.allowed_hosts,
            *([urlsplit(listen.public_url).hostname or ""] if listen.public_url else ()),
        ],
        origins=listen.allowed_origins,
        share_default=settings.session.share_default,
        metadata_url=metadata_url(listen),
    )


def _verifier(settings: Settings) -> TokenVerifier | None:
    listen = settings.listen
    options = {
        "token": settings.token,
        "listen.tokenFile": listen.token_file,
        "listen.tokenVerifier": listen.token_verifier,
    }
    names = [name for name, value in options.items() if value is not None]
    if len(names) > 1:
        raise ConfigurationError(f"settings {' and '.join(map(repr, names))}: give one of them")
    if listen.token_verifier is not None:
        return _load(listen.token_verifier)
    if listen.token_file is not None:
        return SharedToken(_check_token(_first_line(listen.token_file), "listen.tokenFile"))
    if settings.token is not None:
        return SharedToken(_check_token(settings.token.get_secret_value(), "token"))
    return None


def _first_line(file: Path) -> str:
    try:
        lines = file.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigurationError(f"setting 'listen.tokenFile': {file} cannot be read: {reason}") from None
    return lines[0].strip() if lines else ""


def _check_token(token: str, setting: str) -> str:
    """Return the token.

    Raises:
        ConfigurationError: the token cannot be sent in a header, or is so short that it could be guessed.
    """
    if len(token) < MIN_TOKEN_LENGTH or not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigurationError(
            f"setting {setting!r}: a token is at least {MIN_TOKEN_LENGTH} ASCII characters without spaces",
            suggestion="Make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )
    return token


def _load(name: str) -> TokenVerifier:
    """Load the verifier `package.module:name`, which is an object with `verify_token`, or its class."""
    module, _, attribute = name.partition(":")
    try:
        found: Any = getattr(importlib.import_module(module), attribute)
        verifier: Any = found() if inspect.isclass(found) else found
    except Exception as error:
        # Third-party code may raise any exception.
        raise ConfigurationError(
            f"setting 'listen.tokenVerifier': {name} cannot be loaded: {error}"
        ) from error
    if not callable(getattr(verifier, "verify_token", None)):
        raise ConfigurationError(f"setting 'listen.tokenVerifier': {name} has no method verify_token")
    return verifier
