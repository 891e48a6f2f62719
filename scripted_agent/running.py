"""How long a tool runs that only pretends to."""

import asyncio
import os.path

from scripted_agent.script import Tool

LOOK_S = 0.02
"""Seconds between two looks for a file."""


async def ran(tool: Tool) -> None:
    """Return when a tool has run: its seconds are over, and the file that it runs until is there."""
    await asyncio.sleep(tool.seconds)
    while tool.until and not os.path.exists(tool.until):  # noqa: ASYNC110, ASYNC240, PTH110 - a file has no events
        await asyncio.sleep(LOOK_S)
