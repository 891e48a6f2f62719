"""A principal with its own sessions alone wants to follow what the operator's CLI says in a terminal, by a hand-over of its own session."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from kept_sessions import kept
from websockets.asyncio.client import connect as open_websocket

from live import Frontend
from turnwire.client import commands as ask
from turnwire.client import connect
from turnwire.client.events import ProcessStatus
from turnwire_process import environment, lines_of, preloaded_turnwire

pytestmark = pytest.mark.long

SECRET = b"the-word-of-the-operator"
LINES = kept("2.1.330", "files-and-shell").file.read_bytes().splitlines(keepends=True)


async def test_a_hand_over_without_a_terminal_follows_nobodys_conversation(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text(
        f'#!/bin/sh\nexec {sys.executable} -m turnwire.scripted_agent {tmp_path}/s.yaml "$@"\n'
    )
    program.chmod(0o755)
    (tmp_path / "s.yaml").write_text("fallback: {steps: [{text: 'echo: {prompt}'}]}")
    (tmp_path / "turnwire.toml").write_text(
        f'agent = "claude"\n[agents.claude]\ncommand = {json.dumps([str(program)])}\n'
    )
    work = tmp_path / "work"
    work.mkdir()
    env = environment(tmp_path / "home", TURNWIRE_PASS_ENV="PYTHONPATH")
    # the operator's own CLI, as it notes what it has open
    operators = await asyncio.create_subprocess_exec("sleep", "1000")
    at_home = tmp_path / "home" / ".claude"
    conversation = at_home / "projects" / "p" / "of-the-operator.jsonl"
    conversation.parent.mkdir(parents=True)
    conversation.write_bytes(b"".join(LINES[:10]))
    (at_home / "sessions").mkdir()
    note = {"pid": operators.pid, "sessionId": "of-the-operator", "status": "idle"}
    (at_home / "sessions" / f"{operators.pid}.json").write_text(json.dumps(note))
    try:
        async with preloaded_turnwire(tmp_path, "serve", env=env) as served:
            place = ("--state-dir", str(tmp_path / "state"))
            (made,) = await lines_of(tmp_path, env, "token", "create", "ann", *place, "--sessions", "own")
            bearer = {"Authorization": f"Bearer {made.decode()}"}
            async with (
                connect(served.base, made.decode()) as ann,
                open_websocket(served.base.replace("http", "ws") + "/ws", additional_headers=bearer) as raw,
            ):
                mine = await Frontend(ann, await ann.create(workspace=str(work))).caught_up()
                asked = 0

                async def sent(kind: str, **more: object) -> dict[str, Any]:
                    nonlocal asked
                    asked += 1
                    await raw.send(
                        json.dumps({"type": kind, "id": str(asked), "session": mine.session, **more})
                    )
                    async with asyncio.timeout(60):
                        while True:
                            frame: dict[str, Any] = json.loads(await raw.recv())
                            if frame.get("id") == str(asked):
                                return frame

                for pid in (1, os.getpid(), operators.pid):
                    for named in ({"pid": pid}, {"ticket": str(pid)}, {"ticket": "", "pid": pid}, {}):
                        for new in (True, False):
                            ways = {"host": "x", "new": new, "program": operators.pid, **named}
                            answer = await sent("native.begin", **ways)
                            assert not answer["ok"] or "argv" not in answer["result"], (ways, answer)
                assert not (await sent("native.begin", host="x", program=operators.pid))["result"].get("argv")
                conversation.write_bytes(b"".join(LINES).replace(b"hello", SECRET) + SECRET)
                # her session is hers as before, and nothing has come into it
                assert [one.in_terminal for one in await ann.sessions()] == [None]
                await mine.turn("still here")
                assert "echo: still here" in mine.text()
                events = await ann.command(ask.EventsGet(session=mine.session))
                assert "of-the-operator" not in str(events)
                assert len(mine.seen(ProcessStatus)) == 1
    finally:
        operators.kill()
        await operators.wait()
