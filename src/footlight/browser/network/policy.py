"""The hosts, schemes and files that the server refuses. No I/O except resolving paths."""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from footlight.errors import InvalidParameterError, InvalidUrlError, PermissionDeniedError

__all__ = [
    "DomainPolicy",
    "host_of",
    "is_link_local",
    "is_private",
    "make_refused_host_error",
    "upload_paths",
]

_WEB_SCHEMES = ("http", "https")
_HOSTLESS_SCHEMES = ("about", "blob", "data", "file", "javascript", "mailto", "tel")

MAX_PATH_CHARS = 4096
"""The maximum length of the path of an upload. Resolving a path takes time quadratic in its length."""

LINK_LOCAL = (
    *(ipaddress.ip_network(network) for network in ("169.254.0.0/16", "fe80::/10")),
    *(ipaddress.ip_network(network) for network in ("fd00:ec2::254/128", "64:ff9b::a9fe:0/112")),
)
"""Clouds serve the credentials of a machine at these addresses, and no website uses them."""


class DomainPolicy:
    """Allowed and blocked hosts.

    `*.example.com` matches example.com and its subdomains. A host in both lists is blocked. Link-local
    addresses are refused unless they are allowed individually, and with `block_private` so are this machine
    and all addresses that are not public. The `closed_ports` of this machine are always refused.
    """

    def __init__(
        self,
        allowed: Sequence[str] | None,
        blocked: Sequence[str] | None,
        *,
        block_private: bool = False,
        closed_ports: range = range(0),
        extensions: bool = False,
    ) -> None:
        """Create the policy. With `extensions`, pages of extensions can be opened too."""
        self._blocks_private = block_private
        self._closed_ports = closed_ports
        self._schemes = (*_WEB_SCHEMES, "chrome-extension") if extensions else _WEB_SCHEMES
        self._allowed = None if allowed is None else tuple(_normalize_host(pattern) for pattern in allowed)
        self._blocked = tuple(_normalize_host(pattern) for pattern in blocked or ())

    @property
    def restricts(self) -> bool:
        return self._allowed is not None or bool(self._blocked) or self._blocks_private

    def refuses(self, host: str) -> bool:
        host = _normalize_host(host)
        if any(_matches(pattern, host) for pattern in self._blocked):
            return True
        if is_link_local(host) or (self._blocks_private and (is_private(host) or _is_this_machine(host))):
            return host not in (self._allowed or ())
        return self._allowed is not None and not any(_matches(pattern, host) for pattern in self._allowed)

    def refuses_address(self, host: str, address: str) -> bool:
        """Return whether an accepted host is refused because it resolves to this address."""
        if not self._blocks_private or not is_private(address):
            return False
        host, allowed = _normalize_host(host), self._allowed or ()
        return _normalize_host(address) not in allowed and not (_is_this_machine(host) and host in allowed)

    def closes(self, host: str, port: int) -> bool:
        """Return whether host and port are reserved for the debuggers of this machine."""
        return port in self._closed_ports and _is_this_machine(_normalize_host(host))

    def check_url(self, url: str) -> None:
        """Check whether a page may open the URL.

        Raises:
            InvalidUrlError: no browser can open it.
            PermissionDeniedError: it is not a web page, or the policy refuses its host.
        """
        if url == "about:blank":
            return
        parts = _split_url(url)
        if parts.scheme == "data" and self._allowed is None:
            return
        if parts.scheme not in self._schemes:
            raise PermissionDeniedError(
                f"Only http and https pages can be opened, not {parts.scheme}: URLs", url=url[:2000]
            )
        if not parts.hostname:
            raise InvalidUrlError(f'The URL "{url}" names no host', url=url)
        if parts.scheme not in _WEB_SCHEMES:
            return
        if self.refuses(parts.hostname):
            raise make_refused_host_error(parts.hostname, url)
        if self.closes(parts.hostname, parts.port or 0):
            first, last = self._closed_ports[0], self._closed_ports[-1]
            raise PermissionDeniedError(
                f"The ports {first} to {last} of this machine are for debuggers, not for pages",
                suggestion="Serve the page on another port.",
                url=url,
                port=parts.port,
            )


def make_refused_host_error(host: str, url: str) -> PermissionDeniedError:
    return PermissionDeniedError(
        f"The domain {host} is refused by this server's policy",
        suggestion="Ask the server operator to change security.allowedDomains, security.blockedDomains or "
        "security.blockPrivateNetworks.",
        url=url,
        domain=host,
    )


def is_link_local(host: str) -> bool:
    """Return whether an address is link-local. Names are not resolved."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return any(address in network for network in LINK_LOCAL)


def is_private(host: str) -> bool:
    """Return whether an address is not public: private, of this machine, shared, reserved or multicast.

    An IPv6 address that embeds an IPv4 address is treated like the latter. Names are not resolved.
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if any(address in network for network in _EMBEDDING):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_private(str(inner))
        if address.teredo or address.is_site_local:
            return True
    return not address.is_global or address.is_multicast


