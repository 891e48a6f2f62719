"""turnwire as an agent of ACP, version 1 or 2: the methods that an editor may call.

Sessions are turnwire's own, by its own names. They are started by a `Starter`, which is the hub's `session.create` or, for
an editor that has started the sidecar itself, the operator's own way, which may choose folders and MCP servers.
"""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import msgspec

from turnwire.client import Client, CommandFailed, SessionSummary, TurnwireError
from turnwire.client.commands import AgentOptions
from turnwire.client.values import JsonObject, JsonValue
from turnwire.frontends.acp import json_rpc
from turnwire.frontends.acp.choices import DEFAULT_MODEL
from turnwire.frontends.acp.dialogs import DialogCapabilities
from turnwire.frontends.acp.editor_session import Editor, EditorSession
from turnwire.frontends.acp.json_rpc import Lines, Peer, ResultThen, RpcError
from turnwire.frontends.acp.prompts import BadPrompt
from turnwire.frontends.acp.version2 import hello

FIRST, LATEST = 1, 2
"""Versions of the protocol: an editor that asks for a later one gets the latest."""

CODES = {
    "invalid_params": json_rpc.INVALID_PARAMS,
    "not_allowed": json_rpc.INVALID_PARAMS,
    "unknown_session": json_rpc.RESOURCE_NOT_FOUND,
}
"""JSON-RPC's codes for the hub's; any other is an internal error."""


