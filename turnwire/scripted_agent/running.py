"""Pretend to run: wait for a time, or until a file appears."""

import asyncio
import os.path

LOOK_S = 0.02
"""Seconds between two looks for a file."""


async def passed(seconds: float, until: str = "") -> None:
    """Return when the seconds are over and the file `until`, if named, exists."""
    await asyncio.sleep(seconds)
    while until and not os.path.exists(until):  # noqa: ASYNC110, ASYNC240, PTH110 - a file has no events
        await asyncio.sleep(LOOK_S)
