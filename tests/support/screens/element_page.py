"""`<turnwire-session>` for tests: built as its package is, and sites of other origins that show it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from npm_workspace import run
from recordings import ROOT

ELEMENT = ROOT / "clients" / "element"

POLICY = "default-src 'none'; script-src 'self'; connect-src {hub}; img-src data:; base-uri 'none'; form-action 'none'"
PAGE = """<!doctype html><title>t</title><script type="module" src="turnwire-session.js"></script>
<h1>A page</h1><turnwire-session url="{base}" session="{session}" token="{token}"></turnwire-session>"""


@asynccontextmanager
async def site(pages: Mapping[str, tuple[str, bytes, str]]) -> AsyncIterator[str]:
    """The address of a site: path to content type, content and Content-Security-Policy. Pages may be put in later."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        kind, body, policy = pages.get(head.split()[1].decode(), ("text/plain", b"", "default-src 'none'"))
        writer.write(
            f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
            f"Content-Security-Policy: {policy}\r\n\r\n".encode()
            + body
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def built(folder: Path) -> bytes:
    """The element, built into a folder as its package is."""
    await run("npx", "vite", "build", "-c", ELEMENT / "vite.config.ts", "--outDir", folder, ELEMENT)
    return (folder / "turnwire-session.js").read_bytes()
