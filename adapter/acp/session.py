"""One session with an agent of the Agent Client Protocol: commands in, what happened out; see adapter/session/agent.py.

Prompts wait here (adapter/session/prompts.py) and one at a time is on the wire: its turn is over when the agent has answered
the request, and only then the next one is said. The agent is interrupted by session/cancel, and has a deadline to end its
turn; where it does not, it is stopped as any agent is (adapter/process/shutdown.py).
"""

import asyncio
import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal
from uuid import uuid4

import msgspec

from turnwire.adapter.acp.asking import end_of
from turnwire.adapter.acp.client import AcpClient
from turnwire.adapter.acp.handshake import BEFORE, AgentFacts, Choice, Conversation, capabilities, named
from turnwire.adapter.acp.turn_hooks import TurnHooks
from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.session.agent import RequestFailed
from turnwire.adapter.session.attachments import (
    Attachment,
    AttachmentFolder,
    AttachmentSettings,
    check,
    sniff,
)
from turnwire.adapter.session.notices import Notify, SessionNotice
from turnwire.adapter.session.prompts import Prompt
from turnwire.adapter.session.running_agent import RunningAgent, StartedAgent
from turnwire.normalize.payloads.fields import fields
from turnwire.normalize.vocabulary import Priority
from turnwire.protocol.json_values import JsonObject, text_at


