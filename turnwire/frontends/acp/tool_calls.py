"""Tool calls as ACP shows them: what a payload does becomes kind, places, content and raw input of a tool call.

What ACP has no field for (the tool's name, why a call failed, whose subagent it is of) stands in `_meta.turnwire`.
"""

import json
import posixpath
import re
from collections.abc import Iterable
from typing import assert_never

import msgspec

from turnwire.client import payloads
from turnwire.client.events import PermissionRequest, TaskUpdate, ToolCall, ToolUpdate
from turnwire.client.shown import action_of
from turnwire.client.values import JsonObject, JsonValue
from turnwire.frontends.acp.diffs import changes
from turnwire.frontends.acp.version2 import patches

STATUS = {"running": "in_progress", "complete": "completed", "error": "failed", "unknown": "completed"}
"""The protocol has no word for a call whose end is unknown; `reason` beside it says no_result."""

SHOWN_OUTPUTS = frozenset(
    {"content", "parts", "response", "stderr", "stdout", "text", "matches", "files", "counts"}
)
"""Fields of outputs that are shown as content, and so left out of rawOutput."""


_BACKTICKS = re.compile("`{3,}")


class ToolCalls:
    """Makes ACP's tool calls of one session's."""

    def __init__(
        self, *, cwd: str | None = None, shows_terminals: bool = False, shows_patches: bool = False
    ) -> None:
        self.cwd = cwd
        """What relative paths are relative to."""
        self._shows_terminals = shows_terminals
        self._shows_patches = shows_patches

    def begun(self, event: ToolCall) -> JsonObject:
        """Return the fields of a call that begins."""
        payload = event.normalized
        fields = {
            "toolCallId": event.tool_call_id,
            "title": event.tool_title,
            "kind": _kind(payload),
            "status": "in_progress",
            **self._shown(payload),
            "rawInput": _raw_input(payload),
        }
        meta: JsonObject = {}
        if self._shows_terminals and isinstance(payload, payloads.ShellExecPayload):
            terminal = {"terminal_id": event.tool_call_id}
            meta["terminal_info"] = {**terminal, **_without_none(cwd=payload.shell_exec.work_dir)}
            fields["content"] = [{"type": "terminal", "terminalId": event.tool_call_id}]
        return {**fields, "_meta": {**meta, "turnwire": _named(event)}}

    def updated(self, event: ToolUpdate) -> JsonObject:
        """Return the fields of a call that goes on or ends."""
        status = STATUS.get(event.tool_status, "in_progress")
        ours = {
            **_named(event),
            **_without_none(
                reason=event.reason,
                error=event.error,
                background=event.background,
                elapsedMs=event.elapsed_ms,
                truncated=event.truncated,
            ),
        }
        fields: JsonObject = {"toolCallId": event.tool_call_id, "status": status}
        if event.tool_title is not None:
            fields["title"] = event.tool_title
        meta: JsonObject = {}
        payload = event.normalized
        if payload is not None and status != "in_progress":
            fields |= self._shown(payload)
            if (output := _raw_output(payload)) is not None:
                fields["rawOutput"] = output
            if self._shows_terminals and isinstance(payload, payloads.ShellExecPayload):
                meta = _terminal(event.tool_call_id, payload.shell_exec, event.error)
                fields["content"] = [{"type": "terminal", "terminalId": event.tool_call_id}]
        if event.error and status == "failed" and not (_is_said(payload) or meta):
            fields["content"] = [*fields.get("content", []), _text(fenced(event.error))]
        return {**fields, "_meta": {**meta, "turnwire": ours}}

    def asked(self, event: PermissionRequest) -> JsonObject:
        """Return the tool call of a permission request: what is to be decided, whole, since it may be shown alone."""
        payload = event.normalized
        fields: JsonObject = {
            "toolCallId": event.tool_call_id or event.pending_id,
            "title": event.permission_title,
            "kind": _kind(payload),
            "status": "pending",
        }
        if payload is not None:
            fields |= self._shown(payload)
        if event.tool_input is not None:
            fields["rawInput"] = event.tool_input
        if event.reason:
            fields["content"] = [*fields.get("content", []), _text(event.reason)]
        return fields | {"_meta": {"turnwire": _named(event)}}

    def task(self, event: TaskUpdate) -> JsonObject:
        """Return the fields of the call whose work goes on in the background."""
        task = {
            name: value
            for name, value in msgspec.to_builtins(event).items()
            if name not in {"type", "session_id", "operation_id", "tool_call_id"}
        }
        return {"toolCallId": event.tool_call_id, "_meta": {"turnwire": {"task": task}}}

    def _shown(self, payload: payloads.NormalizedPayload) -> JsonObject:
        """Return what is shown of a payload: its content and its places."""
        content, places = _content(payload)
        for each in (*places, *(item for item in content if item["type"] == "diff")):
            each["path"] = self._absolute(each["path"])
        if self._shows_patches and isinstance(payload, payloads.ModifyFilePayload):
            content = patches(payload.modify_file, self._absolute)
        return {
            **({"content": content} if content else {}),
            **({"locations": places} if places else {}),
        }

    def _absolute(self, path: str) -> str:
        """ACP's paths are absolute; an agent may give others."""
        return posixpath.join(self.cwd, path) if self.cwd else path


