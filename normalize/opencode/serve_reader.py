"""Events of `opencode serve` (1.18.33): the data of GET /event, and a client's HTTP requests if they were recorded.

A subagent is a session of its own on the same stream; its events belong to the call that started it. A turn has no id and ends
when its session is idle. After an abort that is reported twice, and events between the two belong to the ended turn.
"""

import re
from collections.abc import Sequence

from turnwire.normalize.common.option_effects import Granted, always, quoted
from turnwire.normalize.events import CompactBoundary
from turnwire.normalize.events.control_events import PermissionOption
from turnwire.normalize.opencode import parts
from turnwire.normalize.payloads.fields import fields, flag, objects, text, texts, whole
from turnwire.normalize.payloads.questions import questions
from turnwire.normalize.payloads.work import TodoItem
from turnwire.normalize.streams.observations import (
    Answered,
    Change,
    Event,
    Failure,
    Noticed,
    Observation,
    PermissionAsked,
    PlanShown,
    Prompt,
    QuestionAsked,
    Retracted,
    Retry,
    SessionStarted,
    TextPiece,
    TextWhole,
    ToolCalled,
    ToolOutput,
    TurnEnded,
)
from turnwire.normalize.streams.reader import OneWay
from turnwire.protocol.json_values import JsonObject

_QUIET = frozenset(
    [
        "account",
        "catalog",
        "command",
        "file",
        "ide",
        "installation",
        "integration",
        "lsp",
        "mcp",
        "models-dev",
        "plugin",
        "project",
        "pty",
        "reference",
        "server",
        "tui",
        "vcs",
        "workspace",
        "worktree",
    ]
)
"""Words before the dot of events that are of the server and not of a conversation."""


_NEW_FILE = re.compile(r"^@@ -0,0 ", re.MULTILINE)
"""The first hunk of a file that was not there."""


