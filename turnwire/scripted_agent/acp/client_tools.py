"""Tools that run through the client: files and commands. The script asks for it and the client must offer it."""

from dataclasses import dataclass

from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.scripted_agent.acp.acp_session import AcpSession
from turnwire.scripted_agent.acp.connection import Connection, RpcError
from turnwire.scripted_agent.script import Tool


@dataclass(frozen=True)
class Done:
    """The result of a tool that ran through the client."""

    text: str
    raw: Json = None
    failed: bool = False


def by_client(session: AcpSession, tool: Tool) -> str | None:
    """Return how the client runs a tool: read, write, edit or terminal. None if the agent only pretends to run it."""
    uses, fs = session.script.acp.uses, session.client.get("fs") or {}
    match tool.tool:
        case "Read" if "fs" in uses and fs.get("readTextFile"):
            return "read"
        case "Write" if "fs" in uses and fs.get("writeTextFile"):
            return "write"
        case "Edit" if "fs" in uses and fs.get("readTextFile") and fs.get("writeTextFile"):
            return "edit"
        case "Bash" if "terminal" in uses and session.client.get("terminal"):
            return "terminal"
        case _:
            return None


async def run_by_client(session: AcpSession, way: str, call_id: str, arguments: JsonObject) -> Done:
    """Run a call through the client. If the client refuses, the call fails."""
    try:
        match way:
            case "terminal":
                return await _terminal(session, call_id, arguments)
            case "read":
                return Done(await _read(session, arguments))
            case "write":
                await _write(session, arguments, text_at(arguments, "content"))
                return Done("Written.")
            case _:
                before = await _read(session, arguments)
                old, new = text_at(arguments, "old_string"), text_at(arguments, "new_string")
                if old not in before:
                    return Done("The text to replace is not in the file.", failed=True)
                await _write(session, arguments, before.replace(old, new, 1))
                return Done("Edited.")
    except RpcError as error:
        return Done(f"the client answered {error.code}: {error}", failed=True)


async def _read(session: AcpSession, arguments: JsonObject) -> str:
    asked: JsonObject = {"sessionId": session.id, "path": text_at(arguments, "file_path")}
    for ours, theirs in (("offset", "line"), ("limit", "limit")):
        if isinstance(arguments.get(ours), int):
            asked[theirs] = arguments[ours]
    return text_at(await session.connection.request("fs/read_text_file", asked), "content")


async def _write(session: AcpSession, arguments: JsonObject, content: str) -> None:
    asked = {"sessionId": session.id, "path": text_at(arguments, "file_path"), "content": content}
    await session.connection.request("fs/write_text_file", asked)


async def _terminal(session: AcpSession, call_id: str, arguments: JsonObject) -> Done:
    connection: Connection = session.connection
    command = ["-c", text_at(arguments, "command")]
    created = await connection.request(
        "terminal/create",
        {"sessionId": session.id, "command": "/bin/sh", "args": command, "cwd": session.cwd},
    )
    terminal = {"sessionId": session.id, "terminalId": text_at(created, "terminalId")}
    shown = [{"type": "terminal", "terminalId": terminal["terminalId"]}]
    session.say("tool_call_update", toolCallId=call_id, status="in_progress", content=shown)
    ended = await connection.request("terminal/wait_for_exit", terminal)
    output = await connection.request("terminal/output", terminal)
    await connection.request("terminal/release", terminal)
    code = ended.get("exitCode") if isinstance(ended, dict) else None
    raw: JsonObject = {"output": text_at(output, "output"), "exitCode": code}
    return Done(text_at(output, "output"), raw, failed=code != 0)
