"""The three vendors as servers on loopback: what they send is scripted by the test, what they get is kept.

Written from the vendors' public documentation of their wire formats; nothing of their libraries is in here.
"""

from __future__ import annotations

from tests.audit.vendors.anthropic import Anthropic
from tests.audit.vendors.google import Google
from tests.audit.vendors.openai import OpenAI
from tests.audit.vendors.serving import Vendor

__all__ = ["VENDORS"]

VENDORS: tuple[Vendor, ...] = (OpenAI(), Anthropic(), Google())