class OpenCodeServeReader(OneWay):
    """Reads one stream."""

    def __init__(self) -> None:
        self._main: str | None = None
        self._calls: dict[str, str] = {}
        """The call that has started a session."""
        self._prompts: set[str] = set()
        """Messages of the user."""
        self._told: set[str] = set()
        """Published parts of the messages."""
        self._texts: dict[str, bool] = {}
        """Texts of the assistant, and whether they are thoughts."""
        self._step: list[str] = []
        """Texts of the call of the model that runs."""
        self._tools: dict[str, ToolCalled] = {}
        self._is_idle = self._is_aborted = False
        self._failure: Failure | None = None

    def sent(self, value: JsonObject) -> Sequence[Observation]:
        """Note that a client aborts the turn. Its other requests become visible by events."""
        path = text(fields(value.get("request")), "path") or ""
        if path.endswith("/abort") and not self._is_idle:
            self._is_aborted = True
        return ()

    def received(self, value: JsonObject) -> Sequence[Observation] | None:
        """Return the observations in an event."""
        kind, told = text(value, "type") or "", fields(value.get("properties"))
        space, _, name = kind.partition(".")
        session = text(told, "sessionID")
        if self._main is None and session is not None:
            self._main = session
        if space in _QUIET:
            return []
        if space == "message":
            return self._message(name, told, session)
        if space == "session":
            return self._session(name, told, session)
        if space in ("permission", "question"):
            return self._asks(space, name, told, session)
        if kind == "todo.updated":
            return [_plan(told)] if session == self._main else []
        return None

    def _session(self, name: str, told: JsonObject, session: str | None) -> Sequence[Observation] | None:
        info = fields(told.get("info"))
        match name:
            case "created" | "updated":
                if "parentID" in info:
                    return []
                if name == "created":
                    self._main = session
                model = fields(info.get("model"))
                return (
                    [
                        SessionStarted(
                            id=session,
                            model=text(model, "id"),
                            cwd=text(info, "directory"),
                            version=text(info, "version"),
                            agent="opencode",
                        )
                    ]
                    if session == self._main
                    else []
                )
            case "status":
                return self._status(fields(told.get("status")), session)
            case "idle":
                return self._idle(session)
            case "error":
                return self._error(fields(told.get("error")), session)
            case "compacted":
                return [Event(lambda here: CompactBoundary(**here))] if session == self._main else []
            case "diff" | "deleted":
                return []
            case _:
                return None

    def _status(self, status: JsonObject, session: str | None) -> Sequence[Observation]:
        match status.get("type"):
            case "idle":
                return self._idle(session)
            case "retry":
                half, self._step = tuple(self._step), []
                retry = parts.failure({"data": {"message": text(status, "message") or "retry"}})
                told = Retry(
                    message=retry.message, status=retry.status, attempt=whole(status, "attempt") or 1
                )
                return [Retracted(half), told] if half else [told]
            case "busy" if session == self._main:
                self._is_idle = False
                return []
            case _:
                return []

    def _idle(self, session: str | None) -> Sequence[Observation]:
        if session != self._main or self._is_idle:
            return []
        outcome = "interrupted" if self._is_aborted else "completed" if self._failure is None else "error"
        self._is_idle, self._is_aborted, self._failure, self._step = True, False, None, []
        return [TurnEnded(outcome=outcome)]  # type: ignore[arg-type]

    def _error(self, error: JsonObject, session: str | None) -> Sequence[Observation]:
        failed = parts.failure(error)
        if session not in (None, self._main):
            return [Noticed(kind="subagent_error", text=failed.message, level="error")]
        if error.get("name") == "MessageAbortedError":
            self._is_aborted = True
            return []
        self._failure = failed
        return [failed]

    def _message(self, name: str, told: JsonObject, session: str | None) -> Sequence[Observation] | None:
        part = fields(told.get("part"))
        parent = self._calls.get(session or "")
        if session != self._main and parent is None and name != "updated":
            return []
        match name:
            case "updated":
                return self._updated(fields(told.get("info")), session)
            case "part.updated":
                return self._part(part, parent)
            case "part.delta":
                text_id = text(told, "partID") or ""
                if told.get("field") != "text" or text_id not in self._texts:
                    return []
                return [TextPiece(text(told, "delta") or "", text_id, self._texts[text_id], parent)]
            case "part.removed" | "removed":
                text_id = text(told, "partID") or ""
                return [Retracted((text_id,))] if self._texts.pop(text_id, None) is not None else []
            case _:
                return None

    def _updated(self, info: JsonObject, session: str | None) -> Sequence[Observation]:
        if info.get("role") == "user":
            self._prompts.add(text(info, "id") or "")
            return []
        if session != self._main or self._is_idle:
            return []
        cwd = text(fields(info.get("path")), "cwd")
        return [SessionStarted(model=text(info, "modelID"), cwd=cwd, mode=text(info, "mode"))]

    def _part(self, part: JsonObject, parent: str | None) -> Sequence[Observation]:
        kind, name, words = part.get("type"), text(part, "id") or "", text(part, "text") or ""
        message = text(part, "messageID") or ""
        if message in self._prompts:
            if kind != "text" or name in self._told or parent is not None:
                return []
            self._told.add(name)
            self._is_idle = False
            return [Prompt(words, message, synthetic=flag(part, "synthetic") or False)]
        if self._is_idle:
            return []
        match kind:
            case "text" | "reasoning":
                self._texts[name] = kind == "reasoning"
                if parent is None and name not in self._step:
                    self._step.append(name)
                return [TextWhole(words, name, kind == "reasoning", parent)] if words else []
            case "tool":
                return self._tool(part, parent)
            case "step-finish":
                self._step = self._step if parent is not None else []
                return [parts.step_usage(part)]
            case _:
                return []

    def _tool(self, part: JsonObject, parent: str | None) -> Sequence[Observation]:
        state, called = fields(part.get("state")), parts.called(part, parent=parent)
        self._tools[called.id] = called
        metadata = fields(state.get("metadata"))
        child = text(metadata, "sessionId")
        if child is not None:
            self._calls[child] = called.id
        match state.get("status"):
            case "completed" | "error":
                self._tools.pop(called.id)
                return [called, parts.ended(part)]
            case "running":
                shown = text(metadata, "output")
                return [called, ToolOutput(called.id, shown, is_all=True)] if shown else [called]
            case _:
                return []

    def _asks(
        self, space: str, name: str, told: JsonObject, session: str | None
    ) -> Sequence[Observation] | None:
        request = text(told, "id", "requestID", "permissionID") or ""
        match name:
            case "asked":
                call = text(fields(told.get("tool")), "callID") or request
                known = self._tools.get(call)
                if space == "permission":
                    return _permission(request, told, call, known, self._calls.get(session or ""))
                asked = QuestionAsked(
                    id=request, questions=questions(told), call_id=None if known is None else call
                )
                if known is None:
                    return [asked]
                given: JsonObject = {"questions": told.get("questions")}
                return [ToolCalled(id=call, name=known.name, arguments=given, parent=known.parent), asked]
            case "replied":
                reply = text(told, "reply", "response")
                behavior = "answer" if space == "question" else "deny" if reply == "reject" else "allow"
                return [Answered(id=request, behavior=behavior, option_id=reply)]  # type: ignore[arg-type]
            case "rejected":
                return [Answered(id=request, behavior="deny")]
            case _:
                return None


