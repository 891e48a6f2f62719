"""One session as one editor sees it: its events become updates, its requests are asked, its prompts wait for their turn.

A task follows the session and writes, as fast as the editor reads; a request to the editor is a task of its own, which ends
as soon as somebody else has answered.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from turnwire.client import CaughtUp, Client, CommandFailed, EventFrame, Gap, SessionSummary, TurnwireError
from turnwire.client import events as ev
from turnwire.client.values import JsonObject, JsonValue
from turnwire.frontends.acp.choices import Choices
from turnwire.frontends.acp.dialogs import (
    FORM,
    PERMISSION,
    BadAnswer,
    Decision,
    DialogCapabilities,
    Reply,
    Respond,
    TurnCancelled,
    dialog,
)
from turnwire.frontends.acp.encoder import Encoder, note
from turnwire.frontends.acp.folding import PastUpdates
from turnwire.frontends.acp.json_rpc import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    Peer,
    RpcError,
    TooLarge,
)
from turnwire.frontends.acp.prompts import read_prompt
from turnwire.frontends.acp.tool_calls import ToolCalls
from turnwire.frontends.acp.turns import CANCELLED, Prompts, TurnResult
from turnwire.frontends.acp.version2 import Activity, Updates, config_options, permission

KEPT = frozenset({"sessionUpdate", "toolCallId", "title", "kind", "status"})
"""What is left of an update that is too large."""

log = logging.getLogger("turnwire.frontends.acp")


@dataclass(frozen=True, slots=True)
class Editor:
    """The abilities of an editor that matter here."""

    offered: DialogCapabilities
    shows_terminals: bool
    """It shows the terminals that `_meta.terminal_output` of a call tells of."""
    version: int = 1
    """The version of the protocol that it speaks."""


class EditorSession:
    """A session that is followed for an editor."""

    def __init__(
        self, client: Client, peer: Peer, tasks: asyncio.TaskGroup, editor: Editor, summary: SessionSummary
    ) -> None:
        self.session = summary.session
        self._client = client
        self._peer = peer
        self._tasks = tasks
        self._editor = editor
        self._summary = summary
        self._encoder = self._new_encoder()
        self._title = summary.title
        """What the editor knows it is called."""
        self._is_version2 = editor.version > 1
        self._activity = Activity()
        self._updates = Updates()
        self._inserting: dict[str, asyncio.Future[RpcError | None]] = {}
        """Prompts of version 2 that are not yet part of the conversation."""
        self._prompts = Prompts()
        self._waiting: dict[str, asyncio.Future[TurnResult]] = {}
        self._own: set[str] = set()
        """The editor's prompts whose message has not come: it shows them itself."""
        self._sending = 0
        self._sent = asyncio.Event()
        self._sent.set()
        self._pending: dict[str, ev.PermissionRequest | ev.QuestionRequest] = {}
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._asks = False
        self._cancelled: set[str] = set()
        self._caught_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._begun = asyncio.Event()
        self._following: asyncio.Task[None] | None = None

    @property
    def choices(self) -> JsonObject:
        """The modes and models, as the answers to session/new and its like have them."""
        choices = self._encoder.choices
        if self._is_version2:
            return {"configOptions": config_options(choices.options())}
        modes = choices.modes()
        return {**({} if modes is None else {"modes": modes}), "configOptions": choices.options()}

    async def join(self, *, shows_past: bool) -> None:
        """Follow it from its first event, and wait until the past is over; raises RpcError when it cannot be followed."""
        self._following = self._tasks.create_task(self._follow(shows_past=shows_past))
        await asyncio.shield(self._caught_up)

    def begin(self) -> None:
        """Go on with what is live, and ask the editor what waits for an answer: it knows the session by now."""
        self._begun.set()
        welcome = self._client.welcome
        self._asks = welcome is not None and welcome.role == "control"
        for pending in list(self._pending.values()):
            self._ask(pending)

    def leave(self) -> None:
        """Stop following. Answer open requests as cancelled."""
        if self._following is not None:
            self._following.cancel()
        for asking in self._asking.values():
            asking.cancel()
        self._answer(self._prompts.end_all(CANCELLED))
        self._inserted(list(self._inserting), RpcError(REQUEST_CANCELLED, "the session is followed no more"))

    async def insert(self, blocks: Sequence[JsonValue]) -> JsonObject:
        """Send a prompt, and return version 2's answer once it is part of the conversation; raises as `prompt` does."""
        prompt = read_prompt(blocks)
        self._sending += 1
        self._sent.clear()
        try:
            name = await self._client.prompt(self.session, prompt.text, attachments=prompt.attachments)
            known = self._prompts.is_known(name)
            result = self._prompts.on_sent(name)
            if not known and result is None:
                self._inserting[name] = asyncio.get_running_loop().create_future()
        finally:
            self._sending -= 1
            if not self._sending:
                self._sent.set()
        if (inserting := self._inserting.get(name)) is not None:
            try:
                refused = await inserting
            except asyncio.CancelledError:
                if self._peer.is_taken_back():
                    self._tasks.create_task(self._withdraw(name))
                raise
            finally:
                self._inserting.pop(name, None)
            if refused is not None:
                raise refused
        return {"messageId": name}

    async def _withdraw(self, prompt: str) -> None:
        try:
            await self._client.withdraw(self.session, prompt)
        except TurnwireError as error:
            log.warning("a prompt was not taken back", extra={"session": self.session, "error": str(error)})

    async def prompt(self, blocks: Sequence[JsonValue]) -> JsonObject:
        """Send a prompt, and return ACP's answer once its turn has ended; raises RpcError, BadPrompt and TurnwireError."""
        prompt = read_prompt(blocks)
        self._sending += 1
        self._sent.clear()
        try:
            name = await self._client.prompt(self.session, prompt.text, attachments=prompt.attachments)
            self._own.add(name)
            result = self._prompts.on_sent(name)
            if result is None:
                self._waiting[name] = asyncio.get_running_loop().create_future()
        finally:
            self._sending -= 1
            if not self._sending:
                self._sent.set()
        try:
            if result is None:
                result = await self._waiting[name]
        except asyncio.CancelledError:
            if self._peer.is_taken_back():
                self._tasks.create_task(self.cancel())
            raise
        finally:
            self._waiting.pop(name, None)
        if name in self._cancelled:
            self._cancelled.discard(name)
            result = result.as_cancelled()
        if result.error is not None:
            raise RpcError(
                INTERNAL_ERROR, result.error, {"outcome": result.outcome} if result.outcome else None
            )
        return {"stopReason": result.stop_reason, **({"usage": result.usage} if result.usage else {})}

    async def cancel(self) -> None:
        """Stop the running turn, and take back what waits."""
        await self._sent.wait()
        self._cancelled.update(self._prompts.open)
        self._activity.cancel()
        try:
            for prompt in self._prompts.waiting():
                await self._client.withdraw(self.session, prompt)
            await self._client.interrupt(self.session)
        except CommandFailed as refused:
            log.info("nothing was stopped", extra={"session": self.session, "error": str(refused)})
            self._answer(self._prompts.end_all(CANCELLED))
        except TurnwireError as error:
            log.warning("the turn was not stopped", extra={"session": self.session, "error": str(error)})

    def chosen(self, *, mode: str | None = None, model: str | None = None) -> list[JsonObject]:
        """Note a choice that the editor made, ahead of the event that tells of it; returns the updates that say so."""
        return list(self._encoder.choices.changed(mode=mode, model=model))

    async def update(self, *updates: JsonObject, past: bool = False) -> None:
        """Send updates. If one is too large for clients, send only what it is about."""
        for update in self._updates.of(updates, past=past) if self._is_version2 else updates:
            await self._write(update)

    async def _write(self, update: JsonObject) -> None:
        try:
            await self._peer.notify("session/update", {"sessionId": self.session, "update": update})
        except TooLarge as large:
            log.warning(
                "an update is too large to be shown", extra={"session": self.session, "error": str(large)}
            )
            kept = {name: value for name, value in update.items() if name in KEPT}
            if "toolCallId" not in kept:
                large_one = note(
                    "too_large", "Something is too large to be shown here; turnwire's console has it."
                )
                (kept,) = self._updates.of([large_one]) if self._is_version2 else [large_one]
            await self._peer.notify("session/update", {"sessionId": self.session, "update": kept})

    async def _follow(self, *, shows_past: bool) -> None:
        folded = PastUpdates()
        again = False
        following = self._client.follow(self.session)
        try:
            async for received in following:
                match received:
                    case EventFrame(event=event):
                        updates = await self._take(event)
                        if not self._caught_up.done():
                            updates = folded.handle(updates) if shows_past else []
                        elif again:
                            updates = []
                    case CaughtUp() if not self._caught_up.done():
                        await self.update(*folded.rest(), past=True)
                        self._caught_up.set_result(None)
                        await self._begun.wait()
                        updates = self._encoder.state()
                        if self._is_version2 and not self._activity.is_idle:
                            updates.append(self._activity.now())
                    case CaughtUp():
                        again = False
                        continue
                    case Gap():
                        # A log that began anew tells all of the past once more.
                        again = received.restarted
                        updates = self._missed(received)
                    case _:
                        continue
                await self.update(*updates, past=not self._caught_up.done())
        except TurnwireError as failure:
            self._fail(str(failure))
        else:
            self._fail("the session is followed no more")
        finally:
            following.close()

    async def _take(self, event: ev.AgentEvent) -> list[JsonObject]:
        match event:
            case ev.PermissionRequest() | ev.QuestionRequest():
                self._pending[event.pending_id] = event
                self._ask(event)
            case ev.PermissionResolved() | ev.PermissionCancelled():
                self._settled(event.pending_id)
            case ev.UserMessage(uuid=str(uuid)) if event.parent_tool_call_id is None:
                # Whether it is the editor's own is known once the hub has answered.
                await self._sent.wait()
                self._inserted([uuid])
                if uuid in self._own:
                    self._own.discard(uuid)
                    return []
            case ev.TurnStarted() | ev.Injected():
                self._inserted(event.prompts or ())
            case ev.Withdrawn():
                refused = RpcError(REQUEST_CANCELLED, "the prompt was taken back before it was read")
                self._inserted([event.prompt], refused)
            case _:
                pass
        updates = self._encoder.handle(event)
        if isinstance(event, ev.SessionMode | ev.SessionInfo):
            updates += self._offered()
        if isinstance(event, ev.Complete):
            updates += await self._titled()
        answered = self._prompts.handle(event)
        if self._is_version2:
            updates += self._activity.handle(event)
            self._inserted([prompt for prompt, _ in answered])
        elif answered:
            # What led to the end comes before the answer.
            await self.update(*updates)
            self._answer(answered)
            return []
        return updates

    def _inserted(self, prompts: Iterable[str], refused: RpcError | None = None) -> None:
        """Answer prompts of version 2: they are part of the conversation now, or will not be."""
        for prompt in prompts:
            waiting = self._inserting.get(prompt)
            if waiting is not None and not waiting.done():
                waiting.set_result(refused)

    def _missed(self, gap: Gap) -> list[JsonObject]:
        if gap.restarted:
            self._encoder = self._new_encoder()
            for pending in list(self._pending):
                self._settled(pending)
            return [note("gap", "The session's log began anew; load the session to see what it has now.")]
        return [
            note("gap", f"Events {gap.first} to {gap.last} are kept no more.", first=gap.first, last=gap.last)
        ]

    async def _titled(self) -> list[JsonObject]:
        """Tell what the session is called, where that has changed: it may be called by its first prompt now."""
        try:
            sessions = await self._client.sessions()
        except TurnwireError:
            return []  # the next turn's end tells it
        known = next((each for each in sessions if each.session == self.session), None)
        if known is None or known.title is None or known.title == self._title:
            return []
        self._title = known.title
        updated = {"updatedAt": known.updated} if known.updated else {}
        return [{"sessionUpdate": "session_info_update", "title": known.title, **updated}]

    def _offered(self) -> list[JsonObject]:
        """Note what the agent can do, which some tell only once they run."""
        known = (each for each in self._client.known_sessions if each.session == self.session)
        return list(_offer(self._encoder.choices, next(known, self._summary)))

    def _new_encoder(self) -> Encoder:
        summary = self._summary
        encoder = Encoder(
            cwd=summary.workspace,
            shows_terminals=self._editor.shows_terminals,
            agent=summary.agent,
            version=self._editor.version,
        )
        # what the record says, until the events do
        encoder.choices.changed(mode=summary.permission_mode, model=summary.model)
        _offer(encoder.choices, summary)
        return encoder

    def _answer(self, answered: Sequence[tuple[str, TurnResult]]) -> None:
        for prompt, result in answered:
            waiting = self._waiting.get(prompt)
            if waiting is not None and not waiting.done():
                waiting.set_result(result)

    def _fail(self, why: str) -> None:
        error = RpcError(INTERNAL_ERROR, f"the session {self.session} cannot be followed: {why}")
        if not self._caught_up.done():
            self._caught_up.set_exception(error)
            self._caught_up.exception()  # that nobody waits for it is no error
        for pending in list(self._pending):
            self._settled(pending)
        self._answer(self._prompts.end_all(TurnResult(error=error.message)))
        self._inserted(list(self._inserting), error)

    def _ask(self, event: ev.PermissionRequest | ev.QuestionRequest) -> None:
        if self._asks and event.pending_id not in self._asking:
            self._asking[event.pending_id] = self._tasks.create_task(self._asked(event))

    def _settled(self, pending: str) -> None:
        self._pending.pop(pending, None)
        if (asking := self._asking.pop(pending, None)) is not None:
            asking.cancel()

    async def _asked(self, event: ev.PermissionRequest | ev.QuestionRequest) -> None:
        fields = {"session": self.session, "pending": event.pending_id}
        try:
            decision = await self._decided(event)
        except (RpcError, BadAnswer) as error:
            # It waits for another frontend, or for the editor to cancel the turn.
            log.warning("the editor did not decide", extra={**fields, "error": str(error)})
            return
        self._asking.pop(event.pending_id, None)
        try:
            await self._do(event.pending_id, decision)
        except CommandFailed as refused:
            # Mostly: somebody else was faster.
            log.info("the editor's answer was not taken", extra={**fields, "error": str(refused)})
        except TurnwireError as error:
            log.warning("the editor's answer may be lost", extra={**fields, "error": str(error)})

    async def _decided(self, event: ev.PermissionRequest | ev.QuestionRequest) -> Decision:
        calls = ToolCalls(cwd=self._summary.workspace, shows_patches=self._is_version2)
        asked = dialog(event, calls, self._editor.offered)
        while True:
            method, params = asked.request()
            if self._is_version2 and method == PERMISSION:
                params = permission(params)
            try:
                result = await self._peer.request(method, {"sessionId": self.session, **params})
            except RpcError as error:
                if error.code != METHOD_NOT_FOUND or method != FORM:
                    raise
                # It has offered more than it can.
                asked = dialog(event, calls, DialogCapabilities())
                continue
            if (decision := asked.on_answer(result)) is not None:
                return decision

    async def _do(self, pending: str, decision: Decision) -> None:
        match decision:
            case Respond(option_id):
                await self._client.respond(self.session, pending, option_id)
            case Reply(answer):
                await self._client.answer(self.session, pending, answer)
            case TurnCancelled():
                await self.cancel()


def _offer(choices: Choices, summary: SessionSummary) -> Iterable[JsonObject]:
    can = summary.abilities
    return () if can is None else choices.offer(can.modes or (), sets_model=can.set_model)
