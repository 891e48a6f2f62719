"""What a session's events come to: rows that a terminal shows, and what it has to know beside them. Pure.

A row is told again when it changes, by its key, so that a screen redraws that row alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from turnwire.client import events as ev
from turnwire.client.payloads import ContentPart, NormalizedPayload

Kind = Literal["prompt", "text", "thinking", "call", "plan", "notice", "turn", "error"]

Request = ev.PermissionRequest | ev.QuestionRequest


@dataclass(slots=True, eq=False)
class Row:
    """One thing that was said or done."""

    key: str
    kind: Kind
    text: str = ""
    """What it says, as it came; the title of a call."""
    depth: int = 0
    """0 of the main thread, 1 of a subagent."""
    status: str = ""
    """Of a call: its `tool_status`, or `waiting` while nobody has allowed it. Of a turn: its outcome."""
    payload: NormalizedPayload | None = None
    """Of a call: what it does, and what came of it."""
    error: str = ""
    """Of a call: why it failed."""
    open: bool = False
    """More of a text may come."""
    attached: list[str] = field(default_factory=list)
    """Images and documents that came with it, as people call them."""
    message: str = ""
    """The message that a text is part of."""
    seq: int = 0
    """Where in the log it begins."""


@dataclass(slots=True)
class Facts:
    """What is known of the session beside its rows."""

    running: bool = False
    model: str = ""
    mode: str = ""
    modes: dict[str, str] = field(default_factory=dict)
    """Modes that the agent offers, by id, with their names."""
    models: dict[str, str] = field(default_factory=dict)
    """Models that the agent offers."""
    commands: list[ev.Command] = field(default_factory=list)
    context: ev.ContextWindow | None = None
    last_turn: ev.CompleteData | None = None
    queue: dict[str, str] = field(default_factory=dict)
    """Prompts that wait, by UUID, with their texts where these are known."""


class Conversation:
    """Rows, requests and facts of one session."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        """Rows by key, in order."""
        self.facts = Facts()
        self.pending: dict[str, Request] = {}
        """Requests that wait for a human, the oldest first."""
        self.texts: dict[str, str] = {}
        """Texts of prompts, by UUID."""
        self.arrived: set[str] = set()
        """UUIDs of prompts that the log names."""
        self._changed: dict[str, None] = {}
        self._removed: set[str] = set()
        self._open: dict[str, Row] = {}
        self.places: dict[str, int] = {}
        """Where in the log the requests of `pending` are."""
        self.over: dict[str, ev.PermissionResolved | ev.PermissionCancelled] = {}
        """How requests ended whose beginning is not here."""
        self.told_turns = False
        """Whether the events here tell if a turn runs."""
        self._seq = 0

    def take(self) -> tuple[list[Row], set[str]]:
        """Return the rows that are new or have changed since the last time, in order, and the keys of those that are gone."""
        changed = [self.rows[key] for key in self._changed if key in self.rows]
        removed = self._removed - self.rows.keys()
        self._changed, self._removed = {}, set()
        return changed, removed

    def clear(self) -> None:
        """Forget all rows and requests: the log started over."""
        self._removed.update(self.rows)
        self.rows.clear()
        self.pending.clear()
        self.facts = Facts(modes=self.facts.modes, models=self.facts.models, commands=self.facts.commands)

    def prepend(self, older: "Conversation") -> list[Row]:
        """Take the rows of what came before all that is here; returns those that are new, in order.

        A row that both have is one that the border between the two cut in half.
        """
        added = []
        for key, row in older.rows.items():
            if (ours := self.rows.get(key)) is None:
                added.append(row)
                continue
            if row.kind in {"text", "thinking"}:
                ours.text = row.text + ours.text
            else:
                ours.text, ours.payload = ours.text or row.text, ours.payload or row.payload
            ours.seq = row.seq
            self._changed[key] = None
        self.rows = {**{row.key: row for row in added}, **self.rows}
        return added

    def learn(self, older: "Conversation") -> None:
        """Take the requests and facts of what came before all that is known here."""
        requests = {one: request for one, request in older.pending.items() if one not in self.over}
        self.pending = {**requests, **self.pending}
        self.places = {**older.places, **self.places}
        for one, request in older.pending.items():
            if isinstance(end := self.over.get(one), ev.PermissionResolved):
                self._decision(end, request)
        self.over |= older.over
        self.texts = {**older.texts, **self.texts}
        mine, before = self.facts, older.facts
        if not self.told_turns:
            mine.running, self.told_turns = before.running, older.told_turns
        mine.model, mine.mode = mine.model or before.model, mine.mode or before.mode
        mine.modes, mine.models = mine.modes or before.modes, mine.models or before.models
        mine.commands, mine.context = mine.commands or before.commands, mine.context or before.context
        mine.last_turn = mine.last_turn or before.last_turn

    def add(self, seq: int, event: ev.AgentEvent) -> None:
        """Take the next event of the log."""
        self._seq = seq
        match event:
            case ev.MessageChunk() | ev.Reasoning() | ev.UserMessage() | ev.Retraction():
                self._said(seq, event)
            case ev.ToolCall() | ev.ToolUpdate():
                self._called(event)
            case (
                ev.PermissionRequest()
                | ev.QuestionRequest()
                | ev.PermissionResolved()
                | ev.PermissionCancelled()
            ):
                self._asked(seq, event)
            case ev.TurnStarted():
                self.facts.running = self.told_turns = True
                self.arrived.update(event.prompts or ())
                for prompt in event.prompts or ():
                    self.facts.queue.pop(prompt, None)
            case ev.Complete():
                self._ended(seq, event)
            case ev.Queued() | ev.Injected() | ev.Withdrawn():
                self._waits(event)
            case (
                ev.SessionInfo()
                | ev.SessionMode()
                | ev.SessionOptions()
                | ev.AvailableCommands()
                | ev.ContextWindow()
            ):
                self._known(event)
            case ev.AgentPlan():
                self._put(
                    Row(f"plan:{event.plan_id or event.tool_call_id or seq}", "plan", event.plan_content)
                )
            case _:
                if said := _in_words(event):
                    level, text = said
                    self._put(Row(f"{seq}", "error" if level == "error" else "notice", text, status=level))

    def keep_newest(self, count: int) -> list[str]:
        """Forget the oldest rows until so many are left; returns their keys."""
        gone = list(self.rows)[: max(0, len(self.rows) - count)]
        for key in gone:
            del self.rows[key]
            self._changed.pop(key, None)
        return gone

    def _put(self, row: Row) -> Row:
        row.seq = row.seq or self._seq
        if row.key not in self.rows:
            self._close(row.depth)
        self.rows[row.key] = row
        self._changed[row.key] = None
        return row

    def _said(self, seq: int, event: ev.MessageChunk | ev.Reasoning | ev.UserMessage | ev.Retraction) -> None:
        match event:
            case ev.UserMessage():
                if event.uuid:
                    self.texts[event.uuid] = event.text
                    self.arrived.add(event.uuid)
                    if event.uuid in self.facts.queue:
                        self.facts.queue[event.uuid] = event.text
                self._put(
                    Row(
                        f"prompt:{event.uuid or seq}",
                        "prompt",
                        event.text,
                        depth=_depth(event.parent_tool_call_id),
                        attached=_named(event.parts),
                        status="synthetic" if event.synthetic else "",
                    )
                )
            case ev.MessageChunk() | ev.Reasoning():
                thinks = isinstance(event, ev.Reasoning)
                text = event.reasoning_text if isinstance(event, ev.Reasoning) else event.text
                kind: Kind = "thinking" if thinks else "text"
                row = self._block(seq, event, kind)
                row.text = text if event.replace else row.text + text
                if isinstance(event, ev.MessageChunk):
                    row.attached += _named(event.parts)
                self._put(row)
                row.open = bool(event.is_delta)
                if row.open:
                    self._open[row.key] = row
            case ev.Retraction():
                gone = {*(event.message_ids or ()), *(event.message_uuids or ())}
                for row in [row for row in self.rows.values() if row.message in gone and row.message]:
                    del self.rows[row.key]
                    self._removed.add(row.key)

    def _close(self, depth: int | None) -> None:
        """Close the texts of a depth, or all: something else follows them."""
        for row in [row for row in self._open.values() if depth in {None, row.depth}]:
            row.open = False
            self._changed[row.key] = None
            del self._open[row.key]

    def _block(self, seq: int, event: ev.MessageChunk | ev.Reasoning, kind: Kind) -> Row:
        """Return the row that a piece of text goes on with, or a new one."""
        depth = _depth(event.parent_tool_call_id)
        if event.message_id is None:
            last = next(reversed(self.rows.values()), None)
            if last is not None and (last.kind, last.depth, last.open) == (kind, depth, True):
                return last
        key = f"{kind}:{event.message_id or seq}:{event.block_index or 0}"
        return self.rows.get(key) or Row(key, kind, depth=depth, message=event.message_id or "")

    def _called(self, event: ev.ToolCall | ev.ToolUpdate) -> None:
        key = f"call:{event.tool_call_id}"
        row = self.rows.get(key) or Row(key, "call", depth=_depth(event.parent_tool_call_id))
        row.text = event.tool_title or event.tool_name or row.text
        row.payload = event.normalized or row.payload
        waits = any(request.tool_call_id == event.tool_call_id for request in self.pending.values())
        row.status = "waiting" if waits and event.tool_status == "running" else event.tool_status
        if isinstance(event, ev.ToolUpdate):
            row.error = event.error or ""
        self._put(row)

    def _asked(
        self,
        seq: int,
        event: ev.PermissionRequest | ev.QuestionRequest | ev.PermissionResolved | ev.PermissionCancelled,
    ) -> None:
        call = self.rows.get(f"call:{event.tool_call_id}")
        match event:
            case ev.PermissionRequest() | ev.QuestionRequest():
                self.pending[event.pending_id] = event
                self.places[event.pending_id] = seq
                if call is not None and call.status == "running":
                    call.status = "waiting"
                    self._put(call)
            case ev.PermissionResolved() | ev.PermissionCancelled():
                request = self.pending.pop(event.pending_id, None)
                self.places.pop(event.pending_id, None)
                if request is None:
                    self.over[event.pending_id] = event
                if call is not None and call.status == "waiting":
                    call.status = "running"
                    self._put(call)
                if isinstance(event, ev.PermissionResolved):
                    self._decision(event, request)

    def _decision(self, event: ev.PermissionResolved, request: Request | None) -> None:
        key = f"decided:{event.pending_id}"
        row = self.rows.get(key) or Row(key, "notice", status="decided")
        row.text = _decided(event, request)
        self._put(row)

    def _ended(self, seq: int, event: ev.Complete) -> None:
        self.facts.running, self.told_turns = False, True
        self.facts.last_turn = event.data
        for prompt in event.data.prompts or ():
            self.facts.queue.pop(prompt, None)
        self._close(None)
        self._put(
            Row(
                f"turn:{event.operation_id or seq}",
                "turn",
                event.error or "",
                status=event.data.outcome or "",
            )
        )

    def _waits(self, event: ev.Queued | ev.Injected | ev.Withdrawn) -> None:
        match event:
            case ev.Queued():
                if event.prompt:
                    self.arrived.add(event.prompt)
                    if event.text:
                        self.texts[event.prompt] = event.text
                    self.facts.queue[event.prompt] = self.texts.get(event.prompt, "")
            case ev.Injected():
                for prompt in event.prompts or ():
                    self.facts.queue.pop(prompt, None)
            case ev.Withdrawn():
                self.facts.queue.pop(event.prompt, None)
                if row := self.rows.get(f"prompt:{event.prompt}"):
                    row.status = "withdrawn"
                    self._put(row)

    def _known(
        self,
        event: ev.SessionInfo | ev.SessionMode | ev.SessionOptions | ev.AvailableCommands | ev.ContextWindow,
    ) -> None:
        facts = self.facts
        match event:
            case ev.SessionInfo():
                facts.model = event.model or facts.model
                facts.mode = event.permission_mode or facts.mode
                if event.models is not None:
                    facts.models = {model.id: model.name or model.id for model in event.models}
            case ev.SessionMode():
                facts.mode = event.current_mode_id
                if event.available_modes is not None:
                    facts.modes = {mode.id: mode.name or mode.id for mode in event.available_modes}
            case ev.SessionOptions():
                for option in event.options:
                    values = {one.value: one.name or one.value for one in option.values or ()}
                    if option.category == "model":
                        facts.models, facts.model = values, option.current or facts.model
                    elif option.category == "mode":
                        facts.modes, facts.mode = values, option.current or facts.mode
            case ev.AvailableCommands():
                facts.commands = event.available_commands
            case ev.ContextWindow():
                facts.context = event


def _named(parts: Sequence[ContentPart] | None) -> list[str]:
    """Return what to call images and documents: `report.pdf (application/pdf, 12 kB)`."""
    named = []
    for part in parts or ():
        kind = part.media_type or part.type
        size = f"{part.size / 1000:.0f} kB" if part.size else ""
        about = ", ".join(one for one in (kind if part.title else "", size) if one)
        named.append(f"{part.title or kind} ({about})" if about else part.title or kind)
    return named


def _depth(parent: str | None) -> int:
    return 0 if parent is None else 1


def _decided(event: ev.PermissionResolved, request: Request | None) -> str:
    title = event.permission_title or ""
    if isinstance(request, ev.PermissionRequest):
        title = request.permission_title
    word = {"allow": "Allowed", "deny": "Denied", "answer": "Answered", "ask": "Passed on"}.get(
        event.behavior, event.behavior
    )
    name = "a browser" if (event.by or "").startswith("console-") else event.by
    by = f" by {name}" if name else ""
    note = f" ({event.message})" if event.message else ""
    return f"{word}{by}: {title}{note}" if title else f"{word}{by}{note}"


def _in_words(event: ev.AgentEvent) -> tuple[str, str] | None:
    """Return how important an event is, and what it says; None of those that a terminal does not show."""
    match event:
        case ev.Error():
            status = f" (HTTP {event.status})" if event.status else ""
            return "error", f"{event.error}{status}"
        case ev.ApiRetry():
            why = event.error or (f"HTTP {event.status}" if event.status else "no reason was given")
            return "warning", f"The API call failed and is tried again (attempt {event.attempt}): {why}"
        case ev.CompactBoundary():
            return "info", "The conversation before this was replaced by a summary."
        case ev.Cut() | ev.History():
            return "info", event.text
        case ev.RateLimit():
            return "warning", event.rate_limit_message
        case ev.TaskUpdate():
            what = event.description or event.task_id
            return "info", f"In the background, {event.task_status}: {event.summary or what}"
        case ev.ProcessStatus(state="exited"):
            how = event.signal or ("" if event.exit_code is None else f"exit code {event.exit_code}")
            return "info", " ".join(["The agent has ended", f"({how})"] if how else ["The agent has ended"])
        case ev.ProcessStatus(state="stalled"):
            return "warning", "The agent has been silent for long."
        case ev.SandboxDenied():
            return "warning", f"The sandbox refused {event.target}: {event.reason}"
        case ev.Notice():
            return event.level, event.text
        case ev.Unknown():
            return "warning", f"A line that turnwire does not know: {event.message_type}"
        case ev.Malformed():
            return "warning", f"A line that is no message: {event.reason}"
        case _:
            return None
