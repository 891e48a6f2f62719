"""The checks of an agent: what a frontend counts on, tried one after the other on a real process of it.

What is asked for is so plain that any model does it; each check says in its docstring what has to hold. A check that fails
leaves the session to the next one if it can: an interrupt, and a new session where the process is gone.
"""

import asyncio
import secrets
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

from msgspec import structs

from turnwire._runtime.git_folder import git_above
from turnwire._runtime.task_owner import TaskOwner
from turnwire.client import Client, CommandFailed
from turnwire.client import events as ev
from turnwire.client.payloads import ShellExecPayload
from turnwire.frontends.conform.conversation import (
    Conversation,
    allow,
    how_it_ended,
    of_kind,
    outcome_of,
    reject,
    text_of,
)
from turnwire.frontends.conform.report import (
    AsksNobody,
    Finding,
    NotSupported,
    NotTested,
    PromiseBroken,
    Trials,
)
from turnwire.normalize.vocabulary import ACTS, CHANGES, FOLDERS, Act, FolderKind

LARGE = 300_000
"""Characters of the large prompt."""

UNDER_WAY_S = 10.0
"""How long a command that was allowed may take to be seen, before the turn is interrupted all the same."""

MADE = "made\n"
"""What is in the files that the agent is to edit and to read."""

UNKNOWN_REQUEST = "_turnwire/of_tomorrow"
"""A request that no agent knows."""

EXIT_CODE = 3
"""Exit code of the command whose exit code the agent should report."""

ODD = "\u202eright to left\u2028line \U0001f9ea\u0301 \x1b[31mred\x1b[0m </script> \ud7ff"
"""Characters that break what is careless with text."""


def word() -> str:
    """Return a new random word."""
    return f"turnwire-{secrets.token_hex(4)}"


def say(wanted: str) -> str:
    """Return the prompt for a word."""
    return f"Reply with exactly this word and nothing else: {wanted}"


def run(command: str) -> str:
    """Return the prompt for a shell command."""
    return f"Run exactly this shell command with your shell tool, once, and nothing else: {command}"


def write(name: str) -> str:
    """Return the prompt for a new file."""
    return f"Write a new file with your tool for files, once, with the one word `made` in it, and do nothing else: {name}"


def edit(name: str) -> str:
    """Return the prompt for a change of a file that says `made`."""
    return f"Edit a file with your tool for files, once, so that it says `changed` instead of `made`, and do nothing else: {name}"


def read(path: str) -> str:
    """Return the prompt for reading a file."""
    return f"Read a file with your tool for files, once, and do nothing else: {path}"


def fetch(url: str) -> str:
    """Return the prompt for fetching a page."""
    return f"Fetch a page with your tool for the web, once, and do nothing else: {url}"