_EMBEDDING = tuple(ipaddress.ip_network(network) for network in ("64:ff9b::/96", "::/96"))
"""IPv6 networks whose last 32 bits are an IPv4 address."""


def _is_this_machine(host: str) -> bool:
    """Return whether the host is this machine. Other names are not resolved: debuggers do not accept them."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def host_of(url: str) -> str:
    """Return the host name of a URL, or ""."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _split_url(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError as error:
        raise InvalidUrlError(f'The URL "{url}" is malformed: {error}', url=url) from None
    if not parts.scheme or _is_host_and_port(parts):
        raise InvalidUrlError(
            f'The URL "{url}" has no scheme',
            suggestion=f"Did you mean {_likely_scheme(url)}://{url.lstrip('/')}?",
            url=url,
        )
    return parts


def _likely_scheme(url: str) -> str:
    """Return http for this machine, whose development servers have no certificate, otherwise https."""
    host = re.split(r"[:/?#]", url.lstrip("/"), maxsplit=1)[0].lower()
    return (
        "http" if host == "localhost" or host.endswith(".localhost") or host.startswith("127.") else "https"
    )


def _is_host_and_port(parts: SplitResult) -> bool:
    """Return whether the URL is like `localhost:8080/x`, which is parsed as the scheme `localhost`."""
    if parts.netloc or parts.scheme in (*_WEB_SCHEMES, *_HOSTLESS_SCHEMES):
        return False
    return "." in parts.scheme or bool(re.match(r"\d{1,5}(?:/|$)", parts.path))


def _normalize_host(host: str) -> str:
    """Return the host in the form in which a browser sends it."""
    host = unicodedata.normalize("NFKC", host).strip().lower().strip("[]").rstrip(".")
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return (mapped or address).compressed
    if re.fullmatch(r"[0-9a-fx.]*(?:\d|0x[0-9a-f]*)", host):
        # Browsers also accept 0xa9fea9fe and 2852039166 as addresses, as inet_aton does.
        with contextlib.suppress(OSError):
            return socket.inet_ntoa(socket.inet_aton(host))
    return ".".join(_punycode(label) for label in host.split("."))


def _punycode(label: str) -> str:
    if label.isascii() or len(label) > 63:  # Labels are at most 63 characters long.
        return label
    return f"xn--{label.encode('punycode').decode('ascii')}"


def _matches(pattern: str, host: str) -> bool:
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host == pattern[2:] or host.endswith(pattern[1:])
    return host == pattern


def upload_paths(
    files: Sequence[str], roots: Sequence[Path], *, forbidden: Sequence[Path] = ()
) -> list[Path]:
    """Return the real paths of the files, which must be inside one of the roots and not in `forbidden`.

    Raises:
        PermissionDeniedError: a file is outside the roots, also by a link or `..`, or is reserved for the
            server.
        InvalidParameterError: a file cannot be read.
    """
    real_roots = [root.resolve() for root in roots]
    paths = [_upload_path(file, real_roots) for file in files]
    for path, file in zip(paths, files, strict=True):
        if any(path.is_relative_to(folder.resolve()) for folder in forbidden):
            raise PermissionDeniedError(
                f"{file} is the server's own: it keeps logins and secrets there",
                suggestion="Put the file elsewhere below a folder that files may be uploaded from.",
                file=file,
            )
    return paths


def _upload_path(file: str, roots: list[Path]) -> Path:
    if "\0" in file:
        raise InvalidParameterError("files: a path cannot hold a NUL character", parameter="files")
    try:
        if len(file) > MAX_PATH_CHARS:
            raise ValueError("the path is too long")
        path = _real_path(file, roots)
    except (OSError, RuntimeError, ValueError):  # The path is too long, a loop of links, or not a name.
        raise InvalidParameterError(f"files: {file} is not a file", parameter="files", file=file) from None
    if not any(path.is_relative_to(root) for root in roots):
        allowed = ", ".join(str(root) for root in roots)
        raise PermissionDeniedError(
            f"{file} is outside the folders that files may be uploaded from",
            suggestion=f"Use a file below {allowed}, or start the server with --upload-root.",
            file=file,
        )
    if not path.is_file():
        raise InvalidParameterError(f"files: {file} is not a file", parameter="files", file=file)
    return path


def _real_path(file: str, roots: list[Path]) -> Path:
    """Resolve the file below the first root that contains it, or otherwise in the working directory."""
    candidates = [(root / file).resolve() for root in roots] + [Path(file).resolve()]
    inside = (path for path in candidates if any(path.is_relative_to(root) for root in roots))
    return next((path for path in inside if path.is_file()), candidates[0])
