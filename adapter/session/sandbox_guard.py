"""Between a session and its sandbox: new hosts become permission requests of the session, refusals become its events.

Nothing reports to turnwire that a program was refused a file. So refusals are read from tool results, where programs name
a place that is read-only, or one that the sandbox hides.
"""

import asyncio
import re
import uuid
from collections.abc import Callable, Iterator, Sequence

import msgspec

from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.decisions import TimedOut
from turnwire.adapter.permissions.requests import Reply
from turnwire.adapter.sandbox.gate import ANSWER_S, Denied, HostAnswer, HostGate, within
from turnwire.adapter.sandbox.hosts import Target
from turnwire.adapter.sandbox.profile import Profile
from turnwire.adapter.sandbox.requests import host_answer, host_asked
from turnwire.adapter.session.core import CoreInput
from turnwire.normalize.core import InputWithEvents
from turnwire.normalize.events import AgentEvent, Complete, SandboxDenied, ToolCall, ToolUpdate
from turnwire.normalize.inputs import Announced

MOST_READ = 1 << 18
"""Bytes of a tool call's result that are looked at."""

LONGEST_LINE = 1000
"""Characters of a line of it that are looked at."""

_WORDS = (
    "ead-only file system",
    "ermission denied",
    "o such file or directory",
    "evice or resource busy",
    "EROFS",
    "EBUSY",
    "EACCES",
    "ENOENT",
    "[Errno ",
)

MOST_OPEN = 1000
"""Tool calls that are held to be open."""

_PATH = r"(?P<{name}>(?:/|\.{{0,2}}/|[\w.~-])[^\s:'\"`\\,;]*)"
_REFUSED = re.compile(
    # Programs of C and of shells: PATH: Read-only file system; of Node.js: EROFS: read-only file system, open 'PATH'
    _PATH.format(name="first")
    + r"['\"’]?(?: for (?:reading|writing))?: (?:Read-only file system|Device or resource busy|Permission denied|No such file or directory)"
    + r"|(?:EROFS|EBUSY|EACCES|ENOENT): [\w ,-]{0,60} (?:\\*'[^']*' -> )?\\*'"
    + _PATH.format(name="second")
    + r"|\[Errno (?:30|16|13|2)\] [\w -]{0,60}: \\*'"
    + _PATH.format(name="third")
)

_TEMPORARY = re.compile(r"\.(?:tmp\.\d+\.[0-9a-f]+|[0-9a-f]{6,}\.tmp)\Z")
"""End of the name of a file that Claude Code or Qwen Code writes beside another, to rename it over that one."""


class SandboxGuard:
    """Speaks for the sandbox of one session."""

    def __init__(
        self,
        handle: Callable[[CoreInput], object],
        gate: HostGate,
        profile: Profile,
        audit: AuditTrail | None,
    ) -> None:
        self._handle = handle
        self._gate = gate
        self._profile = profile
        self._audit = audit
        self._calls: dict[str, str] = {}
        """Open tool calls, by id, with the tool's name."""
        self._waiting: dict[str, tuple[Target, asyncio.Future[HostAnswer]]] = {}
        self._call: str | None = None
        """The call whose result is being read."""
        self._session: str | None = None
        self._turn: str | None = None
        """The agent's session and the open turn, as events name them."""
        gate.attach(self._ask, self._tell)

    def see(self, batch: Sequence[InputWithEvents]) -> None:
        """Take published inputs: the open calls, and their results."""
        for happened in batch:
            for event in happened.events:
                self._session = event.session_id or self._session
                self._turn = event.operation_id or self._turn
                self._take(event)

    def answered(self, request_id: str, reply: Reply) -> None:
        """Hand an answer to the connections that wait for it."""
        target, waiting = self._waiting.pop(request_id)
        if not waiting.done():
            waiting.set_result(host_answer(target, reply))

    def voided(self, request_id: str) -> None:
        """Refuse a host whose request is void. Ignores requests of the agent."""
        if (found := self._waiting.pop(request_id, None)) is not None and not found[1].done():
            found[1].set_result(HostAnswer(allowed=False, scope="once", reason="the agent has gone"))

    async def _ask(self, target: Target) -> HostAnswer:
        name = f"host-{uuid.uuid4().hex[:12]}"
        call, tool = self._only_call()
        asked = host_asked(name, target, tool_call_id=call, tool_name=tool)
        answer: asyncio.Future[HostAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[name] = target, answer
        if self._audit is not None:
            self._audit.note_request(asked.request)
        self._handle(asked)
        found = await within(ANSWER_S, answer)
        if found is None:
            self._handle(TimedOut(name))
            found = (
                answer.result()
                if answer.done()
                else HostAnswer(allowed=False, scope="once", reason="nobody answered")
            )
        return found

    def _only_call(self) -> tuple[str | None, str | None]:
        """Return the open call and its tool if there is only one. Among several, the caller is unknown."""
        if len(self._calls) != 1:
            return None, None
        return next(iter(self._calls.items()))

    def _tell(self, denied: Denied) -> None:
        call = self._call or self._only_call()[0]
        if self._audit is not None:
            self._audit.note_denied(denied.target, denied.kind, denied.reason, call)
        event = SandboxDenied(
            session_id=self._session,
            operation_id=self._turn,
            kind=denied.kind,
            target=denied.target,
            reason=denied.reason,
            tool_call_id=call,
        )
        self._handle(Announced(event))

    def _take(self, event: AgentEvent) -> None:
        match event:
            case ToolCall():
                if len(self._calls) < MOST_OPEN:
                    self._calls[event.tool_call_id] = event.tool_name
            case ToolUpdate() if event.tool_status != "running":
                self._call = event.tool_call_id
                for denied in self._refusals(event):
                    self._gate.denied(denied)
                self._call = None
                self._calls.pop(event.tool_call_id, None)
            case Complete():
                self._turn = None
                self._calls.clear()
                self._gate.turn_ended()
            case _:
                pass

    def _refusals(self, update: ToolUpdate) -> Iterator[Denied]:
        said = msgspec.json.encode([update.normalized, update.error])[:MOST_READ].decode("utf-8", "replace")
        for line in said.replace("\\n", "\n").split("\n"):
            # almost no line says any of these, and the pattern takes its time
            if any(word in line for word in _WORDS) and (found := _REFUSED.search(line[:LONGEST_LINE])):
                path = _TEMPORARY.sub("", found["first"] or found["second"] or found["third"])
                if (reason := self._profile.why_denied(path, found[0])) is not None:
                    yield Denied("path", path, reason)