class Params(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Parameters of a method; unlisted ones are ignored, as ACP demands."""


class Initialize(Params, frozen=True, kw_only=True):
    """What an editor says of itself."""

    protocol_version: int
    client_capabilities: JsonObject = {}
    capabilities: JsonObject = {}
    """The same in version 2."""


class NewSession(Params, frozen=True, kw_only=True):
    """What a session is to be, or is taken up with."""

    cwd: str
    mcp_servers: list[JsonObject] = []
    additional_directories: list[str] = []
    meta: JsonObject | None = msgspec.field(name="_meta", default=None)
    """`turnwire.agent` names the agent that a new session is to have."""


class KnownSession(Params, frozen=True, kw_only=True):
    """A session by its name."""

    session_id: str


class LoadSession(NewSession, frozen=True, kw_only=True):
    """A session that is taken up."""

    session_id: str
    replay_from: JsonObject | None = None
    """Version 2: `{"type": "start"}` has the past told, as session/load does in version 1."""


class ListSessions(Params, frozen=True, kw_only=True):
    """Which sessions to list."""

    cwd: str | None = None


class PromptSession(KnownSession, frozen=True, kw_only=True):
    """What is said."""

    prompt: list[JsonValue]


class SetMode(KnownSession, frozen=True, kw_only=True):
    """The mode to be in."""

    mode_id: str


class SetOption(KnownSession, frozen=True, kw_only=True):
    """The config option to change."""

    config_id: str
    value: str


@dataclass(frozen=True, slots=True)
class SessionParams:
    """What an editor wants of a session that is begun or taken up."""

    cwd: str
    mcp_servers: JsonObject
    """As Claude Code's --mcp-config has them: by name."""
    directories: Sequence[str] = ()
    agent: str | None = None
    """Which of the configured agents; the default one when absent."""


class Starter(Protocol):
    """Begins sessions."""

    async def begin(self, wish: SessionParams) -> str:
        """Begin a session and return its name; raises TurnwireError."""

    async def claim(self, session: str, wish: SessionParams) -> None:
        """Note that an editor takes up a session of before."""


class HubStarter:
    """Begins sessions as any frontend does: what the operator lets frontends choose can be chosen."""

    def __init__(self, client: Client, *, agent: str | None = None) -> None:
        self._client = client
        self._agent = agent

    async def begin(self, wish: SessionParams) -> str:
        """Begin a session."""
        return await self._client.create(
            workspace=wish.cwd,
            agent=wish.agent or self._agent,
            mcp_servers=wish.mcp_servers or None,
            options=AgentOptions(add_dirs=list(wish.directories)) if wish.directories else None,
        )

    async def claim(self, session: str, wish: SessionParams) -> None:
        """It is as it was begun."""


_Methods: TypeAlias = dict[str, tuple[type[Any], Callable[[Any], Awaitable[JsonValue | ResultThen]]]]

_FIRST_ALONE = frozenset({"session/load", "session/set_mode"})
"""Methods that version 2 has no more: it resumes with `replayFrom`, and modes are config options."""


class Agent:
    """Serves one editor."""

    def __init__(
        self, client: Client, peer: Peer, tasks: asyncio.TaskGroup, starter: Starter, *, version: str
    ) -> None:
        self._client = client
        self._peer = peer
        self._tasks = tasks
        self._starter = starter
        self._version = version
        self._editor: Editor | None = None
        self._sessions: dict[str, EditorSession] = {}
        self._methods: _Methods = {
            "initialize": (Initialize, self._initialize),
            "session/new": (NewSession, self._new),
            "session/load": (LoadSession, self._load),
            "session/resume": (LoadSession, self._resume),
            "session/fork": (LoadSession, self._fork),
            "session/list": (ListSessions, self._list),
            "session/close": (KnownSession, self._close),
            "session/delete": (KnownSession, self._delete),
            "session/prompt": (PromptSession, self._prompt),
            "session/cancel": (KnownSession, self._cancel),
            "session/set_mode": (SetMode, self._set_mode),
            "session/set_config_option": (SetOption, self._set_option),
        }

    async def handle(self, method: str, params: JsonValue) -> JsonValue | ResultThen:
        """Do what an editor asks; raises RpcError."""
        if method not in self._methods or (self._is_version2 and method in _FIRST_ALONE):
            raise RpcError(json_rpc.METHOD_NOT_FOUND, f"there is no method {method[: json_rpc.SHOWN]!r}")
        if self._editor is None and method != "initialize":
            raise RpcError(json_rpc.INVALID_REQUEST, "`initialize` comes first")
        kind, do = self._methods[method]
        try:
            return await do(msgspec.convert(params, kind))
        except (msgspec.ValidationError, BadPrompt) as error:
            raise RpcError(json_rpc.INVALID_PARAMS, f"{method}: {error}") from error
        except CommandFailed as refused:
            code = CODES.get(refused.code, json_rpc.INTERNAL_ERROR)
            data = {"code": refused.code, **({"field": refused.field} if refused.field else {})}
            raise RpcError(code, refused.message, data) from refused
        except TurnwireError as error:
            raise RpcError(json_rpc.INTERNAL_ERROR, str(error)) from error

    @property
    def _is_version2(self) -> bool:
        return self._editor is not None and self._editor.version > FIRST

    def leave(self) -> None:
        """Follow no session any more; they go on."""
        for session in self._sessions.values():
            session.leave()
        self._sessions.clear()

    async def _initialize(self, params: Initialize) -> JsonObject:
        version = LATEST if params.protocol_version >= LATEST else FIRST
        capabilities = params.client_capabilities if version == FIRST else params.capabilities
        offered = capabilities.get("elicitation")
        offers = offered if isinstance(offered, dict) else {}
        meta = capabilities.get("_meta")
        self._editor = Editor(
            DialogCapabilities(form=offers.get("form") is not None, url=offers.get("url") is not None),
            shows_terminals=version > FIRST
            or (isinstance(meta, dict) and meta.get("terminal_output") is True),
            version=version,
        )
        if version > FIRST:
            return hello(self._version)
        return {
            "protocolVersion": FIRST,
            "agentInfo": {"name": "turnwire", "title": "turnwire", "version": self._version},
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
                "mcpCapabilities": {"http": True, "sse": True},
                "sessionCapabilities": {
                    name: {}
                    for name in ("list", "resume", "fork", "close", "delete", "additionalDirectories")
                },
            },
            "authMethods": [],
        }

    async def _new(self, params: NewSession) -> ResultThen:
        session = await self._starter.begin(_wish(params))
        return await self._joined(session, shows_past=False, named=True)

    async def _load(self, params: LoadSession) -> ResultThen:
        await self._starter.claim(params.session_id, _wish(params))
        return await self._joined(params.session_id, shows_past=True)

    async def _resume(self, params: LoadSession) -> ResultThen:
        await self._starter.claim(params.session_id, _wish(params))
        replay = params.replay_from or {}
        return await self._joined(params.session_id, shows_past=replay.get("type") == "start")

    async def _fork(self, params: LoadSession) -> ResultThen:
        await self._starter.claim(params.session_id, _wish(params))
        session = await self._client.fork(params.session_id)
        return await self._joined(session, shows_past=False, named=True)

    async def _joined(self, name: str, *, shows_past: bool, named: bool = False) -> ResultThen:
        assert self._editor is not None
        summary = await self._summary(name)
        if (former := self._sessions.pop(name, None)) is not None:
            former.leave()
        session = EditorSession(self._client, self._peer, self._tasks, self._editor, summary)
        self._sessions[name] = session
        try:
            await session.join(shows_past=shows_past)
        except BaseException:
            session.leave()
            if self._sessions.get(name) is session:
                del self._sessions[name]
            raise
        return ResultThen({**({"sessionId": name} if named else {}), **session.choices}, session.begin)

    async def _summary(self, name: str) -> SessionSummary:
        for summary in await self._client.sessions():
            if summary.session == name:
                return summary
        raise RpcError(json_rpc.RESOURCE_NOT_FOUND, f"there is no session {name[: json_rpc.SHOWN]!r}")

    async def _list(self, params: ListSessions) -> JsonObject:
        found = [
            {
                "sessionId": each.session,
                "cwd": each.workspace or "/",
                **({"title": each.title} if each.title else {}),
                **({"updatedAt": each.updated} if each.updated else {}),
                "_meta": {
                    "turnwire": {"created": each.created, "state": each.state, "pending": each.pending}
                },
            }
            for each in sorted(
                await self._client.sessions(),
                key=lambda each: each.updated or each.created or "",
                reverse=True,
            )
            if params.cwd is None or each.workspace == (params.cwd.rstrip("/") or "/")
        ]
        return {"sessions": found}

    async def _close(self, params: KnownSession) -> JsonObject:
        await self._client.close_session(params.session_id)
        if (session := self._sessions.pop(params.session_id, None)) is not None:
            session.leave()
        return {}

    async def _delete(self, params: KnownSession) -> JsonObject:
        await self._client.delete_session(params.session_id)
        if (session := self._sessions.pop(params.session_id, None)) is not None:
            session.leave()
        return {}

    async def _prompt(self, params: PromptSession) -> JsonObject:
        session = self._open(params.session_id)
        return await (session.insert if self._is_version2 else session.prompt)(params.prompt)

    async def _cancel(self, params: KnownSession) -> None:
        await self._open(params.session_id).cancel()

    async def _set_mode(self, params: SetMode) -> JsonObject:
        session = self._open(params.session_id)
        await self._running(params.session_id, self._client.set_permission_mode, params.mode_id)
        await session.update(*session.chosen(mode=params.mode_id))
        return {}

    async def _set_option(self, params: SetOption) -> JsonObject:
        session = self._open(params.session_id)
        match params.config_id:
            case "mode":
                await self._running(params.session_id, self._client.set_permission_mode, params.value)
                updates = session.chosen(mode=params.value)
            case "model":
                model = None if params.value == DEFAULT_MODEL else params.value
                await self._running(params.session_id, self._client.set_model, model)
                updates = session.chosen(model=params.value)
            case other:
                raise RpcError(
                    json_rpc.INVALID_PARAMS, f"there is no config option {other[: json_rpc.SHOWN]!r}"
                )
        await session.update(*updates)
        return {"configOptions": session.choices["configOptions"]}

    async def _running(
        self, session: str, command: Callable[[str, Any], Awaitable[None]], value: str | None
    ) -> None:
        """Do a command of a running CLI, which is started for it where none runs."""
        try:
            await command(session, value)
        except CommandFailed as refused:
            if refused.code != "not_running":
                raise
            await self._client.resume(session)
            await command(session, value)

    def _open(self, name: str) -> EditorSession:
        session = self._sessions.get(name)
        if session is None:
            raise RpcError(
                json_rpc.RESOURCE_NOT_FOUND,
                f"the session {name[: json_rpc.SHOWN]!r} is not open; open it with session/{'resume' if self._is_version2 else 'load'}",
            )
        return session


