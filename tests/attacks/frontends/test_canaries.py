"""Secrets in every place a session has, and faults of our own in the middle of it: nothing of them in what is logged."""

from pathlib import Path

import pytest
from hostile_cli import hostile_cli
from otlp_collector import otlp_collector

from live import Frontend, gone
from recordings import ROOT
from turnwire.client import CommandFailed, connect
from turnwire.client.events import MessageChunk, PermissionRequest, ProcessStatus
from turnwire_process import environment, turnwire

pytestmark = pytest.mark.long

FAULTY = """
import turnwire.normalize.claude.core as core
import turnwire.sessions.pipeline as pipeline
import turnwire.sessions.live_host as host

sound, kept, execute = core.ClaudeCore.receive, pipeline.Pipeline.publish, host.LiveHost.execute

def watcher(item, events):
    if b"the watcher fails" in getattr(item, "line", b""):
        raise KeyError(f"{item} {events}")

async def publish(self, batch):
    if watcher not in self._observers and not getattr(self, "failed", False):
        self.failed = True
        self._observers.append(watcher)
    await kept(self, batch)

def receive(self, message, line=None):
    if line is not None and b"the translator fails" in line:
        raise ValueError(f"cannot translate {line} {message}") from KeyError(message)
    return sound(self, message, line)

async def fail(self, command, frontend):
    if getattr(command, "text", "").startswith("the host fails"):
        raise LookupError(f"cannot do {command}")
    return await execute(self, command, frontend)

core.ClaudeCore.receive, pipeline.Pipeline.publish, host.LiveHost.execute = receive, publish, fail
"""
"""Read by Python at the start of turnwire: the first words of a line say what is to fail at it."""

TALKS = """
for words in ("the watcher fails", "the translator fails"):
    say(type="assistant", message={"content": [{"type": "text", "text": "CANARY-body " + os.environ["TOLD"]}]})
    body = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": words + " CANARY-body"}}
    say(type="control_request", request_id=words, request=body)
    answer_to(words)
"""


async def test_no_log_and_no_error_holds_a_prompt_a_body_a_token_or_a_variable(tmp_path: Path) -> None:
    patched = tmp_path / "patched"
    patched.mkdir()
    (patched / "sitecustomize.py").write_text(FAULTY, encoding="utf-8")
    recordings = tmp_path / "recordings"
    env = environment(
        tmp_path / "home", PYTHONPATH=f"{patched}:{ROOT}", TOLD="x", TURNWIRE_PASS_ENV="TOLD,UNSAID"
    )
    # spans carry lines by design, cut at a limit: without them nothing of a session is left in a span
    env |= {"UNSAID": "CANARY-variable", "TURNWIRE_TRACE_LIMIT": "0"}
    command = ("run", "--workspace", str(tmp_path), "--record", "--record-dir", str(recordings))
    cli = hostile_cli(tmp_path, TALKS)
    with otlp_collector(tmp_path) as collector:
        env |= collector.environment("http/protobuf")
        async with turnwire(tmp_path, *command, "--", *cli, env=env) as served:
            token = served.token
            async with connect(served.url) as client:
                frontend = Frontend(client, client.known_sessions[-1].session)
                with pytest.raises(CommandFailed) as failed:
                    await frontend.prompt("the host fails CANARY-prompt")
                await frontend.prompt("CANARY-prompt")
                await frontend.until(MessageChunk)
                await frontend.respond(await frontend.until(PermissionRequest))
                await gone([status.pid for status in frontend.seen(ProcessStatus) if status.pid])
        spans = str(collector.spans())
    log = (tmp_path / "turnwire.log").read_text()
    for told in ("LookupError", "KeyError", "ValueError", "session failed", "was removed"):
        assert told in log
    assert "turnwire" in spans
    for text in (log, str(failed.value), spans):
        assert "CANARY" not in text
        assert token not in text
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert b"CANARY-variable" not in file.read_bytes(), file
            if file.name != "access.json":
                assert token.encode() not in file.read_bytes(), file
