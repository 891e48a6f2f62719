"""The interface of `turnwire attach`: one session at a time, and the way to the others."""

import asyncio
import sys
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import uuid4

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.css.query import NoMatches
from textual.widgets import Static

from turnwire.client import BEGINNING, CaughtUp, Client, Cursor, EventFrame, Gap, SessionSummary
from turnwire.client.commands import LibrarySearch, LibraryUsage, Prompt, WorkspaceFiles
from turnwire.client.errors import CommandFailed, TurnwireError
from turnwire.client.events import PermissionRequest, QuestionRequest

from .composer import Composer
from .conversation import Conversation, Request
from .panels import Asked, Decision, Panel
from .rows import Folded, RowWidget, Words, forget_lines, widget_of
from .screens import Choose, Find, Help, Leader, Sure, Used, session_choices
from .spelling import visible_line
from .usage import of_days, of_session

PAGE = 300
"""Events that are asked for first, and with each page of what came before."""

LINES = 400
"""Lines that are kept below each other while new ones come, at least a screen; older rows are loaded again when one scrolls there.

A line that was once drawn costs some 20 kB.
"""

DRAW_S = 0.05
"""Seconds between two drawings: events in between are drawn together."""

ASK_LESS = frozenset(
    {"acceptEdits", "bypassPermissions", "dontAsk", "auto", "yolo", "full-access", "auto-edit", "autoEdit"}
)
"""Modes known to ask less than the agent's own."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A prompt that came back into the field, since its reply did not come: it may have arrived."""

    session: str
    text: str
    prompt: str
    """Its UUID, which it keeps when it is sent again."""


