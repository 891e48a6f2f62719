"""A frontend that acknowledges what it has delivered, for `turnwire conform frontend -- python examples/conforming.py`."""

import asyncio
import hashlib
import json
import os
from contextlib import suppress

from turnwire.client import BEGINNING, CommandFailed, connect
from turnwire.client.events import Notice, PermissionRequest
from turnwire.client.frames import EventFrame


async def main() -> None:
    """Follow the session, count, answer."""
    delivered, count = hashlib.sha256(), 0
    async with connect(os.environ["TURNWIRE_URL"]) as client:
        async for frame in client.follow("conform", BEGINNING):
            if not isinstance(frame, EventFrame):
                continue
            count += 1
            delivered.update(b"%d\n" % frame.seq)
            match frame.event:
                case Notice(kind="conform"):
                    told = json.dumps({"events": count, "digest": delivered.hexdigest()})
                    await client.prompt("conform", told)
                case PermissionRequest() as request:
                    with suppress(CommandFailed):  # somebody else was first
                        await client.respond("conform", request.pending_id, request.allow_once())
                case _:
                    pass


asyncio.run(main())
