"""What a tool call says as AG-UI has it: its arguments as JSON, its result as text. Pure.

AG-UI has strings for both. The typed payload goes beside them, in `metadata.turnwire`, for frontends that know it.
"""

import msgspec

from turnwire.client.payloads import (
    CodeSearchPayload,
    GenericPayload,
    HttpRequestPayload,
    McpToolPayload,
    ModifyFilePayload,
    NormalizedPayload,
    ReadFilePayload,
    ShellExecPayload,
    SubagentTaskPayload,
)
from turnwire.client.values import JsonObject, JsonValue

LARGEST = 1 << 20
"""Bytes of JSON of a value that goes into one AG-UI event. Its clients refuse an event of more than 10 Mi characters."""

CUT = LARGEST // 6
"""Characters that are left of a text beyond that; none takes more than six in JSON."""

RESULTS = {
    "http_request": ("response", "is_error", "status", "bytes", "results"),
    "ask_user": ("answers",),
    "show_plan": ("approved", "feedback"),
}
"""Fields that hold a result, of the kinds that have no `output`."""


def json_size(value: JsonValue) -> int:
    """Return how many bytes a value takes in JSON."""
    return len(msgspec.json.encode(value))


def fitting(value: JsonValue) -> JsonValue:
    """Return a value, or what stands for one that is too large: its size. `payload.get` gives the whole."""
    size = json_size(value)
    return value if size <= LARGEST else {"too_large": size}


def arguments(payload: NormalizedPayload) -> str:
    """Return the call's arguments as a JSON object: what the payload says apart from results."""
    given: JsonValue
    match payload:
        case GenericPayload(generic=generic):
            given = generic.input if isinstance(generic.input, dict) else {"input": generic.input}
        case McpToolPayload(mcp_tool=tool):
            given = tool.input
        case _:
            given = body(payload)
            for name in ("output", *RESULTS.get(payload.kind, ())):
                given.pop(name, None)
    return msgspec.json.encode(given).decode()


def result(payload: NormalizedPayload | None, error: str | None) -> str:
    """Return what came of a call as text: what a human would read, else the payload's result as JSON; cut when it is too long."""
    text = _result(payload, error)
    return text if json_size(text) <= LARGEST else f"{text[:CUT]}\n[{len(text) - CUT} characters left out]"


def _result(payload: NormalizedPayload | None, error: str | None) -> str:
    said: str | None = None
    match payload:
        case ShellExecPayload(shell_exec=shell) if shell.output is not None:
            said = "\n".join(part for part in (shell.output.stdout, shell.output.stderr) if part)
        case ReadFilePayload(read_file=read) if read.output is not None:
            said = read.output.content
        case HttpRequestPayload(http_request=request):
            said = request.response
        case SubagentTaskPayload(subagent_task=task) if task.output is not None:
            said = task.output.text
        case ModifyFilePayload(modify_file=modified) if modified.output is not None:
            said = modified.output.message
        case GenericPayload(generic=generic) if isinstance(generic.output, str):
            said = generic.output
        case McpToolPayload(mcp_tool=tool) if tool.output is not None:
            said = "\n".join(part.text for part in tool.output if part.text)
        case CodeSearchPayload(code_search=search) if search.output is not None and search.output.matches:
            said = "\n".join(
                f"{match.file or ''}:{'' if match.line is None else match.line}:{match.text}"
                for match in search.output.matches
            )
        case _:
            pass
    if error:
        return f"{said}\n{error}" if said and error not in said else error
    if said is not None:
        return said
    return "" if payload is None else _rest(payload)


def body(payload: NormalizedPayload) -> JsonObject:
    """Return the payload's one populated field."""
    found: JsonObject = msgspec.to_builtins(payload)[payload.kind]
    return found


def _rest(payload: NormalizedPayload) -> str:
    everything = body(payload)
    kept = everything.get("output")
    if kept is None:
        kept = {name: everything[name] for name in RESULTS.get(payload.kind, ()) if name in everything}
    return msgspec.json.encode(kept).decode() if kept not in (None, {}) else ""
