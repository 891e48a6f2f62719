"""Steps that misbehave on purpose: crashes, garbage, floods, lines of great length."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable

import msgspec

from turnwire.protocol.json_values import Json
from turnwire.scripted_agent.script import Crash, Flood, Raw
from turnwire.scripted_agent.speech import Speech

_BREATH = 256
"""Deltas between two looks at stdin: an interrupt must be able to stop a flood."""


def crash(step: Crash) -> None:
    """End the process in the middle of whatever it does."""
    if step.last_words:
        print(step.last_words, file=sys.stderr, flush=True)
    if isinstance(step.crash, str):
        os.kill(os.getpid(), signal.Signals[step.crash])
    else:
        os._exit(step.crash)


def raw(put: Callable[[bytes], None], step: Raw) -> None:
    """Write bytes that are no line of the protocol."""
    content: Json = step.raw
    line = (
        content.encode("utf-8", "surrogatepass") if isinstance(content, str) else msgspec.json.encode(content)
    )
    put(line + b"\n" * step.newline)


async def huge(speech: Speech, size: int) -> None:
    """Say a text of `size` bytes in one line."""
    await speech.say("text", huge_text(size), chunk=size, pace=0)


def huge_text(size: int) -> str:
    """Make a text of `size` bytes."""
    return ("0123456789abcdef" * (size // 16 + 1))[:size]


async def flood(speech: Speech, step: Flood) -> None:
    """Write a text in many numbered deltas, so that a test sees a missing one. Without partial messages, write one line."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    speech.begin("text")
    for number in range(step.flood):
        speech.delta(f"{number} ".ljust(step.size, "."))
        if step.rate:
            await asyncio.sleep(max(0.0, began + (number + 1) / step.rate - loop.time()))
        elif number % _BREATH == 0:
            await asyncio.sleep(0)
    speech.finish()
