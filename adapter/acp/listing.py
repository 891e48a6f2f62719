"""The conversations that an agent keeps and lists itself: it is started, asked for them page by page, and stopped again."""

import asyncio
import importlib.metadata
from collections.abc import Sequence
from itertools import islice

from turnwire._runtime.task_owner import TaskOwner
from turnwire.adapter.acp.client import AcpClient, messages_of
from turnwire.adapter.acp.handshake import client_capabilities, initialize
from turnwire.adapter.family import KeptConversation
from turnwire.adapter.options import SessionOptions, check_executable
from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.process.shutdown import kill_on_exit, shut_down
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import RequestFailed
from turnwire.normalize.payloads.fields import fields, objects
from turnwire.protocol.acp.messages import Request
from turnwire.protocol.json_values import Json, JsonObject, text_at

METHOD_NOT_FOUND = -32601
"""JSON-RPC's error: nothing is done for an agent that is only asked what it keeps."""

PAGES = 50
"""That an agent is asked for, at most."""

LONGEST = 300
"""Characters of a title, or of an id, that are taken."""


async def list_conversations(options: SessionOptions, most: int) -> Sequence[KeptConversation]:
    """Return what an agent lists, in its order, at most so many; raises what an Opener does, RequestFailed and ProcessGone."""
    check_executable(options.executable)
    process = await CliProcess.spawn(
        options.executable,
        workspace=options.workspace,
        environment=options.environment,
        sandbox=options.box,
    )
    client = AcpClient(process, on_sent=lambda _: None, line_limit=options.line_limit)
    async with kill_on_exit(process), TaskOwner() as tasks:
        tasks.keep("lines to an agent that lists", client.write_posted())
        reading = tasks.keep("lines of an agent that lists", _read(client, process))
        try:
            return await _list(client, options, most)
        finally:
            await shut_down(process, options.stop)
            await asyncio.wait((reading,))


async def _read(client: AcpClient, process: CliProcess) -> None:
    async for batch in client.batches():
        for received in batch:
            for message in messages_of(received.message):
                if isinstance(message, Request):
                    client.refuse(message.id, METHOD_NOT_FOUND, "conversations are listed here, and no more")
    client.give_up(ProcessGone(f"the agent has ended: {process.stderr_tail.strip()[-LONGEST:]}"))


async def _list(client: AcpClient, options: SessionOptions, most: int) -> list[KeptConversation]:
    nothing = client_capabilities(reads=False, writes=False, terminals=False)
    release = importlib.metadata.version("turnwire")
    facts = await initialize(client, nothing, release, options.initialize_deadline)
    if not facts.lists:
        raise RequestFailed(f"{facts.name or 'the agent'} does not list its conversations")
    found: dict[str, KeptConversation] = {}
    cursor: str | None = None
    for _ in range(PAGES):
        params: JsonObject = {} if cursor is None else {"cursor": cursor}
        said = await client.request("session/list", params, options.initialize_deadline)
        for one in islice(_read_page(said), most - len(found)):
            found.setdefault(one.id, one)
        cursor = text_at(said, "nextCursor") or None
        if cursor is None or len(found) >= most:
            break
    return list(found.values())


def _read_page(said: Json) -> list[KeptConversation]:
    """Return what a page has; what is of another shape is skipped."""
    return [
        KeptConversation(
            id=name,
            folder=text_at(one, "cwd") or None,
            title=text_at(one, "title")[:LONGEST] or None,
            updated=text_at(one, "updatedAt") or None,
        )
        for one in objects(fields(said), "sessions")
        if 0 < len(name := text_at(one, "sessionId")) <= LONGEST
    ]
