"""TLS contexts for listening transports."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from footlight.errors import ConfigurationError

if TYPE_CHECKING:
    from footlight.config import ListenSettings

__all__ = ["server_ssl"]


def server_ssl(settings: ListenSettings) -> ssl.SSLContext | None:
    """Return a context for TLS 1.2 or newer with the configured certificate, or None without one.

    Raises:
        ConfigurationError: a file cannot be read, or the key does not belong to the certificate.
    """
    certificate, key = settings.tls_certificate, settings.tls_key
    if certificate is None or key is None:
        return None
    for name, path in (("tlsCertificate", certificate), ("tlsKey", key)):
        try:
            path.read_bytes()
        except OSError as error:
            reason = error.strerror or str(error)
            raise ConfigurationError(f"setting 'listen.{name}': {path} cannot be read: {reason}") from None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # Without the empty password, OpenSSL would ask on the terminal if the key is encrypted.
        context.load_cert_chain(certificate, key, password="")
    except ssl.SSLError as error:
        raise ConfigurationError(
            f"settings 'listen.tlsCertificate' and 'listen.tlsKey': {certificate} and {key} "
            f"are not a certificate and its key: {error.reason or error}"
        ) from None
    return context
