"""The server: its tools and resources, each a command of a hub. What a token may not do the hub refuses."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated, TypeAlias

import msgspec
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from turnwire.client import Answer, Client, CommandFailed, TurnwireError, connect
from turnwire.client.commands import LibraryExport, WorkspaceDiff
from turnwire.client.values import JsonObject
from turnwire.protocol.visible import to_json, visible

from .turns import Progress, TurnReport, end_of, watch

NAME = "mcp"
"""Shown as `by` in the decisions that are taken here."""

WAIT_S = 300.0
"""How long a tool waits for a turn's end, unless it is told."""

MOST_S = 3600.0
"""The longest that a tool waits."""

CONNECT_S = 10.0
"""How long the hub may take to answer."""

INSTRUCTIONS = """\
turnwire runs coding agents. Start a session or take one from list_sessions, and prompt it: `prompt` waits for the end of the turn.
A report of the state "waiting" has requests. Answer questions with answer_question. Permissions are a human's, unless the tool decide
is there. A report of the state "running" means that the time was up: `wait` goes on waiting."""

Seconds: TypeAlias = Annotated[
    float, Field(gt=0, le=MOST_S, description="How long to wait for the turn's end, in seconds.")
]
Session: TypeAlias = Annotated[str, Field(description="The session's id, as list_sessions gives it.")]
Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Client]]


def to_hub(url: str, token: str | None) -> Connect:
    """Return what connects to a hub; each call of a tool has a connection of its own. What the hub refuses is an error of the tool."""

    @asynccontextmanager
    async def connecting() -> AsyncIterator[Client]:
        try:
            async with connect(url, token, name=NAME, timeout=CONNECT_S) as client:
                yield client
        except TurnwireError as error:
            raise ToolError(visible(str(error))) from error

    return connecting


def create_server(hub: Connect, *, decides: bool = False, version: str = "") -> MCPServer[None]:
    """Make the server. `decides` offers the tool that answers permission requests."""
    server: MCPServer[None] = MCPServer(
        "turnwire", instructions=INSTRUCTIONS, version=version, log_level="WARNING"
    )
    _add_sessions(server, hub)
    _add_turns(server, hub)
    _add_answers(server, hub, decides=decides)
    _add_resources(server, hub)
    return server


def _add_sessions(server: MCPServer[None], hub: Connect) -> None:
    @server.tool()
    async def list_sessions() -> list[JsonObject]:
        """List the sessions: id, title, agent, folder, state, how many requests wait, cost in US dollars."""
        async with hub() as client:
            return [
                {
                    "session": one.session,
                    "title": one.title,
                    "agent": one.agent,
                    "folder": one.workspace,
                    "state": one.state,
                    "waiting": one.pending,
                    "cost_usd": one.total_cost_usd,
                }
                for one in await client.sessions()
            ]

    @server.tool()
    async def start_session(
        workspace: Annotated[
            str | None, Field(description="The folder to work in; the hub's own when absent.")
        ] = None,
        agent: Annotated[str | None, Field(description="Which agent; the hub's default when absent.")] = None,
    ) -> JsonObject:
        """Start a session of an agent; prompt it with `prompt`."""
        async with hub() as client:
            return {"session": await client.create(workspace=workspace, agent=agent)}

    @server.tool()
    async def interrupt(session: Session) -> JsonObject:
        """Stop the running turn of a session."""
        async with hub() as client:
            await client.interrupt(session)
            return {"session": session, "interrupted": True}


def _add_turns(server: MCPServer[None], hub: Connect) -> None:
    @server.tool()
    async def prompt(context: Context, session: Session, text: str, seconds: Seconds = WAIT_S) -> TurnReport:
        """Say something to a session's agent, and wait for the end of the turn. An agent that has ended is started again."""
        async with hub() as client:
            end = await end_of(client, session)
            try:
                said = await client.prompt(session, text)
            except CommandFailed as refused:
                if refused.code != "not_running":
                    raise
                await client.resume(session)
                said = await client.prompt(session, text)
            return await watch(client, session, end, _progress(context), seconds=seconds, prompt=said)

    @server.tool()
    async def wait(context: Context, session: Session, seconds: Seconds = WAIT_S) -> TurnReport:
        """Wait for the end of the turn that runs. If none runs, report the last one."""
        async with hub() as client:
            end = await end_of(client, session)
            return await watch(client, session, end, _progress(context), seconds=seconds)


def _add_answers(server: MCPServer[None], hub: Connect, *, decides: bool) -> None:
    @server.tool()
    async def answer_question(
        session: Session,
        request: Annotated[str, Field(description="The request's id.")],
        answers: Annotated[
            dict[str, str | list[str]] | None,
            Field(
                description="For each question of the request its answer; a list where several may be chosen."
            ),
        ] = None,
        content: Annotated[
            JsonObject | None, Field(description="What a form asks for, as its schema says.")
        ] = None,
        decline: Annotated[bool, Field(description="Answer nothing; the agent goes on without.")] = False,
    ) -> JsonObject:
        """Answer a question or a form that a session's agent asks, or decline it."""
        if (answers is not None) + (content is not None) + decline != 1:
            raise ToolError("Give one of these: answers to questions, the content of a form, or decline.")
        answer = Answer(answers=answers, content=content, action="decline" if decline else "accept")
        async with hub() as client:
            await client.answer(session, request, answer)
            return {"declined" if decline else "answered": request}

    if not decides:
        return

    @server.tool()
    async def decide(
        session: Session,
        request: Annotated[str, Field(description="The request's id.")],
        option: Annotated[str, Field(description="The id of one of its options.")],
        message: Annotated[str | None, Field(description="What to tell the agent, on rejecting.")] = None,
    ) -> JsonObject:
        """Answer a permission request of a session's agent."""
        async with hub() as client:
            await client.respond(session, request, option, message=message)
            return {"decided": request}


def _add_resources(server: MCPServer[None], hub: Connect) -> None:
    @server.resource("turnwire://sessions/{session}/transcript", mime_type="text/markdown")
    async def transcript(session: str) -> str:
        """Read the whole conversation of a session, in Markdown."""
        async with hub() as client:
            document = await client.command(LibraryExport(conversation=f"live:{session}"))
            return document.content

    @server.resource("turnwire://sessions/{session}/changes", mime_type="application/json")
    async def changes(session: str) -> str:
        """Read which files of a session's folder have changed since the last commit, with the lines added and removed."""
        async with hub() as client:
            found = await client.command(WorkspaceDiff(session=session))
            return to_json(msgspec.to_builtins(found))


def _progress(context: Context) -> Progress:
    count = 0

    async def tell(line: str) -> None:
        nonlocal count
        count += 1
        await context.report_progress(count, message=line)

    return tell
