"""The data of the shop: products, sign-ins, uploads and orders."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from footlight.demo.shop.catalogue import Product, load_catalogue, price_list

__all__ = ["PASSWORD", "USER", "Order", "Shop", "SignIn", "Upload"]

USER = "stage.manager"
PASSWORD = "curtain-up-at-eight"


@dataclass(frozen=True)
class SignIn:
    """An attempt to sign in."""

    user: str
    accepted: bool

    @property
    def result(self) -> str:
        """Return the outcome in a word."""
        return "accepted" if self.accepted else "refused"


@dataclass(frozen=True)
class Upload:
    """An uploaded file."""

    name: str
    content: bytes

    @property
    def size(self) -> int:
        """Return the size in bytes."""
        return len(self.content)

    @property
    def sha256(self) -> str:
        """Return the SHA-256 digest in hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Order:
    """A received order: the text of each field by its label, and the digest of the password."""

    number: str
    received: Mapping[str, str]
    password_sha256: str


@dataclass
class Shop:
    """The data of the shop, in memory."""

    products: tuple[Product, ...] = field(default_factory=load_catalogue)
    sign_ins: list[SignIn] = field(default_factory=list[SignIn])
    orders: list[Order] = field(default_factory=list[Order])
    uploads: list[Upload] = field(default_factory=list[Upload])
    vouchers: list[str] = field(default_factory=list[str])
    downloads: int = 0
    _tokens: dict[str, str] = field(default_factory=dict[str, str])

    def sign_in(self, user: str, password: str) -> str | None:
        """Return a session token, or None if the name or the password is wrong."""
        known = hmac.compare_digest(f"{user}\0{password}".encode(), f"{USER}\0{PASSWORD}".encode())
        self.sign_ins.append(SignIn(user, known))
        if not known:
            return None
        token = secrets.token_urlsafe(16)
        self._tokens[token] = user
        return token

    def sign_out(self, token: str) -> None:
        """End a session."""
        self._tokens.pop(token, None)

    def find_user(self, token: str) -> str | None:
        """Return the user of this session, or None."""
        return self._tokens.get(token)

    def take_order(self, received: Mapping[str, str], *, password: str) -> Order:
        """Store an order under the next number."""
        digest = hashlib.sha256(password.encode()).hexdigest()
        order = Order(number=f"PC-{len(self.orders) + 1:04}", received=received, password_sha256=digest)
        self.orders.append(order)
        return order

    def find_order(self, number: str) -> Order | None:
        """Return the order with this number, or None."""
        return next((order for order in self.orders if order.number == number), None)

    def issue_voucher(self) -> str:
        """Return a new voucher code."""
        self.vouchers.append(f"ENCORE-{secrets.token_hex(3).upper()}")
        return self.vouchers[-1]

    def price_list(self) -> bytes:
        """Return the price list as a CSV file."""
        return price_list(self.products)
