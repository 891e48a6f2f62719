"""The line mode: no screen, one line in, whole lines out; for pipes, screen readers and terminals that can do no more.

A decision names its request by the number that was printed with it, so that nothing typed ahead decides. One that is remembered
has to be confirmed with a word that is printed with the rule and the file.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable

from turnwire._runtime.task_owner import TaskOwner
from turnwire.client import CaughtUp, Client, CommandFailed, EventFrame, Gap
from turnwire.client.errors import ConnectionLost, TimedOut
from turnwire.client.events import Complete, PermissionOption, PermissionRequest, QuestionRequest, Withdrawn
from turnwire.client.feed import Cursor
from turnwire.client.requests import Answer

from .conversation import Conversation, Request, Row
from .showing import asked, body, head, is_permanent, measured, option_words, question_parts, remembered_words
from .spelling import visible, visible_line, visible_prose

HELP = """\
What you type is said to the agent. Commands:
  /allow N            allow request N once
  /deny N [NOTE]      deny request N, and say why
  /option N K         give request N its answer K
  /answer N TEXT      answer question N; several answers are parted by |
  /confirm WORD       confirm an answer that is remembered
  /stop               stop the running turn
  /queue              list the prompts that wait
  /withdraw           take back the last of them
  /mode [ID], /model [ID]   show or change
  /open               print what the last call did
  /quit               leave; the session goes on
  //TEXT              say /TEXT to the agent"""

_FINAL = frozenset({"complete", "error", "unknown"})