class AgentTrial:
    """Tries one agent in one folder."""

    def __init__(
        self, client: Client, workspace: Path, patience: float, *, has_policies: bool = True
    ) -> None:
        """Create a trial.

        Args:
            client: of a hub that starts the agent.
            workspace: an empty folder.
            patience: seconds of silence after which the agent counts as hanging.
            has_policies: whether policies mean anything to the agent's family.
        """
        self._client = client
        self._has_policies = has_policies
        self._workspace = workspace
        self._patience = patience
        self._talk: Conversation | None = None
        self._talks: list[Conversation] = []
        self._first_word = word()
        self.asked: Trials = {}
        """What the policy supervised was seen to hold of, by kind of folder."""

    async def findings(self) -> AsyncIterator[Finding]:
        """Run all checks, and report each finding as soon as it is known."""
        is_reached = False
        for check in CHECKS:
            name = (check.__doc__ or "").partition("\n")[0].rstrip(".")
            if not is_reached and check is not CHECKS[0]:
                yield Finding(name, "not tried")
                continue
            began = monotonic()
            try:
                detail = await check(self)
                finding = Finding(name, "held", detail, monotonic() - began)
                is_reached = True
            except NotTested as why:
                finding = Finding(name, "not tested", str(why), monotonic() - began)
            except NotSupported as why:
                finding = Finding(name, "not supported", str(why), monotonic() - began)
            except AsksNobody as why:
                finding = Finding(name, "does not ask", str(why), monotonic() - began)
            except (PromiseBroken, CommandFailed) as why:
                finding = Finding(name, "broken", await self._reason(why), monotonic() - began)
                await self._recover()
            if check is AgentTrial.asks_when_supervised and self.asked:
                finding = structs.replace(finding, asked=self.asked)
            yield finding

    async def answers(self) -> str:
        """A prompt has an answer, and the turn an end."""
        events = await (await self._conversation()).turn(say(self._first_word))
        _completed(events)
        if self._first_word not in text_of(events):
            raise PromiseBroken(f"the answer is {text_of(events)[:200]!r}")
        return ""

    async def says_it_once(self) -> str:
        """What is said comes once, and each turn has one end."""
        wanted = word()
        events = await (await self._conversation()).turn(say(wanted))
        count = text_of(events).count(wanted)
        if count != 1:
            raise PromiseBroken(f"the word came {count} times")
        starts, ends = len(of_kind(events, ev.TurnStarted)), len(of_kind(events, ev.Complete))
        if (starts, ends) != (1, 1):
            raise PromiseBroken(f"{starts} starts and {ends} ends of a turn")
        return ""

    async def introduces_itself(self) -> str:
        """It says which session this is, and with which model."""
        infos = [info for talk in self._talks for info in talk.seen(ev.SessionInfo)]
        ids = [info.session_id for info in infos if info.session_id]
        models = [info.model for info in infos if info.model]
        if not ids:
            raise PromiseBroken("it did not report the id of its session, so it cannot be resumed")
        return f"model {models[-1]}" if models else "no model was told"

    async def obeys_a_refusal(self) -> str:
        """A command that is refused is not run, and the turn ends."""
        made = self._workspace / word()
        talk = await self._conversation()
        events = await talk.turn(run(f"touch {made.name}"), reject)
        if not of_kind(events, ev.PermissionRequest):
            if made.exists():
                raise AsksNobody("it ran the command without asking")
            _called_a_tool(events)
            raise PromiseBroken("it did not ask for permission, and did not run the command either")
        if made.exists():
            raise PromiseBroken("it ran what was refused")
        return f"the turn ends {outcome_of(events)}"

    async def does_what_is_allowed(self) -> str:
        """An allowed command runs, and its end is reported."""
        made = self._workspace / word()
        events = await (await self._conversation()).turn(run(f"touch {made.name}"), allow)
        _completed(events)
        if not made.exists():
            _called_a_tool(events)
            raise PromiseBroken("the command was not run")
        calls, ends = _calls(events)
        if not calls or calls != ends:
            raise PromiseBroken(f"{sum(calls.values())} calls began and {sum(ends.values())} ended")
        return ""

    async def tells_what_came_of_it(self) -> str:
        """The output of a command is reported, and its exit code."""
        printed = word()
        events = await (await self._conversation()).turn(run(f"echo {printed}; exit {EXIT_CODE}"), allow)
        told = [update.normalized for update in of_kind(events, ev.ToolUpdate)]
        outputs = [
            body.shell_exec.output
            for body in told
            if isinstance(body, ShellExecPayload) and body.shell_exec.output is not None
        ]
        if not any(printed in (output.stdout or "") for output in outputs):
            raise NotSupported("it does not report the output")
        codes = [output.exit_code for output in outputs if output.exit_code is not None]
        if not codes:
            raise NotSupported("it reports the output, but no exit code")
        if codes[-1] != EXIT_CODE:
            raise PromiseBroken(f"it reports exit code {codes[-1]} for a command that ended with {EXIT_CODE}")
        return f"exit code {codes[-1]}"

    async def asks_when_supervised(self) -> str:
        """Under the policy supervised it asks before it runs a command and before it writes a file."""
        if not self._has_policies:
            raise NotSupported("its family has no policies")
        git = shutil.which("git")
        found = git_above(self._workspace)
        is_git = found is not None and (found.is_file() or any(found.iterdir()))
        await self._try_folder("git" if is_git else "plain")
        if git is not None and not is_git:
            made = await asyncio.create_subprocess_exec(git, "init", "-q", str(self._workspace))
            if await made.wait() == 0:
                try:
                    await self._try_folder("git")
                finally:
                    shutil.rmtree(self._workspace / ".git", ignore_errors=True)
        for kind in FOLDERS:
            self.asked.setdefault(kind, dict.fromkeys(ACTS, "not tried"))
        said = "; ".join(
            f"{'in a git folder' if kind == 'git' else 'in another folder'}: "
            + ", ".join(f"{act} {asked}" for act, asked in acts.items())
            for kind, acts in self.asked.items()
        )
        asked = {acts[act] for acts in self.asked.values() for act in CHANGES}
        if "not held" in asked:
            raise AsksNobody(said)
        if "not tried" in asked:
            raise NotTested(said)
        return said

    @property
    def version(self) -> str | None:
        """The agent's version, as far as it has told one."""
        told = [info.version for talk in self._talks for info in talk.seen(ev.SessionInfo) if info.version]
        return told[-1] if told else None

    async def _try_folder(self, kind: FolderKind) -> None:
        """Try each act in a new session under the policy supervised, and refuse it. Raises PromiseBroken."""
        found = self.asked[kind] = dict.fromkeys(ACTS, "not tried")
        try:
            session = await self._client.create(workspace=str(self._workspace), policy="supervised")
        except CommandFailed as failed:
            raise NotTested(str(failed)) from None
        talk = Conversation(self._client, session, self._patience)
        self._talks.append(talk)
        try:
            with tempfile.TemporaryDirectory(prefix="turnwire-outside-") as outside:
                async with _page() as page:
                    for act in ACTS:
                        file = (Path(outside) if act == "outside" else self._workspace) / word()
                        prompt, is_done = _attempt(act, file, page)
                        events = await talk.turn(prompt, reject)
                        is_asked = bool(of_kind(events, ev.PermissionRequest))
                        if is_done(events) and is_asked and act in CHANGES:
                            raise PromiseBroken(f"the {act} was refused and made all the same")
                        if is_done(events) or is_asked:
                            found[act] = "held" if is_asked else "not held"
        except CommandFailed as failed:
            raise NotTested(f"it is not started under this policy: {failed}") from None
        finally:
            try:
                await self._client.close_session(session)
            except CommandFailed:
                pass  # it has ended already

    async def takes_a_second_prompt(self) -> str:
        """What is said while it works is answered, too, and nothing is lost."""
        first, second = word(), word()
        talk = await self._conversation()
        await talk.prompt(say(first))
        await talk.prompt(say(second))
        events = await talk.finish()
        is_joined = second in text_of(events)
        if not is_joined:
            events += await talk.finish()
        said = text_of(events)
        missing = [wanted for wanted in (first, second) if wanted not in said]
        if missing:
            raise PromiseBroken(f"{len(missing)} of two prompts were not answered")
        return "both in one turn" if is_joined else "one after the other"

    async def stops(self) -> str:
        """An interrupt ends the turn, and what it ran."""
        talk = await self._conversation()
        seconds = 300 + secrets.randbelow(600)
        await talk.prompt(run(f"echo begin; sleep {seconds}"))
        async with TaskOwner() as tasks:
            turn = tasks.begin("a turn that is interrupted", talk.finish(allow))
            try:
                async with asyncio.timeout(UNDER_WAY_S):
                    while not turn.done() and not _running(f"sleep\0{seconds}\0"):  # noqa: ASYNC110 - nobody tells of it
                        await asyncio.sleep(0.1)
            except TimeoutError:
                pass  # where processes cannot be seen, or are elsewhere
            if not turn.done():
                await self._client.interrupt(talk.session)
            events = await turn
        if outcome_of(events) == "completed":
            raise PromiseBroken("the turn ended as if it had not been interrupted")
        for _ in range(50):
            left = _running(f"sleep\0{seconds}\0")
            if not left:
                break
            await asyncio.sleep(0.1)
        else:
            raise PromiseBroken(f"the command runs on as process {left[0]}")
        return f"the turn ends {outcome_of(events)}"

    async def goes_on(self) -> str:
        """After an interrupt the next prompt is answered as before."""
        wanted = word()
        events = await (await self._conversation()).turn(say(wanted))
        _completed(events)
        if wanted not in text_of(events):
            raise PromiseBroken(f"the answer is {text_of(events)[:200]!r}")
        return ""

    async def takes_a_large_prompt(self) -> str:
        """A prompt of 300,000 characters arrives whole."""
        wanted = word()
        filler = "This line says nothing; read on to the end. " * (LARGE // 44)
        events = await (await self._conversation()).turn(f"{filler}\n{say(wanted)}")
        if wanted not in text_of(events):
            raise PromiseBroken(f"{outcome_of(events)}: {text_of(events)[:200]!r}")
        return ""

    async def takes_any_text(self) -> str:
        """Characters of all kinds in a prompt do no harm."""
        wanted = word()
        events = await (await self._conversation()).turn(f"{ODD}\n{say(wanted)}")
        if wanted not in text_of(events):
            raise PromiseBroken(f"{outcome_of(events)}: {text_of(events)[:200]!r}")
        return ""

    async def refuses_what_it_does_not_know(self) -> str:
        """A request that it does not know gets an error, and does no harm."""
        talk = await self._conversation()
        try:
            async with asyncio.timeout(self._patience):
                # what begins with `_` goes to the agent, whatever its protocol: turnwire answers nothing in its place
                await self._client.control(talk.session, {"subtype": UNKNOWN_REQUEST})
        except CommandFailed as failed:
            if failed.code == "not_supported":
                raise NotSupported("its protocol has no control requests") from None
            if "answer" in str(failed) and "time" in str(failed):
                raise PromiseBroken(str(failed)) from None
            return str(failed)[:120]
        except TimeoutError:
            raise PromiseBroken("it does not answer") from None
        raise PromiseBroken("it reports success for an unknown request")

    async def goes_on_with_a_conversation(self) -> str:
        """Another process of it goes on with the conversation."""
        talk = await self._conversation()
        if not talk.seen(ev.Complete):
            await talk.turn(say(word()))  # a new session, after a check that failed
        before = _session_of(talk.events)
        await self._client.close_session(talk.session)
        while not isinstance(await talk.next(), ev.ProcessStatus):
            pass
        try:
            await self._client.resume(talk.session)
        except CommandFailed as failed:
            if failed.code == "not_supported" or "resume: an agent that speaks" in str(failed):
                self._talk = None  # it is closed, and the next check begins with a new one
                raise NotSupported(str(failed)) from None
            raise
        wanted = word()
        events = await talk.turn(say(wanted))
        _completed(events)
        if wanted not in text_of(events):
            raise PromiseBroken(f"the answer is {text_of(events)[:200]!r}")
        return "as the same session" if _session_of(events) == before else "as a session of another id"

    async def speaks_its_protocol(self) -> str:
        """All that it wrote was of its protocol."""
        events = [event for talk in self._talks for event in talk.events]
        malformed = [event for event in events if isinstance(event, ev.Malformed)]
        if malformed:
            raise PromiseBroken(
                f"{len(malformed)} lines are not messages of the protocol, such as {str(malformed[0])[:200]}"
            )
        unknown = Counter(str(event.message_type) for event in events if isinstance(event, ev.Unknown))
        calls, ends = _calls(events)
        if calls != ends:
            raise PromiseBroken(f"{sum(calls.values())} calls began and {sum(ends.values())} ended")
        named = ", ".join(f"{name} ({count})" for name, count in sorted(unknown.items()))
        return f"of kinds that turnwire does not know: {named}" if named else ""

    async def ends(self) -> str:
        """It ends when its input does, by itself and with all that it started."""
        talk = await self._conversation()
        await self._client.close_session(talk.session)
        while True:
            event = await talk.next()
            if isinstance(event, ev.ProcessStatus) and event.state == "exited":
                if event.signal is not None:
                    raise PromiseBroken(f"it had to be ended by {event.signal}")
                return f"exit code {event.exit_code}"

    async def _conversation(self) -> Conversation:
        """Return the session that is tried, a new one where there is none."""
        if self._talk is None:
            session = await self._client.create(workspace=str(self._workspace))
            self._talk = Conversation(self._client, session, self._patience)
            self._talks.append(self._talk)
        return self._talk

    async def _reason(self, error: Exception) -> str:
        """Return what is wrong, with the last words of an agent that has ended."""
        if self._talk is None or getattr(error, "code", "") != "not_running":
            return str(error)
        try:
            while (
                not isinstance(event := await self._talk.next(), ev.ProcessStatus) or event.state != "exited"
            ):
                pass
        except PromiseBroken:
            return str(error)
        return f"the agent has exited: {how_it_ended(event)}"

    async def _recover(self) -> None:
        """Leave a session that failed a check, so that the next check has one in which nothing runs."""
        if self._talk is None:
            return
        try:
            await self._client.close_session(self._talk.session)
        except CommandFailed:
            pass  # it has ended already
        self._talk = None


CHECKS: tuple[Callable[[AgentTrial], Awaitable[str]], ...] = (
    AgentTrial.answers,
    AgentTrial.says_it_once,
    AgentTrial.introduces_itself,
    AgentTrial.obeys_a_refusal,
    AgentTrial.does_what_is_allowed,
    AgentTrial.tells_what_came_of_it,
    AgentTrial.asks_when_supervised,
    AgentTrial.takes_a_second_prompt,
    AgentTrial.stops,
    AgentTrial.goes_on,
    AgentTrial.takes_a_large_prompt,
    AgentTrial.takes_any_text,
    AgentTrial.refuses_what_it_does_not_know,
    AgentTrial.goes_on_with_a_conversation,
    AgentTrial.speaks_its_protocol,
    AgentTrial.ends,
)
"""In this order: each finds the session as the one before it has left it."""


def _completed(events: list[ev.AgentEvent]) -> None:
    end = of_kind(events, ev.Complete)[-1]
    if end.data.outcome != "completed":
        errors = "; ".join(end.data.errors or ())
        raise PromiseBroken(f"the turn ends {end.data.outcome}" + (f": {errors[:300]}" if errors else ""))


def _called_a_tool(events: list[ev.AgentEvent]) -> None:
    """Tell an agent that runs nothing at all from one that runs what it should not, or not what it should."""
    if not of_kind(events, ev.ToolCall):
        raise NotTested(f"it called no tool: {text_of(events)[:200]!r}")


def _succeeded(events: list[ev.AgentEvent]) -> list[ev.ToolUpdate]:
    return [event for event in of_kind(events, ev.ToolUpdate) if event.tool_status == "complete"]


def _attempt(act: Act, file: Path, page: "_Page") -> tuple[str, Callable[[list[ev.AgentEvent]], bool]]:
    """Return the prompt for an act on a file of its own, and what tells whether it was done."""
    if act in ("edit", "outside"):
        file.write_text(MADE)
    match act:
        case "command":
            return run(f"touch {file.name}"), lambda _: file.exists()
        case "write":
            return write(file.name), lambda _: file.exists()
        case "edit":
            return edit(file.name), lambda _: file.read_text() != MADE
        case "outside":
            return read(str(file)), lambda events: bool(_succeeded(events))
        case "web":
            return fetch(page.url), lambda _: bool(page.hits)


class _Page:
    """A page on loopback."""

    def __init__(self, url: str, hits: list[bytes]) -> None:
        self.url = url
        self.hits = hits
        """One for each time that it was fetched."""


@asynccontextmanager
async def _page() -> AsyncIterator[_Page]:
    hits: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hits.append(await reader.read(1))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\npage")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1")
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield _Page(f"http://127.0.0.1:{port}/{word()}", hits)


def _session_of(events: list[ev.AgentEvent]) -> str | None:
    """Return the agent's own id of the session, as the last event that has one says."""
    return next((event.session_id for event in reversed(events) if event.session_id), None)


def _calls(events: list[ev.AgentEvent]) -> tuple[Counter[str], Counter[str]]:
    began = Counter(event.tool_call_id for event in events if isinstance(event, ev.ToolCall))
    ended = Counter(
        event.tool_call_id
        for event in events
        if isinstance(event, ev.ToolUpdate) and event.tool_status != "running"
    )
    return began, ended


def _running(argv: str) -> list[int]:
    """Return the processes whose arguments end so; none where that cannot be seen."""
    return [
        int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cmdline") if _argv(path).endswith(argv)
    ]


def _argv(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
