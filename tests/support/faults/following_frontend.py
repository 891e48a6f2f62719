"""A frontend as a process of its own: `following_frontend.py URL SESSION FILE` writes what it sees into FILE, an event a line."""

import asyncio
import sys

from events_seen import digest

from turnwire.client import Backoff, EventFrame, Gap, TurnwireError, connect


async def main(url: str, session: str, file: str) -> None:
    """Follow from the first event, until the session is gone or this process."""
    with open(file, "w", buffering=1) as seen:  # noqa: PTH123  a line at a time, into a file of its own
        async with connect(url, backoff=Backoff(first=0.1, most=1), timeout=60) as client:
            try:
                async for received in client.follow(session):
                    match received:
                        case EventFrame():
                            seen.write(f"{received.seq} {digest(received)}\n")
                        case Gap():
                            seen.write("0 0\n")
                        case _:
                            pass
            except TurnwireError:
                return


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