class Attached(App[str]):
    """A terminal attached to a hub."""

    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "help", priority=True),
        Binding("f2", "decide", "decide", priority=True),
        Binding("f3", "step(-1)", "call before", priority=True),
        Binding("f4", "step(1)", "call after", priority=True),
        Binding("f5", "fold_all", "open all", priority=True),
        Binding("f6", "take_back", "take back", priority=True),
        Binding("f7", "usage", "usage", priority=True),
        Binding("f8", "send_later", "send later", priority=True),
        Binding("ctrl+o", "sessions", "sessions", priority=True),
        Binding("ctrl+f", "find", "find", priority=True),
        Binding("ctrl+t", "mode", "mode", priority=True),
        Binding("ctrl+l", "model", "model", priority=True),
        Binding("ctrl+b", "leader", show=False, priority=True),
        Binding("ctrl+q", "detach", "leave", priority=True),
        Binding("ctrl+c", "nothing", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("escape", "stop", "stop"),
    ]

    def __init__(self, client: Client, session: str | None) -> None:
        super().__init__()
        self._client = client
        self.session = session or ""
        self.conversation = Conversation()
        self._widgets: dict[str, RowWidget] = {}
        self._first = 1
        self._epoch = ""
        self._following: asyncio.Task[None] | None = None
        self._asked: str | None = None
        self._all_open = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._said = ""
        self._attempt: Attempt | None = None
        self._loading = False
        self._most = 2 * LINES
        self._lines: dict[str, Text] = {}

    def compose(self) -> ComposeResult:
        """Lay it out."""
        yield Static(id="head")
        yield VerticalScroll(id="conversation", can_focus=False)
        yield Static(id="offers")
        yield Static(id="queue")
        yield Composer()
        yield Static(id="foot")

    def on_mount(self) -> None:
        """Begin with the session."""
        self.query_one(Composer).focus()
        self.set_interval(DRAW_S, self._draw)
        if self.session:
            self._show_session(self.session)
        else:
            self.action_sessions()

    async def on_unmount(self) -> None:
        """End what was begun."""
        tasks = [*self._tasks, *([self._following] if self._following else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # The session

    def _show_session(self, session: str) -> None:
        if self._following is not None:
            self._following.cancel()
        self.session = session
        self.conversation = Conversation()
        for widget in self._widgets.values():
            forget_lines(widget)
        self._widgets.clear()
        self._most = 2 * LINES
        self.query_one("#conversation").remove_children()
        self.query_one("#conversation", VerticalScroll).anchor()
        self._asked = None
        self._following = asyncio.create_task(self._follow(session))

    async def _follow(self, session: str) -> None:
        conversation = self.conversation
        try:
            welcome = await self._client.connected()
            summary = self._summary()
            after = max(0, (summary.last_seq if summary else 0) - PAGE)
            self._first, self._epoch = after + 1, welcome.epoch
            cursor = Cursor(welcome.epoch, after) if after else BEGINNING
            async for received in self._client.follow(session, cursor):
                match received:
                    case EventFrame(seq=seq, event=event):
                        conversation.add(seq, event)
                    case Gap(restarted=True, epoch=epoch):
                        conversation.clear()
                        self._first, self._epoch = 1, epoch
                    case CaughtUp():
                        self._do(self._load_what_waits())
                    case _:
                        pass
        except TurnwireError as error:
            self._tell(str(error))

    async def _load_what_waits(self) -> None:
        """Read what came before until every request that waits is known, and what the session can do."""
        conversation, known = self.conversation, self._first
        while known > 1 and conversation is self.conversation:
            summary = self._summary()
            missing = summary is not None and summary.pending > len(conversation.pending)
            if not missing and (conversation.facts.model or conversation.facts.mode):
                return
            conversation.learn(await self._before(known))
            known = max(1, known - PAGE)

    async def _load_earlier(self) -> None:
        """Show a page of what came before."""
        if self._first <= 1 or self._loading:
            return
        self._loading = True
        try:
            conversation, first = self.conversation, self._first
            older = await self._before(first)
            if conversation is not self.conversation or first != self._first:
                return
            self._first = max(1, first - PAGE)
            conversation.learn(older)
            added = conversation.prepend(older)
            area = self.query_one("#conversation", VerticalScroll)
            widgets = [widget_of(row) for row in added]
            self._widgets.update(zip((row.key for row in added), widgets, strict=True))
            if widgets:
                self._most = sys.maxsize
                await area.mount_all(widgets, before=0)
                self.call_after_refresh(self._show_loaded, widgets[-1])
        finally:
            self._loading = False

    def _show_loaded(self, widget: RowWidget) -> None:
        """Scroll to what was loaded, which stays until more lines have come at the end."""
        widget.scroll_visible(animate=False)
        self._most = self.query_one("#conversation", VerticalScroll).virtual_size.height + LINES

    async def _before(self, before: int) -> Conversation:
        """Return what a page of events above a number comes to."""
        older, reached = Conversation(), max(0, before - 1 - PAGE)
        while reached < before - 1:
            page = await self._client.events(self.session, after=reached, before=before, epoch=self._epoch)
            for frame in page.events:
                older.add(frame.seq, frame.event)
            if page.seq <= reached:
                break
            reached = page.seq
        return older

    def _summary(self) -> SessionSummary | None:
        return next((one for one in self._client.known_sessions if one.session == self.session), None)

    # Drawing

    async def _draw(self) -> None:
        with suppress(NoMatches):  # the screen is being left
            await self._draw_all()

    async def _draw_all(self) -> None:
        self._take_out_what_arrived()
        changed, removed = self.conversation.take()
        area = self.query_one("#conversation", VerticalScroll)
        at_end = area.scroll_y >= area.max_scroll_y - 1
        with self.batch_update():  # no screen has a text twice while its widget is replaced
            new: list[RowWidget] = []
            gone: list[RowWidget] = []
            for row in changed:
                widget = self._widgets.get(row.key)
                if widget is None:
                    widget = self._widgets[row.key] = widget_of(row)
                    if isinstance(widget, Folded) and self._all_open:
                        widget.open(True)
                    new.append(widget)
                elif isinstance(widget, Words) and not row.open:
                    whole = self._widgets[row.key] = widget_of(row)
                    await area.mount(whole, before=widget)
                    gone.append(widget)
                else:
                    await widget.change(row)
            gone += [self._widgets.pop(key) for key in removed if key in self._widgets]
            if at_end and area.virtual_size.height > self._most:
                gone += self._forget(max(LINES, area.size.height))
            if new:
                await area.mount_all(new)
            for widget in gone:
                forget_lines(widget)
                await widget.remove()
        await self._draw_request()
        self._draw_lines()

    def _forget(self, lines: int) -> list[RowWidget]:
        """Forget the oldest rows beyond so many lines; returns their widgets."""
        kept = 0
        for row in reversed(self.conversation.rows.values()):
            if lines <= 0:
                break
            kept += 1
            lines -= self._widgets[row.key].outer_size.height if row.key in self._widgets else 0
        keys = self.conversation.keep_newest(kept)
        self._first = min((row.seq for row in self.conversation.rows.values()), default=self._first)
        self._most = 2 * LINES
        return [self._widgets.pop(key) for key in keys if key in self._widgets]

    async def _draw_request(self) -> None:
        first = next(iter(self.conversation.pending.items()), None)
        key = first[0] if first else None
        if key == self._asked:
            return
        self._asked = key
        for old in self.query("#decision"):
            if old.has_focus_within:
                # before it goes: keys in between would reach what Textual gives the focus to
                self.screen.set_focus(self.query_one(Composer))
            await old.remove()
        if first is None:
            return
        request = await self._whole(*first)
        waiting = len(self.conversation.pending) - 1
        panel = Decision(request, waiting) if isinstance(request, PermissionRequest) else Asked(request)
        await self.mount(panel, before="#offers")
        self.bell()

    async def _whole(self, pending_id: str, request: Request) -> Request:
        """Return a request of which nothing was cut for its size."""
        if not request.truncated:
            return request
        try:
            whole = (await self._client.payload(self.session, self.conversation.places[pending_id])).event
        except TurnwireError as error:
            self._tell(str(error))
            return request
        return whole if isinstance(whole, (PermissionRequest, QuestionRequest)) else request

    def _draw_lines(self) -> None:
        facts, summary = self.conversation.facts, self._summary()
        head = Text()
        if summary is not None:
            state = "no connection" if not self._client.is_connected else summary.state
            head.append(f"  {state}", "yellow" if summary.pending or not self._client.is_connected else "")
            if summary.trouble:
                head.append(f"  {visible_line(summary.trouble)}", "red")
            if summary.in_terminal:
                head.append(f"  in the terminal on {visible_line(summary.in_terminal)}", "yellow")
            mode = facts.mode or summary.permission_mode or ""
            head.append(f"  {visible_line(mode)}", "bold red" if mode in ASK_LESS else "")
            if summary.policy == "autonomous":
                head.append("  approves everything", "bold red")
            head.append(f"  {visible_line(facts.model or summary.model or '')}")
            if summary.total_cost_usd is not None:
                head.append(f"  ${summary.total_cost_usd:.2f}")
            if facts.context is not None and facts.context.context_efficiency is not None:
                head.append(f"  context {facts.context.context_efficiency:.0f} %")
            if summary.abilities and summary.abilities.never_asks:
                head.append(
                    f"  never asks: {visible_line(', '.join(summary.abilities.never_asks))}", "yellow"
                )
            title = Text(visible_line(summary.title or summary.session), "bold")
            title.truncate(max(12, self.size.width - 2 - head.cell_len), overflow="ellipsis")
            head = title + head
        else:
            head.append(
                "The hub has no such session (any more)" if self._client.is_connected else "no connection"
            )
        self._put("#head", head)
        queue = list(facts.queue.values())
        self.query_one("#queue", Static).display = bool(queue)
        if queue:
            waiting = " · ".join(visible_line(text) or "a prompt" for text in queue)
            self.query_one("#queue", Static).update(
                Text(f"{len(queue)} waiting: {waiting}  (F6 takes back)", "dim")
            )
        working = "working… Esc stops it   " if facts.running else ""
        others = sum(one.pending for one in self._client.known_sessions if one.session != self.session)
        elsewhere = f"{others} waiting in other sessions (Ctrl+O)   " if others else ""
        foot = Text()
        foot.append(f"{working}{elsewhere}{self._said or 'F1 help   Ctrl+B D leave'}", "dim")
        self._put("#foot", foot)

    def _put(self, place: str, text: Text) -> None:
        """Draw a line, if it is another one."""
        if self._lines.get(place) != text:
            self._lines[place] = text
            self.query_one(place, Static).update(text)

    def _tell(self, text: str) -> None:
        self._said = visible_line(text)
        self.notify(self._said, markup=False)

    def _do(self, work: Coroutine[Any, Any, Any]) -> None:
        async def done() -> None:
            try:
                await work
            except TurnwireError as error:
                self._tell(str(error))
            except NoMatches:
                pass  # the screen is being left

        task = asyncio.create_task(done())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # What the person does

    def on_composer_sent(self, message: Composer.Sent) -> None:
        """Say it to the agent; what was not sent comes back."""

        async def send(attempt: Attempt) -> None:
            composer = self.query_one(Composer)
            command = Prompt(
                session=attempt.session, text=attempt.text, priority="later" if message.later else "next"
            )
            try:
                await self._client.command(command, command_id=attempt.prompt)
                self._said = ""
            except TurnwireError as error:
                if not composer.text:
                    composer.put(attempt.text)
                    self._attempt = None if isinstance(error, CommandFailed) else attempt
                raise

        attempt, self._attempt = self._attempt, None
        if attempt is None or (attempt.session, attempt.text) != (self.session, message.text):
            attempt = Attempt(self.session, message.text, str(uuid4()))
        self._do(send(attempt))

    def _take_out_what_arrived(self) -> None:
        """Empty the field of a prompt that the log shows to have arrived, if it is as it was sent."""
        attempt = self._attempt
        if (
            attempt is None
            or attempt.session != self.session
            or attempt.prompt not in self.conversation.arrived
        ):
            return
        self._attempt = None
        composer = self.query_one(Composer)
        if composer.text == attempt.text:
            composer.clear()
            self._said = ""

    def on_composer_offers(self, message: Composer.Offers) -> None:
        """Show what the word before the cursor could be."""
        self._do(self._offer(message.word))

    async def _offer(self, word: str) -> None:
        composer = self.query_one(Composer)
        offers: list[str] = []
        if word.startswith("/"):
            names = [f"/{command.name.removeprefix('/')}" for command in self.conversation.facts.commands]
            offers = [name for name in names if name.startswith(word)]
        elif word.startswith("@"):
            found = await self._client.command(WorkspaceFiles(session=self.session, text=word[1:], limit=8))
            offers = [f"@{one}" for one in found.files]
        composer.offers = [offer for offer in offers if offer == visible_line(offer)]
        area = self.query_one("#offers", Static)
        area.display = bool(composer.offers)
        area.update(Text("   ".join(composer.offers[:8]), "cyan"))

    def on_decision_decided(self, message: Decision.Decided) -> None:
        """Send a decision."""
        option = message.option
        self._do(self._client.respond(self.session, message.request.pending_id, option.option_id))

    def on_decision_left(self) -> None:
        """Go back to the prompt."""
        self.query_one(Composer).focus()

    def on_asked_answered(self, message: Asked.Answered) -> None:
        """Send an answer."""
        self._do(self._client.answer(self.session, message.request.pending_id, message.answer))

    def action_decide(self) -> None:
        """Go to what waits."""
        for panel in self.query("#decision"):
            # at once: `focus` would do so after the keys that have come with this one
            self.screen.set_focus(panel)

    def action_stop(self) -> None:
        """Stop the running turn, or come back to the prompt."""
        if not self.query_one(Composer).has_focus:
            self.query_one(Composer).focus()
        elif self.conversation.facts.running:
            self._do(self._client.interrupt(self.session))

    def action_send_later(self) -> None:
        """Send what is written so that it waits for the end of the turn."""
        self.query_one(Composer).send(later=True)

    def action_take_back(self) -> None:
        """Take the last prompt that waits into the field."""
        waiting = list(self.conversation.facts.queue.items())
        composer = self.query_one(Composer)
        if not waiting:
            return
        prompt, text = waiting[-1]

        async def take() -> None:
            if not await self._client.withdraw(self.session, prompt):
                self._tell("This prompt does not wait any more")
                return
            composer.put(f"{text}\n{composer.text}" if composer.text else text)
            composer.focus()

        self._do(take())

    def action_step(self, by: int) -> None:
        """Go to another call."""
        calls = list(self.query(Folded))
        if not calls:
            return
        at = next((place for place, call in enumerate(calls) if call.has_focus), len(calls) if by < 0 else -1)
        calls[max(0, min(len(calls) - 1, at + by))].focus()

    def action_fold_all(self) -> None:
        """Open all calls, or fold them."""
        self._all_open = not self._all_open
        for call in self.query(Folded):
            call.open(self._all_open)

    def action_page(self, by: int) -> None:
        """Scroll by a page; above the first row load what came before."""
        for panel in self.query(Panel):
            if panel.has_focus:
                panel.scroll_pages(by)
                return
        area = self.query_one("#conversation", VerticalScroll)
        if by < 0 and area.scroll_y <= 0:
            self._do(self._load_earlier())
        elif by < 0:
            area.scroll_page_up(animate=False)
        else:
            area.scroll_page_down(animate=False)

    def action_sessions(self) -> None:
        """Choose another session."""

        def chosen(session: str | None) -> None:
            if session is not None and session != self.session:
                self._show_session(session)

        self.push_screen(
            Choose("Sessions", session_choices(self._client.known_sessions), self.session), chosen
        )

    def action_mode(self) -> None:
        """Choose the permission mode; one that asks less is confirmed."""
        summary, facts = self._summary(), self.conversation.facts
        offered = facts.modes or {
            mode: mode for mode in (summary.abilities.modes or () if summary and summary.abilities else ())
        }

        def chosen(mode: str | None) -> None:
            if mode is None or mode == facts.mode:
                return
            if mode in ASK_LESS:
                self.push_screen(
                    Sure(f"In the mode {visible_line(mode)} the agent asks less, until it is changed again."),
                    lambda sure: (
                        self._do(self._client.set_permission_mode(self.session, mode)) if sure else None
                    ),
                )
            else:
                self._do(self._client.set_permission_mode(self.session, mode))

        self.push_screen(
            Choose("Mode", [(one, visible_line(name)) for one, name in offered.items()], facts.mode), chosen
        )

    def action_model(self) -> None:
        """Choose the model, among those that the agent offers."""
        facts = self.conversation.facts

        def chosen(model: str | None) -> None:
            if model is not None and model != facts.model:
                self._do(self._client.set_model(self.session, model))

        choices = [(one, visible_line(name)) for one, name in facts.models.items()]
        self.push_screen(Choose("Model", choices, facts.model), chosen)

    def action_find(self) -> None:
        """Find words, backwards from the end."""

        def found(words: str | None) -> None:
            if not words:
                return
            if not self._go_to(words):
                self._do(self._find_before(words))

        self.push_screen(Find(), found)

    def _go_to(self, words: str) -> bool:
        """Scroll to words among the rows that are loaded; returns whether they are there."""
        for row in reversed(self.conversation.rows.values()):
            widget = self._widgets.get(row.key)
            if widget is not None and words.casefold() in row.text.casefold():
                self.call_after_refresh(widget.scroll_visible, animate=False)
                return True
        return False

    async def _find_before(self, words: str) -> None:
        """Find words in the whole log: the hub's search names the place, and all from there on is loaded."""
        session = self.session
        hits = (await self._client.command(LibrarySearch(text=words))).hits
        places = [
            hit.seq for hit in hits if (hit.source, hit.id) == ("live", session) and hit.seq is not None
        ]
        place = max((seq for seq in places if seq < self._first), default=self._first)
        for _ in range(-(-(self._first - place) // PAGE)):
            await self._load_earlier()
        if session == self.session and not self._go_to(words):
            self._tell("Not found in this session")

    def action_usage(self) -> None:
        """Show what was used."""
        if isinstance(self.screen, Used):
            self.pop_screen()
        else:
            self._do(self._show_usage())

    async def _show_usage(self) -> None:
        try:
            found = await self._client.command(LibraryUsage(by=["day"]))
            days = of_days(found.usage, complete=found.complete)
        except CommandFailed as error:
            days = [visible_line(str(error))]
        self.push_screen(Used(of_session(self._summary(), self.conversation.facts), days))

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(Help())

    def action_nothing(self) -> None:
        """Say how to leave; Ctrl+C is pressed by habit."""
        self._tell("Ctrl+B D leaves, the session goes on; Esc stops the turn")

    def action_leader(self) -> None:
        """Wait for the key after Ctrl+B."""
        self.push_screen(Leader(), lambda leave: self.action_detach() if leave else None)

    def action_detach(self) -> None:
        """Leave; the session goes on."""
        self.exit(self.session)