class AcpSession(RunningAgent[AcpClient]):
    """A running agent."""

    interrupt_name = "session/cancel"

    def __init__(self, started: StartedAgent[AcpClient], *, hooks: TurnHooks, notify: Notify) -> None:
        super().__init__(started)
        self.version: str | None = None
        """The agent's version; None until it has said it."""
        self._hooks = hooks
        self._notify = notify
        self._held: Prompt | None = None
        """The prompt that hooks look at before it is said."""
        self._interrupts = 0
        """Number of interrupts so far."""
        self._composing = asyncio.Lock()
        self._facts: AgentFacts | None = None
        self._conversation: Conversation | None = None
        self._never_asks: Sequence[str] = ()

    @property
    def capabilities(self) -> Capabilities:
        """What the agent can do; what agents may be able to do until it has said so."""
        if self._facts is None or self._conversation is None:
            return BEFORE
        return capabilities(self._facts, self._conversation, self._never_asks)

    def opened(self, facts: AgentFacts, conversation: Conversation, never_asks: Sequence[str] = ()) -> None:
        """Take in that a conversation is open; `never_asks`: what the agent does without asking."""
        self._facts, self._conversation, self._never_asks = facts, conversation, never_asks
        self.version = facts.release

    async def prompt(
        self,
        text: str,
        *,
        attachments: Sequence[Attachment] = (),
        priority: Priority = "next",
        uuid: str | None = None,
        trace: Mapping[str, str] | None = None,
    ) -> str:
        """Say something to the agent, at its turn, and return the prompt's uuid; waits for the conversation to be open.

        Raises:
            AttachmentRefused: an attachment is not taken.
            ProcessGone, RequestTimeout, RequestFailed: there is no agent that could be spoken to.
        """
        await asyncio.shield(self.initialized)
        facts, _ = await self._open()
        uuid = uuid or str(uuid4())
        # prompts keep their order, however long their files take to be written
        async with self._composing:
            self._queue.check_room()
            blocks = await asyncio.to_thread(
                compose,
                self._folder,
                text,
                attachments,
                self.options.attachments,
                workspace=self.options.workspace,
                images=facts.images,
            )
            self._put(Prompt(uuid, blocks, priority, trace=trace or {}))
        if priority == "now" and self.busy:
            await self._interrupt_for(uuid)
        return uuid

    async def say(self, words: bytes) -> None:
        """Say content blocks of the protocol, a JSON array, as they are and at their turn.

        Raises as `prompt` does, and RequestFailed for images that the agent does not take.
        """
        await asyncio.shield(self.initialized)
        facts, _ = await self._open()
        blocks = msgspec.json.decode(words, type=tuple[JsonObject, ...])
        if not facts.images and any(block.get("type") == "image" for block in blocks):
            raise RequestFailed(f"{facts.name or 'the agent'} does not accept images; leave them out")
        async with self._composing:
            self._put(Prompt(str(uuid4()), blocks))

    async def serve(self) -> None:
        """Say the prompts, one after another, until the agent is gone; the one task that does."""
        await self._serve(self._say)

    async def _say(self, prompt: Prompt) -> None:
        """Say a prompt unless a hook keeps it back, and send the agent back once where it stops too soon."""
        interrupts = self._interrupts
        self._held = prompt
        blocked = await self._hooks.submitted(prompt.text)
        if not self._let_go(prompt):
            return  # it was taken back meanwhile
        if self.stopping is not None:
            self._taken_back(prompt.uuid)
            return
        if blocked is not None:
            self._taken_back(prompt.uuid)
            self._notify(SessionNotice("prompt_blocked", f"a prompt was not said, by a hook: {blocked}"))
            return
        if await self._ask(prompt) != "end_turn":
            return
        reason = await self._hooks.stopped(is_repeated=False)
        # who waits for their turn is heard first, and the end of that turn is looked at
        if reason is None or not self._may_be_sent_back(interrupts):
            return
        back = Prompt(str(uuid4()), ({"type": "text", "text": reason},), is_own=True)
        if await self._ask(back) == "end_turn":
            await self._hooks.stopped(is_repeated=True)

    def _may_be_sent_back(self, interrupts: int) -> bool:
        """Tell whether the session goes on: no interrupt since, no stop, and no prompt that waits."""
        return self._interrupts == interrupts and self.stopping is None and not len(self._queue)

    async def _ask(self, prompt: Prompt) -> str:
        """Say a prompt, and return why the agent stopped; "" where it does not say."""
        _, conversation = await self._open()
        meta: JsonObject = {"turnwire/prompt": prompt.uuid, **prompt.trace}
        if prompt.is_own:
            meta["turnwire/synthetic"] = True
        params: JsonObject = {
            "sessionId": conversation.session_id,
            "prompt": list(prompt.content),
            "_meta": meta,
        }
        try:
            return text_at(await self.client.request("session/prompt", params, None), "stopReason")
        except RequestFailed:
            return ""  # the core has published it as the turn's end

    def refuse(self, reason: Exception) -> None:
        """Fail and take back everything that waits for the agent, and what its hooks look at."""
        held, self._held = self._held, None
        if held is not None:
            self._taken_back(held.uuid)
        super().refuse(reason)

    async def withdraw(self, uuid: str) -> bool:
        """Take back a prompt that still waits, and tell whether it did."""
        held = self._held
        if held is None or held.uuid != uuid:
            return await super().withdraw(uuid)
        self._held = None
        self._taken_back(uuid)
        return True

    def _let_go(self, prompt: Prompt) -> bool:
        """Take a prompt back from its hooks; False if it was taken back already."""
        if self._held is not prompt:
            return False
        self._held = None
        return True

    async def interrupt(
        self, deadline: float | None = None, *, escalate_after: float | None = None
    ) -> JsonObject:
        """Stop the running turn, and do not send the agent back; see RunningAgent."""
        self._interrupts += 1
        return await super().interrupt(deadline, escalate_after=escalate_after)

    @property
    def _turn_to_stop(self) -> int | None:
        return None if self._conversation is None else self._turns.running

    async def _stop_turn(self) -> None:
        # the core takes what waits for a human for cancelled from here on, and the agent is told so
        _, conversation = await self._open()
        await self.client.notify("session/cancel", {"sessionId": conversation.session_id})

    async def control(self, request: JsonObject, deadline: float | None = None) -> JsonObject:
        """Make a request of the agent: {"subtype": …, …}; raises RequestTimeout, RequestFailed and ProcessGone.

        `interrupt`, `set_model` {model}, `set_permission_mode` {mode}, `set_config_option` {id, value}, and what the agent adds
        to the protocol, under its own name, which begins with "_".
        """
        match request:
            case {"subtype": "interrupt"}:
                return await self.interrupt(deadline)
            case {"subtype": "set_model", "model": str() | None as model}:
                return await self.set_model(model)
            case {"subtype": "set_permission_mode", "mode": str() as mode}:
                return await self.set_permission_mode(mode)
            case {"subtype": "set_config_option", "id": str() as name, "value": str() as value}:
                return await self.set_option(name, value, deadline)
            case {"subtype": str() as subtype, **rest} if subtype.startswith("_"):
                _, conversation = await self._open()
                params: JsonObject = {"sessionId": conversation.session_id, **rest}
                patience = deadline or self.options.control_deadline
                return fields(await self.client.request(subtype, params, patience))
            case _:
                raise RequestFailed(
                    f"an agent of the Agent Client Protocol has no control request {request.get('subtype')!r}; there are "
                    "interrupt, set_model, set_permission_mode, set_config_option, and what begins with `_`"
                )

    async def set_model(self, model: str | None) -> JsonObject:
        """Change the model; raises RequestFailed if the agent has no such model or offers no choice."""
        _, conversation = await self._open()
        if model is None:
            raise RequestFailed("the agent has no name for its default model; name a model")
        if conversation.models is None:
            raise RequestFailed(
                "this agent's model cannot be chosen here; set it in the agent's own settings"
            )
        return await self._choose(conversation.models, model, "model")

    async def set_permission_mode(self, mode: str) -> JsonObject:
        """Change the agent's mode; raises RequestFailed when it has none, or not this one."""
        _, conversation = await self._open()
        if conversation.modes is None:
            raise RequestFailed("the agent has no modes")
        wanted = next((one for one in conversation.modes.options if mode in (one, end_of(one))), mode)
        return await self._choose(conversation.modes, wanted, "mode")

    async def set_option(self, name: str, value: str, deadline: float | None = None) -> JsonObject:
        """Change an option of the session; raises RequestFailed when the agent does not have it, or not this value."""
        _, conversation = await self._open()
        choice = conversation.options.get(name)
        if choice is None:
            known = named(list(conversation.options)) or "none"
            raise RequestFailed(f"the agent has no option {name!r}; it has: {known}")
        return await self._choose(choice, value, f"{name}", deadline)

    async def stop(self, reason: Literal["stopped", "hung"] = "stopped") -> None:
        """Stop the agent, as every one is; no turn is looked at any more."""
        self._hooks.over()
        await super().stop(reason)

    async def _open(self) -> tuple[AgentFacts, Conversation]:
        if self._facts is None or self._conversation is None:
            await asyncio.shield(self.initialized)
        if self._facts is None or self._conversation is None:
            raise RequestFailed("no conversation with the agent is open")
        return self._facts, self._conversation

    async def _choose(
        self, choice: Choice, value: str, what: str, deadline: float | None = None
    ) -> JsonObject:
        if choice.options and value not in choice.options:
            raise RequestFailed(f"the agent has no {what} {value!r}; it has: {named(choice.options)}")
        _, conversation = await self._open()
        params = choice.params(conversation.session_id, value)
        said = await self.client.request(choice.method, params, deadline or self.options.control_deadline)
        return fields(said)


