"""One session with `codex app-server`: commands in, what happened out; see adapter/session/agent.py.

Prompts wait in a queue, and one begins a turn. A prompt that comes while a turn runs joins it (`turn/steer`), unless its
priority says otherwise. The server takes such a prompt in at its next step; where the turn ends before, it is said as the next.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import msgspec

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.codex.client import CodexClient
from turnwire.adapter.codex.policies import MODES, NEVER_ASKS, PLAN, safety, without_untrusted
from turnwire.adapter.process import suspend_aware
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import RequestFailed, RequestTimeout
from turnwire.adapter.session.attachments import (
    Attachment,
    AttachmentFolder,
    AttachmentSettings,
    check,
    sniff,
)
from turnwire.adapter.session.prompts import Prompt
from turnwire.adapter.session.running_agent import RunningAgent, StartedAgent
from turnwire.normalize.payloads.fields import fields, objects
from turnwire.normalize.streams.told import IDLE
from turnwire.normalize.vocabulary import Priority
from turnwire.protocol.codex import methods, requests
from turnwire.protocol.json_values import JsonObject, text_at

CAPABILITIES = Capabilities(
    resumes=True,
    says_whether_it_resumes=True,
    keeps_session_id=True,
    forks=True,
    interrupts=True,
    withdraws_prompts=True,
    models=True,
    permission_modes=MODES,
    policies=True,
    never_asks=NEVER_ASKS,
    mcp_servers=True,
    images=True,
    options=frozenset({"effort", "system_prompt", "append_system_prompt", "output_schema"}),
)
"""What Codex 0.169.0 can do."""


class CodexSession(RunningAgent[CodexClient]):
    """A running Codex."""

    interrupt_name = methods.TURN_INTERRUPT
    idle_patience = 5.0
    """Seconds of silence after which an idle thread's turn is over, though the server has not said so."""

    def __init__(self, started: StartedAgent[CodexClient]) -> None:
        super().__init__(started)
        self.capabilities = CAPABILITIES
        """What it can do."""
        self.version: str | None = None
        """Its version; None until it has said it."""
        self.model: str | None = None
        """The model that its configuration has."""
        self._composing = asyncio.Lock()
        self._thread = ""
        self._turn: str | None = None
        """The server's name for the turn that runs."""
        self._is_stopping_turn = False
        """Whether the turn is to be interrupted as soon as it has a name."""
        self._steered: dict[str, Prompt] = {}
        """Prompts that were said to the turn that runs, and that it has not taken in."""
        self._commands: set[str] = set()
        """Items of commands that have begun and not ended."""
        self._left: set[str] = set()
        """Those that an interrupt has left running."""
        self._has_left = asyncio.Event()
        self._is_closing = False
        """Whether nothing more will be said, once what waits is done."""
        self._idle: str | None = None
        """The thread's status in an open turn, if it is not active."""
        self._stop_idle_timer: Callable[[], None] = lambda: None
        command = self.options.command
        self._chosen_model, self._effort = command.model, command.effort
        self._mode: str | None = PLAN if self.options.policy == "plan" else command.permission_mode
        self._has_untrusted = True
        """Whether this version knows `untrusted`."""
        self._safety = self._wanted_safety()
        """What the server was told last."""

    @property
    def opening_safety(self) -> requests.Safety:
        """What a thread is opened with."""
        return self._safety

    def do_without_untrusted(self) -> None:
        """Have Codex ask about what its sandbox does not let through."""
        self._has_untrusted = False
        self._safety = self._wanted_safety()

    def _wanted_safety(self) -> requests.Safety:
        wanted = safety(
            self.options.policy,
            has_rules=bool(self.options.rules),
            mode=self._mode,
            is_in_sandbox=self.options.box is not None,
        )
        return wanted if self._has_untrusted else without_untrusted(wanted)

    def opened(self, thread: str, model: str | None) -> None:
        """Take in which thread is open; prompts go on."""
        self._thread, self.model = thread, model
        self.begin()

    def heard(self, value: JsonObject, answers: str) -> None:
        """Take in what a line says of turns; `answers` is the method of our request that it answers, if any."""
        if answers == methods.TURN_START:
            self._runs(text_at(fields(value.get("result")).get("turn"), "id"))
            return
        params = fields(value.get("params"))
        if not params or text_at(params, "threadId") != self._thread:
            return
        if value.get("method") == "thread/status/changed":
            status = text_at(params.get("status"), "type")
            self._idle = status if status not in ("", "active") and self._turn is not None else None
        elif value.get("method") in ("turn/started", "turn/completed"):
            self._idle = None
        self._watch_idle()
        match value.get("method"):
            case "turn/started":
                self._runs(text_at(params.get("turn"), "id"))
            case "item/started":
                self._steered.pop(text_at(params.get("item"), "clientId"), None)
                if text_at(params.get("item"), "type") == "commandExecution":
                    self._commands.add(text_at(params.get("item"), "id"))
            case "item/completed":
                self._commands.discard(text_at(params.get("item"), "id"))
            case "turn/completed":
                if text_at(params.get("turn"), "status") == "interrupted" and self._commands:
                    self._left |= self._commands
                    self._has_left.set()
                self._turn_over()
            case _:
                pass

    def _turn_over(self) -> None:
        self._turn, self._is_stopping_turn = None, False
        self._commands.clear()
        self._say_again()

    def _watch_idle(self) -> None:
        """Start to wait for the turn's end, or begin anew, if the thread is idle."""
        self._stop_idle_timer()
        self._stop_idle_timer = lambda: None
        if self._idle is not None:
            self._stop_idle_timer = suspend_aware.call_later(self.idle_patience, self._end_idle_turn)

    def _end_idle_turn(self) -> None:
        """Note that the turn is over. The line is in the record, so a replay ends the turn, too."""
        status, self._idle = self._idle, None
        if self.process.has_exited or status is None:
            return  # the end of the process ends the turn
        params: JsonObject = {
            "threadId": self._thread,
            "status": status,
            "silent_ms": round(self.idle_patience * 1000),
        }
        self.client.note({"method": IDLE, "params": params})
        self._turn_over()

    def _runs(self, turn: str) -> None:
        if turn:
            self._turn = turn
            if self._is_stopping_turn:
                self._post_interrupt(turn)

    def _say_again(self) -> None:
        """Have what was said to a turn that has not taken it in said as the next one."""
        left, self._steered = [*self._steered.values()], {}
        for prompt in reversed(left):
            self._wait(msgspec.structs.replace(prompt, priority="now"))

    # Prompts

    async def prompt(
        self,
        text: str,
        *,
        attachments: Sequence[Attachment] = (),
        priority: Priority = "next",
        uuid: str | None = None,
        trace: Mapping[str, str] | None = None,
    ) -> str:
        """Say something to Codex and return the prompt's uuid; waits for the thread to be open.

        Raises:
            AttachmentRefused: an attachment is not taken.
            ProcessGone, RequestTimeout, RequestFailed: there is no agent that could be spoken to.
        """
        del trace
        await asyncio.shield(self.initialized)
        uuid = uuid or str(uuid4())
        async with self._composing:  # prompts keep their order, however long their files take to be written
            self._queue.check_room()
            said = await asyncio.to_thread(
                compose,
                self._folder,
                text,
                attachments,
                self.options.attachments,
                workspace=self.options.workspace,
            )
            await self._steer_or_put(Prompt(uuid, said, priority))
        if priority == "now" and self.busy:
            await self._interrupt_for(uuid)
        return uuid

    async def say(self, words: bytes) -> None:
        """Say a JSON array of Codex's inputs as they are, at their turn; raises as `prompt` does."""
        await asyncio.shield(self.initialized)
        said = msgspec.json.decode(words, type=tuple[JsonObject, ...])
        async with self._composing:
            await self._steer_or_put(Prompt(str(uuid4()), said))

    async def _steer_or_put(self, prompt: Prompt) -> None:
        joins = prompt.priority == "next" and self._turn is not None and not len(self._queue)
        if not (joins and not self.process.has_exited and await self._steer(prompt)):
            self._put(prompt)

    async def _steer(self, prompt: Prompt) -> bool:
        """Say a prompt to the turn that runs, and tell whether it was taken."""
        turn = self._turn or ""
        self._steered[prompt.uuid] = prompt
        try:
            await self.client.request(
                methods.TURN_STEER,
                requests.steer(self._thread, turn, prompt.uuid, prompt.content),
                self.options.control_deadline,
            )
        except (RequestFailed, RequestTimeout):
            # where the turn ended meanwhile, it waits already
            return self._steered.pop(prompt.uuid, None) is None
        return True

    async def serve(self) -> None:
        """Say the prompts, one after another, until the agent is gone; the one task that does."""
        await self._serve(self._say_and_close)

    async def _say_and_close(self, prompt: Prompt) -> None:
        await self._say(prompt)
        if self._is_closing:
            self._close_if_done()

    async def end_left_commands(self) -> None:
        """End what interrupts leave running (0.169.0), until the agent is gone; the one task that does."""
        try:
            while True:
                await self._has_left.wait()
                self._has_left.clear()
                left, self._left = self._left, set()
                with suppress(RequestFailed, RequestTimeout):  # of a version that has no such method
                    await self._end_commands(left)
        except ProcessGone:
            pass

    async def _end_commands(self, items: Collection[str]) -> None:
        deadline = self.options.control_deadline
        listed = await self.client.request(methods.TERMINALS_LIST, {"threadId": self._thread}, deadline)
        for one in objects(listed, "data"):
            if text_at(one, "itemId") in items:
                ended: JsonObject = {"threadId": self._thread, "processId": text_at(one, "processId")}
                self.client.post(methods.TERMINALS_TERMINATE, ended)

    async def _say(self, prompt: Prompt) -> None:
        # a turn that Codex has begun by itself, such as one that compacts
        await self._turns.over(self._turns.running)
        if self.stopping is not None:
            self._taken_back(prompt.uuid)
            return
        wanted = self._wanted_safety()
        wish = requests.TurnWish(
            model=self._chosen_model or (self.model if self._mode is not None else None),
            effort=self._effort,
            schema=self.options.command.output_schema,
            mode=self._mode,
            safety=requests.Safety() if wanted == self._safety else wanted,
        )
        self._safety = wanted
        params = requests.turn(self._thread, prompt.uuid, prompt.content, wish)
        try:
            await self.client.request(methods.TURN_START, params, None)
        except RequestFailed:
            return  # the core has published it as the turn's end
        while self._turn is not None and (joins := self._queue.take("next")) is not None:
            if not await self._steer(joins):
                self._queue.put(msgspec.structs.replace(joins, priority="now"))
        await self._turns.over(self._turns.running)

    def refuse(self, reason: Exception) -> None:
        """Fail and take back everything that waits for the agent, and what its turn has not taken in."""
        self._stop_idle_timer()
        left, self._steered = self._steered, {}
        for uuid in left:
            self._taken_back(uuid)
        super().refuse(reason)

    def close_input(self) -> None:
        """Say that nothing more will be said, once what waits is done: Codex ends at once when its input does."""
        self._is_closing = True
        if not self._is_saying:
            self._close_if_done()

    def _close_if_done(self) -> None:
        if not len(self._queue):
            self.process.close_input()

    # Commands

    async def control(self, request: JsonObject, deadline: float | None = None) -> JsonObject:
        """Make a request of Codex: {"subtype": …, …}; raises RequestTimeout, RequestFailed and ProcessGone.

        `interrupt`, `set_model` {model}, `set_permission_mode` {mode}, `set_config_option` {id, value} for model, effort and mode,
        and any method of the app server, such as `thread/compact/start`, which is told the thread.
        """
        match request:
            case {"subtype": "interrupt"}:
                return await self.interrupt(deadline)
            case {"subtype": "set_model", "model": str() | None as model}:
                return await self.set_model(model)
            case {"subtype": "set_permission_mode", "mode": str() as mode}:
                return await self.set_permission_mode(mode)
            case {"subtype": "set_config_option", "id": "model", "value": str() as value}:
                return await self.set_model(value)
            case {"subtype": "set_config_option", "id": "mode", "value": str() as value}:
                return await self.set_permission_mode(value)
            case {"subtype": "set_config_option", "id": "effort", "value": str() as value}:
                self._effort = value
                return {}
            case {"subtype": str() as subtype, **rest} if "/" in subtype:
                await asyncio.shield(self.initialized)
                params: JsonObject = {"threadId": self._thread, **rest}
                return await self.client.request(subtype, params, deadline or self.options.control_deadline)
            case _:
                raise RequestFailed(
                    f"Codex has no control request {request.get('subtype')!r}; there are interrupt, set_model, "
                    "set_permission_mode, set_config_option for model, mode and effort, and methods such as thread/compact/start"
                )

    async def set_model(self, model: str | None) -> JsonObject:
        """Have the turns from the next one on use a model; None for that of Codex's configuration."""
        self._chosen_model = model or self.model
        return {}

    async def set_permission_mode(self, mode: str) -> JsonObject:
        """Have the turns from the next one on be in a mode: default, or plan."""
        if mode not in MODES:
            raise RequestFailed(f"Codex has no permission mode {mode!r}; it has: {', '.join(MODES)}")
        self._mode = mode
        return {}

    async def _stop_turn(self) -> None:
        self._is_stopping_turn = True
        if self._turn is not None:
            self._post_interrupt(self._turn)

    def _post_interrupt(self, turn: str) -> None:
        self.client.post(methods.TURN_INTERRUPT, {"threadId": self._thread, "turnId": turn})


def compose(
    folder: AttachmentFolder,
    text: str,
    attachments: Sequence[Attachment],
    settings: AttachmentSettings,
    *,
    workspace: Path,
) -> tuple[JsonObject, ...]:
    """Return a prompt's inputs; what is attached is saved, images are shown, and other files are named in the text.

    Raises:
        AttachmentRefused: one of them is not taken; none is saved then.
        OSError: one of them cannot be saved.
    """
    check(attachments, settings)
    images: list[JsonObject] = []
    named: list[Path] = []
    for attachment in attachments:
        kind = sniff(attachment.content)
        path = folder.save(attachment, kind)
        if kind is not None and settings.mode == "blocks":
            images.append(requests.image(str(workspace / path)))
        else:
            named.append(path)
    if named:
        listed = "\n".join(f"- {path}" for path in named)
        text = f"Attached files, to be read from the workspace:\n{listed}\n\n{text}"
    return (*images, requests.words(text)) if text else tuple(images)
