"""Fake servers of three model vendors, which answer as a test says and keep the requests.

Written from the vendors' public documentation of their wire formats; nothing of their libraries is in here.
"""

from __future__ import annotations

from tests.audit.vendors.anthropic import Anthropic
from tests.audit.vendors.google import Google
from tests.audit.vendors.openai import OpenAI
from tests.audit.vendors.serving import Vendor

__all__ = ["VENDORS"]

VENDORS: tuple[Vendor, ...] = (OpenAI(), Anthropic(), Google())
