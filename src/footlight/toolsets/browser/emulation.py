"""Changing what the pages of a live session are made to believe."""

from dataclasses import replace
from typing import Annotated, cast

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.emulation import Emulation, Media
from footlight.browser.options import ColorScheme, ReducedMotion
from footlight.browser.overview import Viewport as Size
from footlight.server.tool import Number, ToolCall, tool
from footlight.toolsets.browser.session_options import Geolocation, Viewport

__all__ = ["TOOLS"]


class Located(TypedDict):
    latitude: float
    longitude: float
    accuracy: float


class Emulated(TypedDict, total=False):
    """What is in force beside what the session was made with."""

    viewport: Size
    device: str
    colorScheme: ColorScheme
    reducedMotion: ReducedMotion
    media: Media
    geolocation: Located
    permissions: list[str]
    locale: str
    timezone: str
    cpuRate: float
    userAgent: str


@tool(scope="session", effect="configure", idempotent=True, group="devtools")
async def emulate(
    call: ToolCall,
    viewport: Annotated[Viewport | None, Field(description="{width, height} in CSS pixels")] = None,
    device: Annotated[str | None, Field(description="Such as iPhone 15; reload to see it whole")] = None,
    color_scheme: ColorScheme | None = None,
    reduced_motion: ReducedMotion | None = None,
    media: Media | None = None,
    geolocation: Geolocation | None = None,
    permissions: Annotated[list[str] | None, Field(description="All that are granted")] = None,
    locale: str | None = None,
    timezone: str | None = None,
    cpu_rate: Annotated[Number | None, Field(ge=1, le=100, description="4 is four times slower")] = None,
    user_agent: str | None = None,
    reset: Annotated[bool, Field(description="First undo all that was emulated")] = False,
) -> Emulated:
    """Emulate device, place or media. In all pages of the session, also those to come."""
    emulator = call.session.emulator
    given = Emulation(
        viewport=viewport.size if viewport else None,
        device=emulator.devices.get(device) if device is not None else None,
        color_scheme=color_scheme,
        reduced_motion=reduced_motion,
        media=media,
        geolocation=geolocation.option if geolocation else None,
        permissions=None if permissions is None else tuple(permissions),
        locale=locale,
        timezone=timezone,
        cpu_rate=cpu_rate,
        user_agent=user_agent,
    )
    before = Emulation() if reset else emulator.in_force
    if device is not None:  # Its size and its name count, unless others come with it.
        before = replace(before, viewport=None, user_agent=None)
    wanted = before.with_(given)
    if wanted != emulator.in_force:
        await emulator.change(wanted)
    return _told(wanted)


def _told(emulation: Emulation) -> Emulated:
    place = emulation.geolocation
    told = {
        "viewport": emulation.size and {"width": emulation.size[0], "height": emulation.size[1]},
        "device": emulation.device and emulation.device.name,
        "colorScheme": emulation.color_scheme,
        "reducedMotion": emulation.reduced_motion,
        "media": emulation.media,
        "geolocation": place
        and {"latitude": place.latitude, "longitude": place.longitude, "accuracy": place.accuracy},
        "permissions": None if emulation.permissions is None else list(emulation.permissions),
        "locale": emulation.locale,
        "timezone": emulation.timezone,
        "cpuRate": emulation.cpu_rate,
        "userAgent": emulation.agent,
    }
    return cast("Emulated", {name: value for name, value in told.items() if value is not None})


TOOLS = (emulate,)
