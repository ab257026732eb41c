"""Placeholder until the real one is written to this path."""


async def settle(page: object, since: float, deadline: object, *, limit_ms: float) -> None:
    """Nothing yet."""
