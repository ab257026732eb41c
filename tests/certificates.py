"""A self-signed certificate for this machine."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

PLAIN = serialization.NoEncryption()


@dataclass(frozen=True)
class Certificate:
    path: Path
    key: Path

    def server_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.path, self.key)
        return context

    def trusting(self) -> ssl.SSLContext:
        """Return a context for a client that trusts this certificate only."""
        return ssl.create_default_context(cafile=self.path)


def make_certificate(folder: Path) -> Certificate:
    """Write `cert.pem` and its `key.pem`."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate = Certificate(folder / "cert.pem", folder / "key.pem")
    certificate.path.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    _write_key(certificate.key, key)
    return certificate


def make_certificate_folder(folder: Path) -> Path:
    """Write a certificate and its key, and also `other.pem`, the key of another, and `locked.pem`, which is
    the key with a password.
    """
    certificate = make_certificate(folder)
    _write_key(folder / "other.pem", ec.generate_private_key(ec.SECP256R1()))
    key = serialization.load_pem_private_key(certificate.key.read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    _write_key(folder / "locked.pem", key, serialization.BestAvailableEncryption(b"secret"))
    return folder


def _write_key(
    file: Path,
    key: ec.EllipticCurvePrivateKey,
    encryption: serialization.KeySerializationEncryption = PLAIN,
) -> None:
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
    file.write_bytes(key.private_bytes(*form, encryption))
