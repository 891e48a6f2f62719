"""A chat on a hub: sends what is new, and tells the turn that comes of it as server-sent events."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from turnwire.client import (
    BEGINNING,
    CaughtUp,
    Client,
    CommandFailed,
    Cursor,
    EventFrame,
    Following,
    Gap,
    TurnwireError,
    events,
)
from turnwire.client.values import JsonObject
from turnwire.frontends.web import streams
from turnwire.frontends.web.bodies import BadRequest

from .encoder import Turn
from .messages import History
from .request import ChatRequest

PAGE = 500
"""Events of a page that is read backwards."""

GATHER_S = 0.2
"""How long a response that waits for answers waits for more to be asked: calls side by side ask one after the other."""

HELD = 256
"""Events that wait here for a page that reads slowly; then they wait at the hub."""

PING_S = 15.0
"""How often a silent stream says that it is alive."""


def encoded(chunks: Iterable[JsonObject]) -> bytes:
    """Return chunks as server-sent events."""
    written = "".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks)
    return written.translate(streams.ENDS_LINES).encode("utf-8", "replace")


@dataclass(slots=True)
class Reply:
    """What a response tells: the turn, as soon as it has begun, and where its events come from."""

    following: Following
    turn: Turn | None = None
    prompt: str = ""
    """The prompt that was sent; empty where a turn goes on."""
    running: str | None = None
    """The turn that ran when the prompt was sent."""
    first: tuple[EventFrame, ...] = ()
    """Events that are here already."""


async def prompted(client: Client, session: str, asked: ChatRequest) -> Reply:
    """Send a prompt; raises TurnwireError.

    If permissions wait, the reply asks for them again: an answer must be in the last message of a page, which is this reply now.
    """
    cursor = await _end(client, session)
    following = client.follow(session, cursor, held=HELD)
    turn: str | None = None
    waiting: tuple[EventFrame, ...] = ()
    if _is_busy(client, session):
        frames = await _last_turn(client, session, cursor)
        turn = next(
            (one.event.operation_id for one in frames if isinstance(one.event, events.TurnStarted)), None
        )
        waiting = _waiting(frames)
    try:
        prompt = await streams.prompt(client, session, asked.text, asked.attachments)
    except TurnwireError:
        following.close()
        raise
    if waiting:
        return Reply(following, Turn(prompt), prompt=prompt, running=turn, first=waiting)
    return Reply(following, prompt=prompt, running=turn)


async def answered(client: Client, session: str, asked: ChatRequest) -> Reply:
    """Give answers to permission requests, and go on with their turn; raises TurnwireError and BadRequest."""
    cursor = await _end(client, session)
    if asked.seq is not None and asked.epoch == cursor.epoch and asked.seq <= cursor.seq:
        start = Cursor(asked.epoch, asked.seq) if asked.seq else BEGINNING
    else:
        start = cursor
    frames = await _last_turn(client, session, cursor)
    requests = {
        one.event.pending_id: one.event for one in frames if isinstance(one.event, events.PermissionRequest)
    }
    has_ended = any(isinstance(one.event, events.Complete) for one in frames)
    if start == cursor and (has_ended or not (frames or _is_busy(client, session))):
        raise BadRequest("messages", "the turn of this request has ended")  # nothing would end the response
    answers = []
    for approval in asked.approvals:
        request = requests.get(approval.id)
        if request is None:
            continue  # of an earlier turn
        try:
            option = request.allow_once() if approval.approved else request.deny()
        except LookupError as none:
            raise BadRequest(
                "messages", f"the approval {approval.id!r} cannot be given here. {none}"
            ) from None
        answers.append((request, option, approval))
    following = client.follow(session, start, held=HELD)
    for request, option, approval in answers:
        try:
            await client.respond(
                session,
                request.pending_id,
                option,
                message=None if approval.approved else approval.reason,
            )
        except CommandFailed as refused:
            if refused.code not in {"already_answered", "cancelled", "unknown_request"}:
                following.close()
                raise
    return Reply(following, Turn(asked.message, asked.calls, asked.asked_calls))


async def resumed(client: Client, session: str) -> Reply | None:
    """Return the turn that runs, from its beginning; None when none does."""
    cursor = await _end(client, session)
    if not _is_busy(client, session):
        return None
    frames = await _last_turn(client, session, cursor)
    if not frames or any(isinstance(one.event, events.Complete) for one in frames):
        return None
    begun = frames[0].event
    following = client.follow(session, Cursor(cursor.epoch, frames[-1].seq), held=HELD)
    return Reply(following, Turn(begun.operation_id or "turn"), first=tuple(frames))


async def loaded(client: Client, session: str) -> list[JsonObject]:
    """Return the conversation as UI messages, without the turn that runs."""
    history, cursor = History(), await _end(client, session)
    reached = 0
    while reached < cursor.seq:
        page = await client.events(session, after=reached, epoch=cursor.epoch)
        for frame in page.events:
            history.add(frame.event)
        if page.seq <= reached:
            break
        reached = page.seq
    return history.messages


async def told(reply: Reply) -> AsyncIterator[bytes]:
    """Yield the response, up to the end of the turn, or until somebody must answer."""
    turn, epoch, seq = reply.turn, "", 0
    if turn is not None:
        yield encoded(turn.start())
        for frame in reply.first:
            yield encoded(turn.handle(frame.event))
            seq = frame.seq
    try:
        while turn is None or not turn.finished:
            waits = turn is not None and turn.waits
            try:
                async with asyncio.timeout(GATHER_S if waits else PING_S):
                    received = await anext(reply.following, None)
            except TimeoutError:
                if turn is not None and turn.waits:
                    place = reply.following.cursor
                    yield encoded(turn.end({"seq": place.seq or seq, "epoch": place.epoch or epoch}))
                    break
                yield b":\n\n"
                continue
            match received:
                case EventFrame(event=event):
                    if turn is None:
                        turn = _begun(reply, event)
                        if turn is None:
                            if isinstance(event, events.Withdrawn) and event.prompt == reply.prompt:
                                turn = Turn(reply.prompt)
                                yield encoded(turn.fail("The prompt was withdrawn."))
                            continue
                        yield encoded(turn.start())
                    if chunks := turn.handle(event):
                        yield encoded(chunks)
                case None | Gap():
                    turn = turn or Turn(reply.prompt)
                    yield encoded(
                        turn.fail(
                            "The connection to the hub was lost, or events are gone. Load the page anew."
                        )
                    )
                case CaughtUp() | _:
                    pass
    except TurnwireError as error:
        yield encoded((turn or Turn(reply.prompt)).fail(str(error)))
    yield b"data: [DONE]\n\n"


def _begun(reply: Reply, event: events.AgentEvent) -> Turn | None:
    """Return the turn that serves our prompt, once it does."""
    match event:
        case events.TurnStarted(operation_id=turn, prompts=prompts) if (
            prompts is None or reply.prompt in prompts
        ):
            return Turn(turn or reply.prompt)
        case events.Injected(prompts=prompts) if reply.prompt in (prompts or ()):
            return Turn(reply.running or reply.prompt)
        case events.Complete(data=data, operation_id=turn) if reply.prompt in (data.prompts or ()):
            return Turn(turn or reply.prompt)
        case _:
            return None


async def _end(client: Client, session: str) -> Cursor:
    """Return the end of the log; raises CommandFailed where there is no such session."""
    welcome = await client.connected()
    summary = next((one for one in await client.sessions() if one.session == session), None)
    if summary is None:
        raise CommandFailed("unknown_session", f"There is no session {session!r}.", "session")
    return Cursor(welcome.epoch, summary.last_seq) if summary.last_seq else BEGINNING


def _is_busy(client: Client, session: str) -> bool:
    """Return whether a turn runs, as the hub said last."""
    return any(
        one.session == session and one.state in {"running", "waiting"} for one in client.known_sessions
    )


def _waiting(turn: list[EventFrame]) -> tuple[EventFrame, ...]:
    """Return the permission requests of a turn that nobody has answered."""
    settled = {
        one.event.pending_id
        for one in turn
        if isinstance(one.event, events.PermissionResolved | events.PermissionCancelled)
    }
    return tuple(
        one
        for one in turn
        if isinstance(one.event, events.PermissionRequest) and one.event.pending_id not in settled
    )


async def _last_turn(client: Client, session: str, end: Cursor) -> list[EventFrame]:
    """Return the events from the beginning of the last turn on."""
    frames: list[EventFrame] = []
    before = end.seq + 1
    while before > 1:
        after = max(0, before - 1 - PAGE)
        older: list[EventFrame] = []
        reached = after
        while reached < before - 1:
            page = await client.events(session, after=reached, before=before, epoch=end.epoch)
            older += page.events
            if page.seq <= reached:
                break
            reached = page.seq
        frames = older + frames
        starts = [at for at, one in enumerate(frames) if isinstance(one.event, events.TurnStarted)]
        if starts:
            return frames[starts[-1] :]
        before = after + 1
    return []
