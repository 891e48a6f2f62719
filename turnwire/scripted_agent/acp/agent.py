"""The agent's side of ACP: the answer to each method, and the life of the process.

Sessions live in memory. With `--state FOLDER` they are also saved there, and another process can list and load them.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.scripted_agent.acp.acp_session import AcpSession
from turnwire.scripted_agent.acp.connection import (
    AUTH_REQUIRED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_FOUND,
    Connection,
    RpcError,
)
from turnwire.scripted_agent.acp.turn import TurnPlayer
from turnwire.scripted_agent.claude.answers import Answers
from turnwire.scripted_agent.script import Script

PROTOCOL_VERSION = 1

_SESSION_CAPABILITIES = {
    "session/list": "list",
    "session/fork": "fork",
    "session/resume": "resume",
    "session/close": "close",
    "session/delete": "delete",
}
"""The capability that a method needs."""


async def play_acp(script: Script, put: Callable[[bytes], None], state: Path | None = None) -> int:
    """Play a script against the client on stdin and stdout until stdin ends; returns the exit code."""
    await asyncio.sleep(script.startup)
    async with asyncio.TaskGroup() as tasks:
        connection = Connection(put, tasks)
        agent = Agent(script, connection, state)
        await agent.play_start()
        connection.start()
        await connection.closed.wait()
        if "stdin_close" in script.ignore:
            await asyncio.Event().wait()
        if script.acp.at_eof == "exit":
            for task in connection.running:
                task.cancel()
    return script.exit_code


def _text_of(content: Sequence[Json]) -> str:
    """Return a prompt's text, for a script's `match` and `{prompt}`."""
    said = []
    for block in content:
        match block:
            case {"type": "text", "text": str(text)}:
                said.append(text)
            case {"type": "resource", "resource": {"text": str(text)}}:
                said.append(text)
            case {"type": "resource_link", "uri": str(uri)}:
                said.append(uri)
            case {"type": str(kind)}:
                said.append(f"[{kind}]")
            case other:
                raise RpcError(INVALID_PARAMS, "Invalid params", f"no content block: {other!r}")
    return "\n".join(said)


class Agent:
    """Answers the methods of a client."""

    def __init__(self, script: Script, connection: Connection, state: Path | None) -> None:
        self._script = script
        self._connection = connection
        self._state = state
        self._sessions: dict[str, AcpSession] = {}
        self._client: JsonObject | None = None
        """The client's capabilities; None before `initialize`."""
        self._logged_in = script.acp.login == "none"
        connection.on_request = self._answer
        connection.on_notification = self._notified
        self._methods: dict[str, Callable[[JsonObject], Awaitable[Json]]] = {
            "initialize": self._initialize,
            "authenticate": self._authenticate,
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/fork": self._fork,
            "session/list": self._list,
            "session/close": self._close,
            "session/delete": self._delete,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_option,
            "session/prompt": self._prompt,
        }

    async def play_start(self) -> None:
        """Play the script's start steps before any input: usually a crash, stderr or garbage."""
        session = AcpSession("", "", self._script, self._connection, str, {}, Answers(self._script))
        await TurnPlayer(session, "", []).play(self._script.start)

    @property
    def _capabilities(self) -> JsonObject:
        usual: JsonObject = {
            "loadSession": True,
            "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
            "mcpCapabilities": {"http": True, "sse": True},
            "sessionCapabilities": {"list": {}, "fork": {}, "resume": {}, "close": {}, "delete": {}},
        }
        return {**usual, **self._script.acp.capabilities}

    def _offers(self, method: str) -> bool:
        if method == "session/load":
            return bool(self._capabilities.get("loadSession"))
        if method in _SESSION_CAPABILITIES:
            offered = self._capabilities.get("sessionCapabilities") or {}
            return offered.get(_SESSION_CAPABILITIES[method]) is not None
        if method == "session/set_mode":
            return bool(self._script.acp.modes)
        return method in self._methods

    async def _answer(self, method: str, params: JsonObject) -> Json:
        if not self._offers(method):
            raise RpcError(METHOD_NOT_FOUND, f'"Method not found": {method}', {"method": method})
        if self._client is None and method != "initialize":
            raise RpcError(INVALID_REQUEST, "Invalid request", "initialize comes first")
        if not self._logged_in and method.startswith("session/"):
            raise RpcError(AUTH_REQUIRED, "Authentication required")
        return await self._methods[method](params)

    def _notified(self, method: str, params: JsonObject) -> None:
        session = self._sessions.get(text_at(params, "sessionId"))
        if method == "session/cancel" and session is not None and "interrupt" not in self._script.ignore:
            session.cancel()

    async def _initialize(self, params: JsonObject) -> Json:
        if not isinstance(params.get("protocolVersion"), int):
            raise RpcError(INVALID_PARAMS, "Invalid params", "protocolVersion is a number")
        self._client = params.get("clientCapabilities") or {}
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentCapabilities": self._capabilities,
            "agentInfo": {
                "name": "scripted-agent",
                "title": "Scripted agent",
                "version": self._script.version,
            },
            "authMethods": self._script.acp.auth_methods if self._script.acp.login == "required" else [],
        }

    async def _authenticate(self, params: JsonObject) -> Json:
        known = [method["id"] for method in self._script.acp.auth_methods]
        if params.get("methodId") not in known:
            raise RpcError(INVALID_PARAMS, "Invalid params", f"methodId is one of {', '.join(known)}")
        self._logged_in = True
        return {}

    # sessions

    def _opened(self, params: JsonObject, session_id: str) -> AcpSession:
        cwd = params.get("cwd")
        if not isinstance(cwd, str) or not cwd.startswith("/"):
            raise RpcError(INVALID_PARAMS, "Invalid params", "cwd is an absolute path")
        if not isinstance(params.get("mcpServers", []), list):
            raise RpcError(INVALID_PARAMS, "Invalid params", "mcpServers is a list")
        acp = self._script.acp
        session = AcpSession(
            session_id,
            cwd,
            self._script,
            self._connection,
            lambda: str(uuid4()),
            self._client or {},
            Answers(self._script),
            mode=text_at(acp.modes[0], "id") if acp.modes else "",
            options=list(acp.config_options),
        )
        self._sessions[session_id] = session
        return session

    def _tell_commands(self, session: AcpSession) -> None:
        if self._script.commands:
            commands = [
                {"name": text_at(command, "name"), "description": text_at(command, "description")}
                | ({"input": {"hint": hint}} if (hint := text_at(command, "argumentHint")) else {})
                for command in self._script.commands
            ]
            session.update("available_commands_update", availableCommands=commands)

    def _after_reply(self, act: Callable[[], None]) -> None:
        """Call `act` after the current reply is written."""
        asyncio.get_running_loop().call_soon(act)

    async def _new(self, params: JsonObject) -> Json:
        session = self._opened(params, str(uuid4()))
        self._after_reply(lambda: self._tell_commands(session))
        return {"sessionId": session.id, **session.state()}

    async def _load(self, params: JsonObject) -> Json:
        session = self._found_again(params)
        if not session.said:
            await self._remember(session)
        if self._script.acp.replay == "before_reply":
            self._replay(session)
        else:
            self._after_reply(lambda: self._replay(session))
        self._after_reply(lambda: self._tell_commands(session))
        return session.state()

    async def _resume(self, params: JsonObject) -> Json:
        session = self._found_again(params)
        self._after_reply(lambda: self._tell_commands(session))
        return session.state()

    async def _fork(self, params: JsonObject) -> Json:
        said = list(self._found_again(params).said)
        session = self._opened(params, str(uuid4()))
        session.said = said
        return {"sessionId": session.id, **session.state()}

    def _found_again(self, params: JsonObject) -> AcpSession:
        session_id = text_at(params, "sessionId")
        known = self._sessions.get(session_id)
        if known is not None:
            return known
        kept = self._kept(session_id)
        if not session_id or (kept is None and self._script.resume == "reject"):
            raise RpcError(NOT_FOUND, f"Resource not found: {session_id}", {"sessionId": session_id})
        session = self._opened(params, session_id)
        if kept is not None:
            session.said, session.title = kept["said"], kept["title"]
        return session

    async def _remember(self, session: AcpSession) -> None:
        for past in self._script.acp.history:
            content = [{"type": "text", "text": past.prompt}]
            await TurnPlayer(session, past.prompt, content, past=True).replay(past.steps)

    def _replay(self, session: AcpSession) -> None:
        for update in session.said:
            session.tell(update)

    async def _list(self, params: JsonObject) -> Json:
        known = {session.id: (session.cwd, session.title) for session in self._sessions.values()}
        if self._state is not None:
            for path in sorted(self._state.glob("*.json")):
                kept = json.loads(path.read_text(encoding="utf-8"))
                known.setdefault(path.stem, (kept["cwd"], kept["title"]))
        cwd = params.get("cwd")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return {
            "sessions": [
                {"sessionId": session_id, "cwd": its_cwd, "updatedAt": now}
                | ({"title": title} if title else {})
                for session_id, (its_cwd, title) in known.items()
                if cwd in (None, its_cwd)
            ]
        }

    async def _close(self, params: JsonObject) -> Json:
        session = self._session(params)
        session.cancel()
        del self._sessions[session.id]
        return {}

    async def _delete(self, params: JsonObject) -> Json:
        session_id = text_at(params, "sessionId")
        if (session := self._sessions.pop(session_id, None)) is not None:
            session.cancel()
        if self._kept(session_id) is not None:
            self._path(session_id).unlink()
        return {}

    def _session(self, params: JsonObject) -> AcpSession:
        session_id = text_at(params, "sessionId")
        if session_id not in self._sessions:
            raise RpcError(NOT_FOUND, f"Resource not found: {session_id}", {"sessionId": session_id})
        return self._sessions[session_id]

    # what is kept for the next process

    def _path(self, session_id: str) -> Path:
        assert self._state is not None
        return self._state / f"{session_id}.json"

    def _kept(self, session_id: str) -> JsonObject | None:
        if self._state is None or "/" in session_id or not self._path(session_id).is_file():
            return None
        kept: JsonObject = json.loads(self._path(session_id).read_text(encoding="utf-8"))
        return kept

    def _keep(self, session: AcpSession) -> None:
        if self._state is not None:
            self._state.mkdir(parents=True, exist_ok=True)
            kept = {"cwd": session.cwd, "title": session.title, "said": session.said}
            self._path(session.id).write_text(json.dumps(kept), encoding="utf-8")

    # in a session

    async def _set_mode(self, params: JsonObject) -> Json:
        session = self._session(params)
        session.set_mode(params.get("modeId"))
        self._after_reply(lambda: session.update("config_option_update", configOptions=session.config()))
        return {}

    async def _set_option(self, params: JsonObject) -> Json:
        session = self._session(params)
        before = session.mode
        session.set_option(params.get("configId"), params.get("value"))
        if session.mode != before:
            self._after_reply(lambda: session.update("current_mode_update", currentModeId=session.mode))
        return {"configOptions": session.config()}

    async def _prompt(self, params: JsonObject) -> Json:
        session = self._session(params)
        content = params.get("prompt")
        if not isinstance(content, list) or not content:
            raise RpcError(INVALID_PARAMS, "Invalid params", "prompt is a list of content blocks")
        text = _text_of(content)
        if session.is_busy:
            match self._script.acp.second_prompt:
                case "refuse":
                    raise RpcError(INVALID_REQUEST, "Invalid request", "a turn runs in this session")
                case "cancel_first":
                    session.cancel()
                case "queue":
                    pass
        async with session.turns:
            session.running = asyncio.current_task()
            try:
                return await TurnPlayer(session, text, content).run()
            finally:
                session.running = None
                self._keep(session)
