"""Attacks by web push: whoever has a token names an address that turnwire is to call, or a service sends it elsewhere."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from push_service import CERTIFICATE, push_service

from live import preloaded_running, scripted_setup
from turnwire.client import CommandFailed, connect
from turnwire.client.commands import PushSubscribe
from turnwire.client.events import Complete, PermissionRequest

pytestmark = pytest.mark.long


@asynccontextmanager
async def inside() -> AsyncIterator[tuple[int, list[str]]]:
    """Something in the network behind: its port, and who has called."""
    called: list[str] = []

    async def take(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        called.append("called")
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], called
    finally:
        server.close()
        await server.wait_closed()


async def test_push_leads_nowhere_that_nobody_named(tmp_path: Path) -> None:
    async with push_service() as service, inside() as (port, called):
        named = {
            "TURNWIRE_PUSH_SERVICES": f"127.0.0.1:{service.port},localhost:{port}",
            "SSL_CERT_FILE": str(CERTIFICATE),
            "https_proxy": f"http://127.0.0.1:{port}",
        }
        async with preloaded_running(tmp_path, scripted_setup(tmp_path, "2.1.330"), **named) as (
            frontend,
            served,
        ):
            browser, moved = service.subscriber("mine"), service.subscriber("moved")
            for endpoint in (
                f"https://127.0.0.1:{port}/",
                f"http://127.0.0.1:{service.port}/",
                f"https://fcm.googleapis.com@127.0.0.1:{port}/",
                f"https://127.0.0.1:{port}/fcm.googleapis.com",
                f"https://fcm.googleapis.com:{port}/",
                f"https://[::ffff:127.0.0.1]:{port}/",
                "https://169.254.169.254/latest/meta-data",
                "file:///etc/passwd",
                f"https://127.0.0.1:{service.port}/\r\nX: y",
            ):
                for url in (served.url, served.view_url):
                    async with connect(url) as client:
                        with pytest.raises(CommandFailed) as refused:
                            await client.command(PushSubscribe(**{**browser.fields, "endpoint": endpoint}))
                        assert refused.value.code == "invalid_params"
            # A name that was named counts as long as it leads to public addresses; and a redirect leads nowhere.
            service.answers["/moved"] = b"307 Temporary Redirect\r\nLocation: https://127.0.0.1:%d/" % port
            by_name = {**browser.fields, "endpoint": f"https://localhost:{port}/x"}
            for fields in (by_name, moved.fields, browser.fields):
                await frontend.client.command(PushSubscribe(**fields))
            await frontend.prompt("touch made.txt")
            await frontend.until(PermissionRequest)
            paths = {(await service.next()).path for _ in range(2)}
            assert paths == {"/mine", "/moved"}
            await frontend.respond(frontend.seen(PermissionRequest)[-1])
            await frontend.until(Complete)
            await service.next()
            assert called == []
            state = next((tmp_path / "home").rglob("push.json"), None) or next(tmp_path.rglob("push.json"))
            for kept in (state, state.with_name("vapid.pem")):
                assert kept.stat().st_mode & 0o077 == 0
                assert served.token not in kept.read_text()
