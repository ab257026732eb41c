"""What the shop holds: its articles, and everything its visitors gave it."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from footlight.demo.catalogue import Product, load_catalogue, price_list

__all__ = ["PASSWORD", "USER", "Order", "Shop", "SignIn", "Upload"]

USER = "stage.manager"
PASSWORD = "curtain-up-at-eight"


@dataclass(frozen=True)
class SignIn:
    """One attempt to sign in."""

    user: str
    accepted: bool

    @property
    def result(self) -> str:
        """The outcome in a word."""
        return "accepted" if self.accepted else "refused"


@dataclass(frozen=True)
class Upload:
    """A file as it arrived."""

    name: str
    content: bytes

    @property
    def size(self) -> int:
        """How many bytes arrived."""
        return len(self.content)

    @property
    def sha256(self) -> str:
        """The digest of the bytes, in hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Order:
    """An order as it arrived: the text of each field by its label, and what is kept apart from them."""

    number: str
    received: Mapping[str, str]
    password_sha256: str


@dataclass
class Shop:
    """The shop's memory; it lives as long as its site."""

    products: tuple[Product, ...] = field(default_factory=load_catalogue)
    sign_ins: list[SignIn] = field(default_factory=list[SignIn])
    orders: list[Order] = field(default_factory=list[Order])
    uploads: list[Upload] = field(default_factory=list[Upload])
    vouchers: list[str] = field(default_factory=list[str])
    downloads: int = 0
    _tokens: dict[str, str] = field(default_factory=dict[str, str])

    def sign_in(self, user: str, password: str) -> str | None:
        """A session token, or None where the name or the password is wrong."""
        known = hmac.compare_digest(f"{user}\0{password}".encode(), f"{USER}\0{PASSWORD}".encode())
        self.sign_ins.append(SignIn(user, known))
        if not known:
            return None
        token = secrets.token_urlsafe(16)
        self._tokens[token] = user
        return token

    def sign_out(self, token: str) -> None:
        """Forget a session."""
        self._tokens.pop(token, None)

    def find_user(self, token: str) -> str | None:
        """Who holds this session."""
        return self._tokens.get(token)

    def take_order(self, received: Mapping[str, str], *, password: str) -> Order:
        """Keep an order under the next number."""
        digest = hashlib.sha256(password.encode()).hexdigest()
        order = Order(number=f"PC-{len(self.orders) + 1:04}", received=received, password_sha256=digest)
        self.orders.append(order)
        return order

    def find_order(self, number: str) -> Order | None:
        """The order of this number."""
        return next((order for order in self.orders if order.number == number), None)

    def issue_voucher(self) -> str:
        """A new voucher code."""
        self.vouchers.append(f"ENCORE-{secrets.token_hex(3).upper()}")
        return self.vouchers[-1]

    def price_list(self) -> bytes:
        """The price list as a visitor downloads it."""
        return price_list(self.products)