def fenced(text: str, language: str = "") -> str:
    """Return text as a block of Markdown that nothing in it ends."""
    longest = max(map(len, _BACKTICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}{language}\n{text}{end}{fence}"


def _kind(payload: payloads.NormalizedPayload | None) -> str:
    return "other" if payload is None else action_of(payload)


def _named(event: ToolCall | ToolUpdate | PermissionRequest) -> JsonObject:
    return _without_none(toolName=event.tool_name, parentToolCallId=event.parent_tool_call_id)


def _without_none(**fields: JsonValue) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}


def _raw_input(payload: payloads.NormalizedPayload) -> JsonObject:
    """Return the arguments, as far as they are not shown as a diff."""
    match payload:
        case payloads.ModifyFilePayload():
            return {"file_path": payload.modify_file.file_path}
        case payloads.McpToolPayload():
            return payload.mcp_tool.input
        case payloads.GenericPayload(generic=payloads.Generic(input=dict(given))):
            return given
        case _:
            fields: JsonObject = msgspec.to_builtins(getattr(payload, payload.kind))
            return {name: value for name, value in fields.items() if name != "output"}


def _raw_output(payload: payloads.NormalizedPayload) -> JsonObject | None:
    output = getattr(getattr(payload, payload.kind), "output", None)
    if not isinstance(output, msgspec.Struct):
        return None
    fields: JsonObject = msgspec.to_builtins(output)
    return {name: value for name, value in fields.items() if name not in SHOWN_OUTPUTS} or None


def _is_said(payload: payloads.NormalizedPayload | None) -> bool:
    """Whether the content of a failed call says why it failed."""
    match payload:
        case payloads.ShellExecPayload(
            shell_exec=payloads.ShellExec(output=payloads.ShellOutput(stdout=stdout, stderr=stderr))
        ):
            return bool(stdout or stderr)
        case payloads.GenericPayload(generic=payloads.Generic(output=output)):
            return bool(output)
        case _:
            return False


def _terminal(terminal: str, body: payloads.ShellExec, error: str | None) -> JsonObject:
    """Return what a terminal of the editor's shows, as Claude's and Codex' adapters tell it."""
    output = body.output
    data = "".join(part for part in (output.stdout, output.stderr) if part) if output else ""
    name = {"terminal_id": terminal}
    exit_code = output.exit_code if output else None
    return {
        "terminal_output": {**name, "data": data or error or ""},
        "terminal_exit": {**name, "exit_code": exit_code, "signal": None},
    }


def _text(text: str) -> JsonObject:
    return {"type": "content", "content": {"type": "text", "text": text}}


def _texts(*texts: str | None) -> list[JsonObject]:
    return [_text(text) for text in texts if text]


def _parts(parts: Iterable[payloads.ContentPart] | None) -> list[JsonObject]:
    return [shown for part in parts or () if (shown := _part(part)) is not None]


def _part(part: payloads.ContentPart) -> JsonObject | None:
    match part:
        case payloads.ContentPart(type="text"):
            return _text(part.text or "")
        case payloads.ContentPart(type="image", base64=str(data)):
            image = {"type": "image", "data": data, "mimeType": part.media_type or "image/png"}
            return {"type": "content", "content": image}
        case payloads.ContentPart(base64=str(data)):
            name = part.title or "document"
            resource = {"uri": f"turnwire:{name}", "blob": data, **_without_none(mimeType=part.media_type)}
            return {"type": "content", "content": {"type": "resource", "resource": resource}}
        case payloads.ContentPart(url=str(url)):
            return {
                "type": "content",
                "content": {"type": "resource_link", "uri": url, "name": part.title or url},
            }
        case _:
            said = part.text or part.title or _json(part.raw)
            return _text(said) if said else None


def _json(value: JsonValue) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False, indent=2)


_Shown = tuple[list[JsonObject], list[JsonObject]]
"""Content and places."""