def _permission(
    request: str, told: JsonObject, call: str, known: ToolCalled | None, parent: str | None
) -> Sequence[Observation]:
    metadata, wanted = fields(told.get("metadata")), text(told, "permission") or ""
    path, diff = text(metadata, "filepath"), text(metadata, "diff")
    part: JsonObject = {"tool": wanted if known is None else known.name, "callID": call}
    given = {} if known is None else fields(known.arguments)
    command = text(metadata, "command")
    asked = {"command": command} if command is not None else {"filePath": path} if path is not None else {}
    changes: list[Change] = []
    if path is not None and diff is not None:
        changes.append(Change(path=path, kind="create" if _NEW_FILE.search(diff) else "edit", diff=diff))
    shape = parts.called({**part, "state": {"input": given or asked or None}}, parent=parent)
    patterns = texts(told, "always") or ()
    always_allowed = ", ".join(patterns)
    options = [
        PermissionOption(option_id="once", name="Allow once", kind="allow_once"),
        PermissionOption(
            option_id="always",
            name=f"Always allow {always_allowed}".strip(),
            kind="allow_always",
            effect=always([Granted(_matching(wanted, one), "process") for one in patterns])
            if patterns
            else None,
        ),
        PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
    ]
    reason = f"{wanted}: {', '.join(texts(told, 'patterns') or ())}"
    return [
        PermissionAsked(
            id=request,
            call=ToolCalled(
                id=call,
                name=shape.name,
                arguments=shape.arguments,
                kind=shape.kind,
                mcp=shape.mcp,
                parent=parent,
                changes=changes,
            ),
            options=options,
            reason=reason,
        )
    ]


def _matching(permission: str, pattern: str) -> str:
    """Return what a pattern allows of a permission, in every session of the server (1.18.33)."""
    what = {"bash": "commands", "edit": "edits of files"}.get(permission, f"calls of {quoted(permission)}")
    return f"all {what}" if pattern == "*" else f"{what} that match {quoted(pattern)}"


def _plan(told: JsonObject) -> PlanShown:
    items = [
        TodoItem(
            id=text(one, "id") or str(place),
            description=text(one, "content") or "",
            status=text(one, "status") or "pending",
        )
        for place, one in enumerate(objects(told, "todos"), 1)
    ]
    return PlanShown(items=items)
