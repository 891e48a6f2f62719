"""A turn as an MCP tool tells it: waited for, with progress on the way, as one value at its end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypedDict

from turnwire.client import (
    BEGINNING,
    CaughtUp,
    Client,
    CommandFailed,
    Cursor,
    EventFrame,
    TurnwireError,
    events,
    payloads,
)
from turnwire.client.values import JsonObject
from turnwire.protocol.visible import visible, visible_line

HELD = 256
"""So many events wait here for an assistant that reads slowly; the others wait at the hub."""

GATHER_S = 0.3
"""How long a turn that waits for an answer waits for more to be asked: calls side by side ask one after the other."""

RECENT = 2000
"""How many of the newest events tell how the running turn stands, or the last one."""

Progress = Callable[[str], Awaitable[None]]
"""Tells one line of what is going on."""


class TurnReport(TypedDict):
    """How a turn stands."""

    session: str
    state: str
    """`ended`, `waiting` for an answer of a human, or `running` when the time was up."""
    outcome: str | None
    """How it ended: `completed`, `interrupted`, `error` and others."""
    text: str
    """What the agent said, outside of subagents."""
    error: str | None
    cost_usd: float | None
    requests: list[JsonObject]
    """What waits for an answer: `id`, `kind` (`permission` or `question`), `title`, and the options, the questions or the form's schema."""


async def end_of(client: Client, session: str) -> Cursor:
    """Return the end of a session's log; raises CommandFailed where there is no such session."""
    welcome = await client.connected()
    found = next((one for one in await client.sessions() if one.session == session), None)
    if found is None:
        raise CommandFailed(
            "unknown_session", f"There is no session {session!r}; list_sessions names them.", "session"
        )
    return Cursor(welcome.epoch, found.last_seq) if found.last_seq > 0 else BEGINNING


async def watch(
    client: Client,
    session: str,
    end: Cursor,
    progress: Progress,
    *,
    seconds: float,
    prompt: str | None = None,
) -> TurnReport:
    """Follow a session until the turn of a prompt ends; raises TurnwireError.

    `end` is the end of the log when this began. What is read up to there tells what waits, and is no progress.
    Without a prompt it is the turn that runs. If none runs, the last one is reported at once.
    Returns sooner when a human must answer, and when the time is up. Then the turn goes on.
    """
    told = _Told(prompt)
    is_live = False
    after = Cursor(end.epoch, end.seq - RECENT) if end.seq > RECENT else BEGINNING
    following = client.follow(session, after, held=HELD)
    deadline = asyncio.get_running_loop().time() + seconds
    try:
        while not (told.ended and is_live):
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                break
            try:
                async with asyncio.timeout(min(left, GATHER_S) if told.pending and is_live else left):
                    received = await anext(following, None)
            except TimeoutError:
                break
            if received is None:
                raise TurnwireError("The connection to the hub was closed.")
            if isinstance(received, CaughtUp):
                is_live = True
                # the turn of a prompt may begin later
                if prompt is None and not (told.ended or told.has_begun or await _is_busy(client, session)):
                    raise TurnwireError(
                        f"No turn has run in session {visible(session)!r}. Say something by `prompt`."
                    )
            if isinstance(received, EventFrame):
                is_live = is_live or (prompt is not None and received.seq > end.seq)
                line = told.add(received.event)
                if line is not None and is_live:
                    await progress(line)
    finally:
        following.close()
    return told.report(session)


async def _is_busy(client: Client, session: str) -> bool:
    """Tell whether a turn runs whose beginning was not read."""
    states = {one.session: one.state for one in await client.sessions()}
    return states.get(session) in ("running", "waiting")


class _Told:
    """What the events of a turn come to."""

    def __init__(self, prompt: str | None) -> None:
        self._prompt = prompt
        self._texts: dict[tuple[str, int], str] = {}
        self._end: events.Complete | None = None
        self.has_begun = False
        self.pending: dict[str, JsonObject] = {}

    @property
    def ended(self) -> bool:
        return self._end is not None

    def add(self, event: events.AgentEvent) -> str | None:
        """Take an event; returns a line of progress."""
        match event:
            case events.TurnStarted():
                self._texts.clear()
                self._end = None
                self.has_begun = True
            case events.MessageChunk(parent_tool_call_id=None):
                key = event.message_id or "", event.block_index or 0
                self._texts[key] = event.text if event.replace else self._texts.get(key, "") + event.text
            case events.Retraction():
                gone = {*(event.message_ids or ()), *(event.message_uuids or ())}
                self._texts = {key: text for key, text in self._texts.items() if key[0] not in gone}
            case events.ToolCall():
                return visible_line(event.tool_title)
            case events.PermissionRequest() | events.QuestionRequest():
                self.pending[event.pending_id] = request_of(event)
                return f"It waits: {visible_line(str(self.pending[event.pending_id]['title']))}"
            case events.PermissionResolved() | events.PermissionCancelled():
                self.pending.pop(event.pending_id, None)
            case events.Withdrawn() if event.prompt == self._prompt:
                raise TurnwireError("The prompt was taken back before the agent began with it.")
            case events.Complete() if self._prompt is None or self._prompt in (event.data.prompts or ()):
                self._end = event
            case _:
                pass
        return None

    def report(self, session: str) -> TurnReport:
        """Return how it stands."""
        end = self._end
        return {
            "session": session,
            "state": "ended" if end is not None else "waiting" if self.pending else "running",
            "outcome": None if end is None else end.data.outcome,
            "text": "\n\n".join(text for text in self._texts.values() if text),
            "error": None if end is None else end.error,
            "cost_usd": None if end is None else end.data.cost_usd,
            "requests": list(self.pending.values()),
        }


def _changed(event: events.PermissionRequest) -> str:
    """Return what an edit changes of files that exist, as diffs."""
    payload = event.normalized
    if not isinstance(payload, payloads.ModifyFilePayload):
        return ""
    mutations = payload.modify_file.mutations
    return visible("".join(one.diff for one in mutations if one.diff and one.type != "create"))


def request_of(event: events.PermissionRequest | events.QuestionRequest) -> JsonObject:
    """Return a request as an assistant reads it."""
    if isinstance(event, events.QuestionRequest):
        return {
            "id": event.pending_id,
            "kind": "question",
            "title": visible(event.message or "; ".join(one.question for one in event.questions or ())),
            "questions": [
                {
                    "question": one.question,
                    "options": [choice.label for choice in one.options],
                    "multi_select": one.multi_select,
                }
                for one in event.questions or ()
            ],
            **({} if event.requested_schema is None else {"schema": event.requested_schema}),
            **({} if event.url is None else {"url": visible_line(event.url)}),
        }
    return {
        "id": event.pending_id,
        "kind": "permission",
        "title": visible(event.permission_title),
        "input": event.tool_input,
        **({"diff": changed} if (changed := _changed(event)) else {}),
        **({"reason": visible(event.reason)} if event.reason else {}),
        "options": [
            {"id": option.option_id, "name": visible_line(option.label()), "kind": option.kind}
            | ({} if option.effect is None else {"effect": visible_line(option.effect)})
            for option in event.permission_options
        ],
    }
