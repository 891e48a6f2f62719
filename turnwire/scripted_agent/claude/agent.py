"""The agent's life: start, one turn per prompt, the end of stdin, the exit code."""

import asyncio
import os
import sys

from turnwire.scripted_agent.claude.answers import Answers
from turnwire.scripted_agent.claude.claude_session import ClaudeSession, Options
from turnwire.scripted_agent.claude.control import answer_control
from turnwire.scripted_agent.claude.host import BadInput, Host, Prompt
from turnwire.scripted_agent.claude.turn import TurnPlayer
from turnwire.scripted_agent.claude.written_lines import Wire
from turnwire.scripted_agent.script import Script


def _die(error: BadInput) -> None:
    """End the process at once, as the CLI does on unreadable input."""
    print(error, file=sys.stderr, flush=True)
    os._exit(1)


async def play_script(script: Script, options: Options, wire: Wire) -> int:
    """Play a script against the host on stdin and stdout until stdin ends; returns the exit code."""
    dialect = options.dialect
    host = Host(wire.uuid, dialect.hear, dies_on_unknown_type=wire.quirks.dies_on_unknown_type)
    session = ClaudeSession(script, options, wire, host, Answers(script))
    host.on_request = lambda request_id, request: answer_control(session, request_id, request)
    host.on_prompt = session.tell_queued
    if not dialect.is_foreign:
        host.on_bad_input = _die
    if "stdin_close" not in script.ignore:
        host.on_close = lambda: host.deny_pending(
            "AbortError: Tool permission stream closed before response received"
        )
    await TurnPlayer(session, []).play(script.start)
    await asyncio.sleep(script.startup)
    if options.prompt is None:
        host.start()
    else:
        host.prompts.append(Prompt(options.prompt, content=options.prompt))
        host.closed = True
    await _turns(session)
    if "stdin_close" in script.ignore:
        await asyncio.Event().wait()
    return script.exit_code


async def _turns(session: ClaudeSession) -> None:
    """Play turns until stdin ends."""
    host, played = session.host, 0
    while True:
        waiting = bool(host.prompts)
        prompt = await host.wait_for_prompt()
        if prompt is None:
            return
        prompts = [prompt]
        # what was queued while a turn ran becomes one turn from 2.1 on, and one turn each before
        if played and waiting and session.wire.quirks.merges_queue:
            prompts.extend(host.prompts)
            host.prompts.clear()
        session.tell_injected(prompts)
        session.has_result = False
        async with asyncio.TaskGroup() as turns:
            session.running = turns.create_task(TurnPlayer(session, prompts).run())
        played += 1
