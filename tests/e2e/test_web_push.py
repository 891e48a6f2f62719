"""Web push from a real turnwire to a push service on loopback, as the browser at the other end reads it."""

from pathlib import Path

import pytest
from push_service import CERTIFICATE, push_service

from live import preloaded_running as running
from live import scripted_setup
from turnwire.client import CommandFailed, connect
from turnwire.client.commands import PermissionRespond, PushKey, PushSubscribe
from turnwire.client.events import Complete

pytestmark = pytest.mark.long


async def test_browsers_are_told_what_is_asked_and_answer_it_once(tmp_path: Path) -> None:
    async with push_service() as service:
        named = {"TURNWIRE_PUSH_SERVICES": f"127.0.0.1:{service.port}", "SSL_CERT_FILE": str(CERTIFICATE)}
        async with running(tmp_path, scripted_setup(tmp_path, "2.1.330"), **named) as (frontend, served):
            mine, looker, gone = (service.subscriber(name) for name in ("mine", "looker", "gone"))
            service.answers["/gone"] = b"410 Gone"
            told = await frontend.client.command(PushKey())
            async with connect(served.view_url) as viewer:
                await viewer.command(PushSubscribe(**looker.fields))
            for browser in (mine, gone):
                await frontend.client.command(PushSubscribe(**browser.fields))
            with pytest.raises(CommandFailed, match="push service"):
                await frontend.client.command(
                    PushSubscribe(**{**mine.fields, "endpoint": "https://169.254.169.254/latest/meta-data"})
                )
            await frontend.prompt("touch made.txt")
            pushed = {one.path: one for one in [await service.next() for _ in range(3)]}
            asked = mine.read(pushed["/mine"].body)
            assert (asked["body"], asked["session"], asked["allow"]) == (
                "asks: touch made.txt",
                served.session,
                "allow_once",
            )
            seen = looker.read(pushed["/looker"].body)
            assert seen.keys() & {"allow", "reject"} == set()
            claims = pushed["/mine"].claims(str(told.key))
            assert claims["aud"] == f"https://127.0.0.1:{service.port}"
            assert pushed["/mine"].headers["urgency"] == "high"
            assert b"made.txt" not in pushed["/mine"].body

            answer = PermissionRespond(
                session=served.session, pending_id=asked["pending"], option_id=asked["allow"]
            )
            await frontend.client.command(answer)
            with pytest.raises(CommandFailed, match=r"answered") as late:
                await frontend.client.command(answer)
            assert late.value.code == "already_answered"
            await frontend.until(Complete)
            # Whom the service did not know any more is told nothing more.
            pushed = {one.path: one for one in [await service.next() for _ in range(2)]}
            assert mine.read(pushed["/mine"].body)["body"] == "has finished"
            assert "/gone" not in pushed