class Plain:
    """One session in the line mode."""

    def __init__(self, client: Client, session: str, write: Callable[[str], None]) -> None:
        self._client = client
        self._session = session
        self._write = write
        self.conversation = Conversation()
        self._printed: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._confirming: tuple[str, Request, PermissionOption] | None = None
        self._progress = asyncio.Event()
        self._unserved: set[str] = set()
        self._served: set[str] = set()
        self.failed = False
        """Whether the last turn failed."""

    async def run(self, lines: AsyncIterator[str], after: Cursor) -> int:
        """Show the session and do what the lines say, until their end; returns an exit code."""
        async with TaskOwner() as tasks:
            following = tasks.begin("follow", self._follow(after))
            reading = tasks.begin("read", self._read(lines))
            done, _ = await asyncio.wait({following, reading}, return_when=asyncio.FIRST_COMPLETED)
            if following in done:
                following.result()
                return 1
            leave = reading.result()
            return 0 if leave else await self._finish(tasks, following)

    async def _finish(self, tasks: TaskOwner, following: asyncio.Task[None]) -> int:
        """Wait for the turns that were asked for; nobody can say anything more."""
        while True:
            facts = self.conversation.facts
            if self.conversation.pending:
                self._write(
                    "turnwire: the input has ended and a request waits for an answer; nobody can give it here"
                )
                return 1
            if not (facts.running or self._unserved - self._served):
                return 1 if self.failed else 0
            self._progress.clear()
            waiting = tasks.begin("progress", self._progress.wait())
            await asyncio.wait({waiting, following}, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            if following.done():
                following.result()
                return 1

    async def _follow(self, after: Cursor) -> None:
        async for received in self._client.follow(self._session, after):
            match received:
                case EventFrame(seq=seq, event=event):
                    self.conversation.add(seq, event)
                    match event:
                        case Complete(data=data):
                            self.failed = data.is_error
                            self._served.update(data.prompts or ())
                        case Withdrawn(prompt=prompt):
                            self._served.add(prompt)
                        case _:
                            pass
                    self._show()
                case Gap(restarted=True):
                    self.conversation.clear()
                    self._printed.clear()
                    self._write("turnwire: the log began anew")
                case Gap(first=first, last=last):
                    self._write(f"turnwire: the events {first} to {last} are gone")
                case CaughtUp():
                    self._show()
                case _:
                    pass
            self._progress.set()

    def _show(self) -> None:
        changed, _ = self.conversation.take()
        for row in changed:
            self._print(row)
        for pending_id, request in self.conversation.pending.items():
            if pending_id not in self._numbers:
                self._numbers[pending_id] = len(self._numbers) + 1
                self._ask(self._numbers[pending_id], request)

    def _print(self, row: Row) -> None:
        if row.open or (row.kind == "call" and row.status not in _FINAL):
            return
        match row.kind:
            case "prompt":
                shown = f"> {visible_prose(row.text)}"
            case "text" | "plan":
                shown = visible_prose(row.text)
            case _:
                shown = head(row)
        if row.depth:
            shown = "\n".join(f"  {line}" for line in shown.split("\n"))
        before = self._printed.get(row.key)
        if before == shown:
            return
        self._printed[row.key] = shown
        self._write(shown if before is None else f"corrected: {shown}")

    def _ask(self, number: int, request: Request) -> None:
        if isinstance(request, QuestionRequest):
            self._write(f"Question {number}:")
            for part in question_parts(request):
                self._write(part.text)
            self._write(f"Answer with /answer {number} TEXT")
            return
        parts = asked(request)
        self._write(f"Request {number} ({measured(parts)}): {visible_line(request.permission_title)}")
        for part in parts:
            self._write(part.text)
        for place, option in enumerate(request.permission_options, 1):
            self._write(f"  {place}) {option_words(option)}")
        self._write(f"Answer with /allow {number}, /deny {number} or /option {number} K")

    async def _read(self, lines: AsyncIterator[str]) -> bool:
        """Do what the lines say; returns whether a line said to leave."""
        async for line in lines:
            if not line.strip():
                continue
            try:
                if await self._do(line):
                    return True
            except CommandFailed as failed:
                self._write(f"turnwire: refused: {visible(str(failed))}")
            except (ConnectionLost, TimedOut) as lost:
                self._write(f"turnwire: not sent, or its answer is not known: {visible(str(lost))}")
            except _BadLine as bad:
                self._write(f"turnwire: {visible(str(bad))}")
        return False

    async def _do(self, line: str) -> bool:
        word, _, rest = line.strip().partition(" ")
        match word:
            case "/quit":
                return True
            case "/help":
                self._write(HELP)
            case "/allow" | "/deny" | "/option" | "/answer":
                number, _, more = rest.strip().partition(" ")
                await self._decide(word, self._request(number), more.strip())
            case "/confirm":
                await self._confirm(rest.strip())
            case "/stop":
                await self._client.interrupt(self._session)
            case "/queue":
                for place, text in enumerate(self.conversation.facts.queue.values(), 1):
                    self._write(f"  {place}) {visible_line(text)}")
            case "/withdraw":
                await self._withdraw()
            case "/mode" | "/model":
                await self._choose(word, rest.strip())
            case "/open":
                self._open_last()
            case _ if word.startswith("//"):
                await self._say(line.strip()[1:])
            case _ if word.startswith("/") and word[1:] not in self._agents_commands():
                raise _BadLine(
                    f"{word} is not a command here; /help lists the commands, and /{word} sends it to the agent"
                )
            case _:
                await self._say(line)
        return False

    async def _say(self, text: str) -> None:
        self._unserved.add(await self._client.prompt(self._session, text))

    def _agents_commands(self) -> set[str]:
        return {command.name.removeprefix("/") for command in self.conversation.facts.commands}

    def _request(self, number: str) -> Request:
        for pending_id, request in self.conversation.pending.items():
            if str(self._numbers.get(pending_id)) == number:
                return request
        open_now = ", ".join(str(self._numbers[pending_id]) for pending_id in self.conversation.pending)
        raise _BadLine(f"there is no open request {number!r}; open are: {open_now or 'none'}")

    async def _decide(self, word: str, request: Request, rest: str) -> None:
        if isinstance(request, QuestionRequest):
            if word != "/answer":
                raise _BadLine("that is a question; answer it with /answer N TEXT")
            await self._client.answer(self._session, request.pending_id, _answer(request, rest))
            return
        note = None
        match word:
            case "/allow":
                option = _option(request, request.allow_once)
            case "/deny":
                option, note = _option(request, request.deny), rest or None
            case "/option":
                if not (rest.isdecimal() and 1 <= int(rest) <= len(request.permission_options)):
                    raise _BadLine(
                        f"{rest!r} is not one of its answers; give a number from 1 to {len(request.permission_options)}"
                    )
                option = request.permission_options[int(rest) - 1]
            case _:
                raise _BadLine("that is a request for leave; answer it with /allow, /deny or /option")
        if is_permanent(option):
            code = secrets.token_hex(2)
            self._confirming = (code, request, option)
            self._write(f"This is remembered: {remembered_words(option)}")
            self._write(f"Confirm with /confirm {code}")
            return
        await self._client.respond(self._session, request.pending_id, option.option_id, message=note)

    async def _confirm(self, code: str) -> None:
        if self._confirming is None or self._confirming[0] != code:
            raise _BadLine("there is nothing to confirm with that word")
        _, request, option = self._confirming
        self._confirming = None
        await self._client.respond(self._session, request.pending_id, option.option_id)

    async def _withdraw(self) -> None:
        last = next(reversed(self.conversation.facts.queue), None)
        if last is None:
            raise _BadLine("no prompt waits")
        await self._client.withdraw(self._session, last)

    async def _choose(self, word: str, choice: str) -> None:
        facts = self.conversation.facts
        if not choice:
            now, offered = (facts.mode, facts.modes) if word == "/mode" else (facts.model, facts.models)
            self._write(
                visible_line(
                    f"{word[1:]} is {now or 'not known'}; offered: {', '.join(offered) or 'not told'}"
                )
            )
        elif word == "/mode":
            await self._client.set_permission_mode(self._session, choice)
        else:
            await self._client.set_model(self._session, choice)

    def _open_last(self) -> None:
        calls = [row for row in self.conversation.rows.values() if row.kind == "call"]
        for part in body(calls[-1]) if calls else ():
            self._write(part.text)


class _BadLine(Exception):
    """A line that means nothing here; the message says what would."""


def _option(request: PermissionRequest, choose: Callable[[], str]) -> PermissionOption:
    try:
        chosen = choose()
    except LookupError:
        raise _BadLine("it has no such answer; /option N K chooses one of its answers") from None
    return next(option for option in request.permission_options if option.option_id == chosen)


def _answer(request: QuestionRequest, text: str) -> Answer:
    questions = request.questions or []
    if not questions:
        raise _BadLine("this question is a form or a page; answer it in the browser")
    given = [part.strip() for part in text.split("|")] if len(questions) > 1 else [text]
    if len(given) != len(questions) or not all(given):
        raise _BadLine(f"it asks {len(questions)}; give as many answers, parted by |")
    answers: dict[str, str | list[str]] = {}
    for question, said in zip(questions, given, strict=True):
        labels = [choice.label for choice in question.options]
        chosen = labels[int(said) - 1] if said.isdecimal() and 1 <= int(said) <= len(labels) else said
        answers[question.question] = [chosen] if question.multi_select else chosen
    return Answer(answers=answers)