def compose(
    folder: AttachmentFolder,
    text: str,
    attachments: Sequence[Attachment],
    settings: AttachmentSettings,
    *,
    workspace: Path,
    images: bool,
) -> tuple[JsonObject, ...]:
    """Return a prompt's content blocks, saving what has to be saved: all but images, and these where they are not taken.

    Raises:
        AttachmentRefused: one of them is not taken; none is saved then.
        OSError: one of them cannot be saved.
    """
    check(attachments, settings)
    blocks: list[JsonObject] = [{"type": "text", "text": text}] if text else []
    for attachment in attachments:
        kind = sniff(attachment.content)
        if kind is not None and images and settings.mode == "blocks":
            encoded = base64.b64encode(attachment.content).decode("ascii")
            blocks.append({"type": "image", "mimeType": kind.media_type, "data": encoded})
        else:
            path = workspace / folder.save(attachment, kind)
            blocks.append(_link(path, attachment, kind and kind.media_type))
    return tuple(blocks)


def _link(path: Path, attachment: Attachment, media_type: str | None) -> JsonObject:
    link: JsonObject = {
        "type": "resource_link",
        "uri": path.as_uri(),
        "name": attachment.name or path.name,
        "size": len(attachment.content),
    }
    return link if media_type is None else {**link, "mimeType": media_type}
