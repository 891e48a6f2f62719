"""A CLI says JSON that is nested without end: one line is lost, and nothing else is."""

from pathlib import Path

import pytest
from hostile_cli import hostile_cli

from live import Frontend
from turnwire.client import connect
from turnwire.client.events import Malformed, PermissionRequest
from turnwire.protocol.parsing.depth import TOO_DEEP
from turnwire_process import turnwire

pytestmark = pytest.mark.long

LOG = 64 * 1024
"""Bytes that the log may have, at most: a line nested deeply is told in a sentence."""

ASKS = """
for depth in (500, 900, 100_000):
    for opens, closes in ((b'{"a":', b"}"), (b"[", b"]")):
        deep = opens * depth + b'"CANARY-nested"' + closes * depth
        body = b'{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":%b}}' % deep
        write(b'{"type":"control_request","request_id":"r","request":%b}\\n' % body)
        assert answer_to("r")["subtype"] == "error"
say(type="control_request", request_id="ok", request={"subtype": "can_use_tool", "tool_name": "Bash", "input": {}})
answer_to("ok")
end()
"""


async def test_a_request_that_is_nested_too_deep_is_refused_and_the_session_goes_on(tmp_path: Path) -> None:
    options = ("--record", "--record-dir", str(tmp_path / "recordings"))
    command = ("run", "--workspace", str(tmp_path), *options, "--", *hostile_cli(tmp_path, ASKS))
    async with turnwire(tmp_path, *command) as served, connect(served.url) as client:
        frontend = Frontend(client, client.known_sessions[-1].session)
        complete = await frontend.turn("go")
    assert complete.data.outcome == "completed"
    assert [event.reason for event in frontend.seen(Malformed)] == [TOO_DEEP] * 6
    assert [event.pending_id for event in frontend.seen(PermissionRequest)] == ["ok"]
    log = (tmp_path / "turnwire.log").read_text()
    assert len(log) < LOG
    assert "CANARY" not in log
    assert "left out" not in log  # whoever looks on at the session still does