def _wish(params: NewSession) -> SessionParams:
    if not params.cwd.startswith("/"):
        raise RpcError(
            json_rpc.INVALID_PARAMS, f"`cwd` must be an absolute path, not {params.cwd[: json_rpc.SHOWN]!r}"
        )
    servers = dict(_server(number, each) for number, each in enumerate(params.mcp_servers))
    match params.meta:
        case {"turnwire": {"agent": str(agent)}}:
            return SessionParams(params.cwd, servers, params.additional_directories, agent)
        case _:
            return SessionParams(params.cwd, servers, params.additional_directories)


def _server(number: int, server: JsonObject) -> tuple[str, JsonObject]:
    """Return the name of an MCP server, and the server as Claude Code's --mcp-config has it."""
    match server:
        case {"name": str(name), "url": str(url), "type": "http" | "sse" as kind}:
            return name, {"type": kind, "url": url, "headers": _pairs(server.get("headers"))}
        case {"name": str(name), "command": str(command)}:
            arguments = server.get("args")
            given = list(map(str, arguments)) if isinstance(arguments, list) else []
            return name, {"command": command, "args": given, "env": _pairs(server.get("env"))}
        case _:
            raise RpcError(
                json_rpc.INVALID_PARAMS,
                f"mcpServers[{number}] cannot be started: a server needs a name and a command, or a name and an http or sse url",
            )


def _pairs(pairs: JsonValue) -> dict[str, str]:
    found = pairs if isinstance(pairs, list) else []
    return {
        str(each["name"]): str(each["value"])
        for each in found
        if isinstance(each, dict) and {"name", "value"} <= each.keys()
    }


async def serve(
    client: Client, chunks: AsyncIterable[bytes], lines: Lines, starter: Starter, *, version: str
) -> None:
    """Serve an editor until it has nothing more to say."""
    peer = Peer(lines)
    async with asyncio.TaskGroup() as tasks:
        agent = Agent(client, peer, tasks, starter, version=version)
        try:
            await peer.serve(chunks, agent.handle)
        finally:
            agent.leave()
