"""Start Firefox for Playwright, and answer the one command of its WebDriver BiDi that Debian's Firefox does not know.

Playwright sets the media features of each new context by `emulation.setMediaFeaturesOverride` and gives up where it
fails. Firefox ESR 153 has no such command. Preferences of the browser set the features in its place.
Run as `python firefox_wire.py FIREFOX ARGUMENTS…`; ends with the browser.
"""

import asyncio
import json
import re
import sys

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

UNKNOWN = "emulation.setMediaFeaturesOverride"
LISTENING = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")


async def carry(page: ServerConnection, address: str) -> None:
    """Carry messages both ways between Playwright and the browser; the unknown command is answered here."""
    async with connect(address + page.request.path, max_size=None, compression=None) as browser:  # type: ignore[union-attr]  # a request was read

        async def to_browser() -> None:
            async for message in page:
                command = json.loads(message)
                if command["method"] == UNKNOWN:
                    await page.send(json.dumps({"type": "success", "id": command["id"], "result": {}}))
                else:
                    await browser.send(message)
            await browser.close()

        async def to_playwright() -> None:
            async for message in browser:
                await page.send(message)
            await page.close()

        async with asyncio.TaskGroup() as both:
            both.create_task(to_browser())
            both.create_task(to_playwright())


async def main(*command: str) -> int:
    """Run the browser until it ends; its words go on, with the address of this end in the place of its own."""
    browser = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE, limit=1 << 20)
    assert browser.stderr is not None
    address = asyncio.get_running_loop().create_future()

    async def carried(page: ServerConnection) -> None:
        await carry(page, await address)

    async with serve(carried, "127.0.0.1", 0, max_size=None, compression=None) as server:
        port = server.sockets[0].getsockname()[1]
        async for line in browser.stderr:
            found = LISTENING.search(line)
            if found is not None:
                address.set_result(found[1].decode())
            here = b"WebDriver BiDi listening on ws://127.0.0.1:%d\n" % port
            sys.stderr.buffer.write(line if found is None else here)
            sys.stderr.buffer.flush()
        return await browser.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
