"""An agent whose lines come a byte at a time, and one that closes its output and lives on."""

from pathlib import Path

import pytest
from hostile_cli import hostile_cli

from live import Frontend, descendants
from turnwire.client import connect
from turnwire.client.events import Complete, MessageChunk, Notice, ProcessStatus
from turnwire_process import turnwire
from waiting import until

pytestmark = pytest.mark.long

BYTE_BY_BYTE = """
if PROMPT == "hello":
    return end()
line = json.dumps({"type": "assistant", "message": {"id": "m1", "role": "assistant", "model": "m", "type": "message",
                   "content": [{"type": "text", "text": "slöw"}]}}, ensure_ascii=False).encode() + b"\\n"
for number in range(len(line)):
    write(line[number : number + 1])
    time.sleep(0.02)
end()
"""


async def test_a_line_that_comes_a_byte_at_a_time_is_one_line(tmp_path: Path) -> None:
    """Bytes are no lines: an agent that says none for longer than configured is called stalled, and its line comes whole."""
    cli = hostile_cli(tmp_path, BYTE_BY_BYTE)
    (tmp_path / "turnwire.toml").write_text("stall_after_s = 1\n")
    async with (
        turnwire(tmp_path, "run", "--workspace", str(tmp_path), "--", *cli) as served,
        connect(served.url) as client,
    ):
        frontend = Frontend(client, client.known_sessions[-1].session)
        await frontend.turn("hello")  # a slow machine may be silent for longer while the agent begins
        before = len(frontend.seen(ProcessStatus))
        complete = await frontend.turn("go")
        assert complete.data.outcome == "completed"
        assert frontend.text() == "doneslöw"
        states = [event.state for event in frontend.seen(ProcessStatus)[before:]]
        assert states
        assert states == ["stalled", "resumed"] * (len(states) // 2)
        second = await frontend.turn("again")
        assert second.data.outcome == "completed"
        assert frontend.text() == "doneslöwslöw"


CLOSES_ITS_OUTPUT = """
say(type="assistant", message={"id": "m1", "role": "assistant", "model": "m", "type": "message",
    "content": [{"type": "text", "text": "last words"}]})
os.close(1)
time.sleep(600)
"""


async def test_an_agent_that_closes_its_output_and_lives_on_is_ended(tmp_path: Path) -> None:
    cli = hostile_cli(tmp_path, CLOSES_ITS_OUTPUT)
    async with (
        turnwire(tmp_path, "run", "--workspace", str(tmp_path), "--", *cli) as served,
        connect(served.url) as client,
    ):
        frontend = Frontend(client, client.known_sessions[-1].session)
        await frontend.prompt("go")
        await frontend.until(MessageChunk)
        complete = await frontend.until(Complete)
        assert complete.data.outcome == "process_exited"
        await frontend.until(ProcessStatus, lambda status: status.state == "exited")
        assert frontend.text() == "last words"
        assert [event.kind for event in frontend.seen(Notice)] == ["lived_on"]
        # the one that is left would end what is left, should the sidecar be killed
        await until(lambda: len(descendants(served.process.pid)) <= 1)