def _content(payload: payloads.NormalizedPayload) -> _Shown:
    match payload:
        case payloads.ReadFilePayload(read_file=body):
            return _read(body)
        case payloads.ModifyFilePayload(modify_file=body):
            return _modify(body)
        case payloads.ShellExecPayload(shell_exec=body):
            return _shell(body)
        case payloads.CodeSearchPayload(code_search=body):
            return _search(body)
        case payloads.HttpRequestPayload(http_request=body):
            return _http(body)
        case payloads.SubagentTaskPayload(subagent_task=body):
            return _texts(body.output.text if body.output else body.prompt), []
        case payloads.CreateTaskPayload(create_task=body):
            return _texts(body.description), []
        case payloads.ManageTodosPayload(manage_todos=body):
            items = (f"- {item.description} ({item.status or 'unchanged'})" for item in body.items)
            return _texts("\n".join(items)), []
        case payloads.ShowPlanPayload(show_plan=body):
            return _texts(body.plan, body.feedback), [{"path": body.file_path}] if body.file_path else []
        case payloads.AskUserPayload(ask_user=body):
            return _ask(body)
        case payloads.McpToolPayload(mcp_tool=body):
            return _parts(body.output), []
        case payloads.GenericPayload(generic=body):
            return _generic(body)
        case payloads.MiscPayload(misc=body):
            return _misc(body)
    assert_never(payload)


def _read(body: payloads.ReadFile) -> _Shown:
    output = body.output
    line = (output.start_line if output else None) or body.offset
    places = [{"path": body.file_path, **_without_none(line=line)}]
    if output is None:
        return [], places
    return [*_texts(fenced(output.content) if output.content else None), *_parts(output.parts)], places


def _modify(body: payloads.ModifyFile) -> _Shown:
    content: list[JsonObject] = []
    line: int | None = None
    for mutation in body.mutations:
        first, diffs = _mutation(mutation.file_path or body.file_path, mutation)
        line = line or first
        content += diffs
    return content, [{"path": body.file_path, **_without_none(line=line)}]


def _mutation(path: str, mutation: payloads.Mutation) -> tuple[int | None, list[JsonObject]]:
    """Return where a change begins, when that is known, and the change: whole, or its hunks where only these are known."""

    def diff(old: str | None, new: str) -> JsonObject:
        return {"type": "diff", "path": path, "oldText": old, "newText": new}

    match mutation:
        case payloads.Mutation(type="create", content=str(content)):
            return 1, [diff(None, content)]
        case payloads.Mutation(diff=str(text)) if hunks := changes(text):
            line = None if mutation.relative else hunks[0].line
            return line, [diff(hunk.old, hunk.new) for hunk in hunks]
        case payloads.Mutation(type="overwrite", content=str(content)):
            # of a file that exists `oldText` is no null, though its text may not be shown
            return None, [diff(mutation.old_content or "", content)]
        case payloads.Mutation(type="delete"):
            return None, [diff(mutation.old_content or mutation.content or "", "")]
        case payloads.Mutation(new_content=str(new)):
            return None, [diff(mutation.old_content or "", new)]
        case payloads.Mutation(content=str(content)):
            return None, [diff(mutation.old_content, content)]
        case _:
            return None, []


def _shell(body: payloads.ShellExec) -> _Shown:
    output = body.output
    if output is None:
        return _texts(body.description), []
    said = "\n".join(part.removesuffix("\n") for part in (output.stdout, output.stderr) if part)
    return [*_texts(fenced(said, "console") if said else None), *_parts(output.parts)], []


def _search(body: payloads.CodeSearch) -> _Shown:
    places = [{"path": body.path}] if body.path else []
    output = body.output
    if output is None:
        return [], places
    if output.matches:
        lines = list(map(_match, output.matches))
    elif output.counts:
        lines = [f"{file}: {count}" for file, count in output.counts.items()]
    else:
        lines = output.files or []
    return _texts(fenced("\n".join(lines)) if lines else None), places


def _match(match: payloads.SearchMatch) -> str:
    place = ":".join(str(part) for part in (match.file, match.line) if part is not None)
    return f"{place}: {match.text}" if place else match.text


def _http(body: payloads.HttpRequest) -> _Shown:
    hits = [f"- [{hit.get('title') or hit.get('url')}]({hit.get('url')})" for hit in body.results or ()]
    return _texts(body.response, "\n".join(hits)), []


def _ask(body: payloads.AskUser) -> _Shown:
    answers = body.answers or {}
    return _texts(
        *(f"{each.question}\n\n{answers.get(each.question, '')}".strip() for each in body.questions)
    ), []


def _generic(body: payloads.Generic) -> _Shown:
    output = body.output
    return _texts(
        output if isinstance(output, str) else fenced(_json(output), "json") if output else None
    ), []


def _misc(body: payloads.Misc) -> _Shown:
    details = body.details
    return _texts(body.label, fenced(_json(details), "json") if details else None), []
