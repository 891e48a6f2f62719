"""Read conversation files: a survey collects facts about a file, and a reader turns its lines into lines of the protocol.

A conversation is a tree, because users can go back: each message has a parent. The live branch ends with the last
message. A file may end in the middle of a turn, while its agent still writes it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import assert_never

import msgspec

from turnwire.normalize.acp.session_files.steps import (
    Answered,
    Change,
    Compacted,
    ContinuesFrom,
    ConversationNamed,
    Failed,
    Prompted,
    Record,
    RecordReader,
    Step,
    Thought,
    Titled,
    TokensUsed,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnFailed,
)
from turnwire.normalize.common.times import moment
from turnwire.normalize.events import CompactBoundary, Notice
from turnwire.normalize.inputs import Announced, Received, Sent
from turnwire.normalize.payloads.fields import fields, whole
from turnwire.normalize.recordings.session_files import (
    Answer,
    Branch,
    ConversationSummary,
    DatedInput,
    Estimate,
    SearchableText,
)
from turnwire.protocol.acp.decode import decode
from turnwire.protocol.acp.messages import Response
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.parsing import generic
from turnwire.protocol.parsing.depth import is_too_deep
from turnwire.protocol.parsing.glued import records_in
from turnwire.protocol.quantities import clamped
from turnwire.protocol.text import scrub_json

_SHOWN = 500
"""Maximum characters of a prompt in lists."""

_MOST = (1 << 53) - 1
"""The largest number in an event."""

_SEARCHED = {
    "command": "command", "file_path": "path", "filePath": "path", "absolute_path": "path", "path": "path", "pattern": "command",
    "query": "command", "url": "path", "prompt": "prompt",
}  # fmt: skip
"""Argument name -> kind of searchable text."""

_COUNTED = Received(b'{"jsonrpc":"2.0","id":"kept","result":{}}', Response(id="kept", result={}))
"""Stands for a known record that says nothing about the conversation."""


def record_of(line: bytes) -> JsonObject | None:
    """Parse a line. None if it is not a JSON object, or nested too deeply."""
    if is_too_deep(line):
        return None
    try:
        value = msgspec.json.decode(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        try:
            value = generic.load(line)
        except (ValueError, RecursionError):
            return None
    return scrub_json(value) if isinstance(value, dict) else None


def time_of(record: JsonObject) -> float | None:
    """Return a record's time in seconds since 1970."""
    stamp = record.get("timestamp") or record.get("startTime") or record.get("lastUpdated")
    if isinstance(stamp, str):
        return moment(stamp)
    at = whole(record, "time") or whole(fields(fields(record.get("info")).get("time")), "created")
    return at / 1000 if at is not None and 0 < at < _MOST else None


class _Repeats:
    """Recognises lines that stand in a file twice: each twice in a row, or a whole file behind itself.

    Equal lines of different times are no repeats, nor are those without a time. A copy of another conversation may have one
    time for all of its lines, so equal lines of that time count, unless one follows the other.
    """

    def __init__(self) -> None:
        self._last = b""
        self._latest = 0.0
        self._known: set[int] = set()

    def has(self, line: bytes, at: float | None) -> bool:
        """Tell whether a line was there before, and remember it."""
        if at is None:
            return False
        key = hash(line)
        is_again = line == self._last or (at < self._latest and key in self._known)
        self._last, self._latest = line, max(at, self._latest)
        self._known.add(key)
        return is_again


@dataclass(slots=True)
class _Node:
    parent: str | None
    at: float | None
    prompt: str | None = None
    speaks: bool = False


@dataclass(slots=True)
class _Tree:
    """The messages of a conversation by id, with their parents."""

    nodes: dict[str, _Node] = field(default_factory=dict)
    last: str | None = None

    def add(self, record: Record, at: float | None) -> bool:
        """Add a record. Returns whether its message is new."""
        if record.back_to is not None:
            node = self.nodes.get(record.back_to)
            self.last = self.last if node is None else node.parent
        for _ in range(min(record.back_by, 10_000)):
            self.last = self._before_prompt(self.last)
        if record.message is None or record.message in self.nodes:
            return False
        parent = record.parent if record.parent in self.nodes else self.last
        asked = next((step.text for step in record.steps if isinstance(step, Prompted)), None)
        speaks = any(isinstance(step, Prompted | Answered | ToolCalled) for step in record.steps)
        self.nodes[record.message] = _Node(parent, at, None if asked is None else asked[:_SHOWN], speaks)
        self.last = record.message
        return True

    def _before_prompt(self, name: str | None) -> str | None:
        while name is not None:
            node = self.nodes[name]
            name = node.parent
            if node.prompt is not None:
                break
        return name

    def living(self, end: str | None) -> set[str]:
        """Return the messages of the branch that ends with `end`."""
        found: set[str] = set()
        while end is not None and end not in found:
            found.add(end)
            end = self.nodes[end].parent
        return found

    def branches(self, living: set[str]) -> list[Branch]:
        """Return the abandoned branches."""
        found: dict[str, list[str]] = {}
        root_of: dict[str, str] = {}
        for name, node in self.nodes.items():
            if name in living:
                continue
            root = root_of.get(node.parent or "") or name
            root_of[name] = root
            found.setdefault(root, []).append(name)
        branches = []
        for names in found.values():
            said = [name for name in names if self.nodes[name].speaks]
            if not said:
                continue
            prompt = next((prompt for name in names if (prompt := self.nodes[name].prompt)), "")
            branches.append(Branch(said[-1], prompt, self.nodes[said[-1]].at))
        return branches


class FileSurvey:
    """Collects facts and searchable text from the lines of one file."""

    def __init__(self, files: "ConversationFiles") -> None:
        self._files = files
        self._records = files.records()
        self._facts = ConversationSummary()
        self._tree = _Tree()
        self._first_prompt: str | None = None
        self._took: dict[str, Answer] = {}
        self._sums: dict[str, Answer] = {}
        """Token sums of the whole conversation, for agents that do not report each model call."""
        self._prompts: list[str] = []
        self._asides: dict[str, RecordReader] = {}
        self._repeats = _Repeats()
        self.about = ConversationNamed()

    def calls(self, agent: str, call: str) -> None:
        """Ignore which call started a subagent: nothing here depends on it."""

    def agents(self) -> Collection[str]:
        """Return no subagents: their files are found by their place."""
        return ()

    def skip(self) -> None:
        """Count a line that was too long to read."""
        self._facts.lines += 1
        self._facts.unreadable += 1

    def look_over(self, lines: Sequence[bytes], agent: str | None = None) -> Sequence[SearchableText]:
        """Read some lines."""
        return [said for line in lines for said in self.handle(line, agent)]

    def handle(self, line: bytes, agent: str | None = None) -> Sequence[SearchableText]:
        """Read a line. agent: the subagent whose file it is from; only its tokens count."""
        if not line.strip():
            return ()
        told = record_of(line)
        if told is None:
            records = records_in(line)
            if len(records) > 1:
                return [said for record in records for said in self.handle(record, agent)]
            self.skip()
            return ()
        self._facts.lines += 1
        at, said = time_of(told), list[SearchableText]()
        if agent is not None:
            for used in tokens_in(self._asides.setdefault(agent, self._files.records()), told):
                self._step("", used, at)
            return ()
        if self._repeats.has(line, at):
            return ()
        for record in self._records.read(told):
            if self._tree.add(record, at) and at is not None:
                facts = self._facts
                facts.began = at if facts.began is None else min(at, facts.began)
                facts.ended = at if facts.ended is None else max(at, facts.ended)
            for step in record.steps:
                said += self._step(record.message or "", step, at)
        return said

    def _step(self, message: str, step: Step, at: float | None) -> Sequence[SearchableText]:
        facts = self._facts
        match step:
            case ConversationNamed():
                told = ConversationNamed(*(new or old for new, old in zip(step, self.about, strict=True)))
                # a fork has its own head first, and its origin's head after it
                self.about = told._replace(session_id=self.about.session_id or told.session_id)
            case Titled(title=title):
                facts.title = title
                return [SearchableText(message, "title", title)]
            case Prompted(text=text):
                self._first_prompt = self._first_prompt or text[:_SHOWN]
                self._prompts.append(message)
                return [SearchableText(message, "prompt", text)]
            case Answered(text=text):
                return [SearchableText(message, "text", text)] if text.strip() else ()
            case ToolCalled(arguments=arguments):
                found = [(what, arguments.get(name)) for name, what in _SEARCHED.items()]
                return [
                    SearchableText(message, what, text)
                    for what, text in found
                    if isinstance(text, str) and text
                ]
            case TokensUsed():
                took = self._sums if step.is_sum else self._took
                took[step.key] = Answer(
                    step.key, at, step.model, clamped(step.sent), clamped(step.written), clamped(step.cache_read),
                    clamped(step.cache_written), step.cost_usd,
                )  # fmt: skip
            case _:
                pass
        return ()

    def outline(self) -> ConversationSummary:
        """Return the facts collected so far."""
        facts, about = self._facts, self.about
        living = self._tree.living(self._tree.last)
        facts.session_id, facts.folder, facts.version = about.session_id, about.folder, about.version
        facts.model, facts.git_branch = about.model, about.git_branch
        facts.first_prompt = self._first_prompt
        facts.turns = sum(prompt in living for prompt in self._prompts)
        facts.answers = [*self._took.values()]
        # token sums from another file do not name the conversation
        facts.answers += [
            one._replace(key=f"{about.session_id}:{one.key}", at=one.at or facts.ended)
            for one in self._sums.values()
        ]
        costs = [one.cost_usd for one in facts.answers if one.cost_usd is not None]
        facts.cost_usd = round(sum(costs), 10) if costs else None
        facts.cost_is_whole = bool(costs) and len(costs) == len(facts.answers)
        facts.leaf = self._tree.last
        facts.branches = self._tree.branches(living)
        return facts

    def reader(self, leaf: str | None = None) -> "BranchReader":
        """Return a reader of the live branch, or of the branch that ends with `leaf`. Raises KeyError for an unknown message."""
        if leaf is not None and leaf not in self._tree.nodes:
            raise KeyError(leaf)
        living = self._tree.living(self._tree.last if leaf is None else leaf)
        dead = self._tree.nodes.keys() - living
        return BranchReader(self._files, self.about, dead, self._tree.branches(living))


def tokens_in(records: RecordReader, told: JsonObject) -> Sequence[TokensUsed]:
    """Return the tokens of model calls that a line of a subagent's file reports."""
    return [step for record in records.read(told) for step in record.steps if isinstance(step, TokensUsed)]


class BranchReader:
    """Turns the lines of one branch into lines of the protocol."""

    def __init__(
        self,
        files: "ConversationFiles",
        about: ConversationNamed,
        dead: Collection[str],
        branches: Sequence[Branch],
    ) -> None:
        self._files = files
        self._records = files.records()
        self._about = about
        self._dead = dead
        self._branches = branches
        self._session = about.session_id or "kept"
        self._id = 0
        self._prompt: int | None = None
        """Id of the request that started the open turn."""
        self._calls: set[str] = set()
        self._answered = False
        self._used = [0, 0, 0, 0]
        self._model: str | None = None
        self._last: float | None = None
        self._is_open = False
        self._told = False
        self._asides: dict[str, RecordReader] = {}
        self._repeats = _Repeats()

    def read(self, line: bytes, agent: str | None = None) -> Sequence[DatedInput]:
        """Return the protocol lines for a line. agent: the subagent whose file it is from."""
        if not line.strip():
            return ()
        told = record_of(line)
        if told is None:
            return [DatedInput(self._last, Received(line, decode(line)))]
        if agent is not None:
            for used in tokens_in(self._asides.setdefault(agent, self._files.records()), told):
                self._add(used)
            return [DatedInput(self._last, _COUNTED)]
        at = time_of(told)
        if self._repeats.has(line, at):
            return [DatedInput(self._last, _COUNTED)]
        self._last = at or self._last
        made = [] if self._is_open else self._open()
        for record in self._records.read(told):
            if record.message in self._dead:
                made += self._cut()
                continue
            for step in record.steps:
                made += self._step(record.message, step)
        return made or [DatedInput(self._last, _COUNTED)]

    def close(self) -> Sequence[DatedInput]:
        """End the last turn if it is complete."""
        return self._over("end_turn") if self._answered and not self._calls else ()

    def settle(self) -> Sequence[DatedInput]:
        """Return nothing: in these files only a record or the next prompt ends a turn."""
        return ()

    def _cut(self) -> list[DatedInput]:
        if self._told or not self._branches:
            return []
        self._told = True
        listed = [{"leaf": one.leaf, "prompt": one.prompt} for one in self._branches[:20]]
        ways = "way" if len(self._branches) == 1 else "ways"
        text = f"{len(self._branches)} {ways} that this conversation took and left again are not shown."
        notice = Notice(
            session_id=self._session, kind="branches", level="info", text=text, details={"branches": listed}
        )
        return [DatedInput(self._last, Announced(notice))]

    def _step(self, message: str | None, step: Step) -> list[DatedInput]:
        match step:
            case ConversationNamed(model=model):
                return self._model_is(model)
            case ContinuesFrom(session_id=origin):
                text = f"This conversation is a fork of the conversation {origin}. What was said before is there."
                notice = Notice(
                    session_id=self._session,
                    kind="fork",
                    level="warning",
                    text=text,
                    details={"session_id": origin},
                )
                return [DatedInput(self._last, Announced(notice))]
            case Prompted(text=text):
                ended = self._over("end_turn")
                words = {"type": "text", "text": text}
                prompt = {
                    "sessionId": self._session,
                    "prompt": [words],
                    "_meta": {"turnwire/prompt": message},
                }
                asked = self._ask("session/prompt", prompt)
                self._prompt = self._id
                return [*ended, asked]
            case Answered(text=text):
                self._answered = True
                return [self._chunk("agent_message_chunk", message, text)] if text else []
            case Thought(text=text):
                return [self._chunk("agent_thought_chunk", message, text)] if text else []
            case ToolCalled():
                self._calls.add(step.call)
                return [
                    self._update(
                        "tool_call", toolCallId=step.call, title=step.title, kind=step.kind, name=step.name,
                        status="in_progress", rawInput=step.arguments,
                    )
                ]  # fmt: skip
            case ToolReturned():
                return [self._returned(step)]
            case TokensUsed(is_sum=True):
                return []
            case TokensUsed():
                self._add(step)
                return [*self._model_is(step.model), *self._context(step)]
            case Compacted():
                return [DatedInput(self._last, Announced(CompactBoundary(session_id=self._session)))]
            case TurnFailed() if self._prompt is not None:
                return self._over(step)
            case Failed(text=text) | TurnFailed(text=text):
                notice = Notice(session_id=self._session, kind="agent_error", level="warning", text=text)
                return [DatedInput(self._last, Announced(notice))]
            case TurnEnded(reason=reason):
                return self._over(reason)
            case Titled():
                return []
            case _ as never:
                assert_never(never)

    def _open(self) -> list[DatedInput]:
        """Introduce the agent and load the conversation."""
        self._is_open, about = True, self._about
        asked = self._ask("initialize", {"protocolVersion": 1})
        info = {"name": self._files.program, "version": about.version}
        greeted = self._answer({"protocolVersion": 1, "agentInfo": info})
        begun = self._ask("session/new", {"cwd": about.folder or "/", "mcpServers": []})
        return [asked, greeted, begun, self._answer({"sessionId": self._session})]

    def _model_is(self, model: str | None) -> list[DatedInput]:
        if not model or model == self._model or not self._is_open:
            return []
        self._model = model
        asked = self._ask("session/set_model", {"sessionId": self._session, "modelId": model})
        return [asked, self._answer({})]

    def _add(self, step: TokensUsed) -> None:
        kinds = (step.sent, step.written, step.cache_read, step.cache_written)
        self._used = [used + clamped(count) for used, count in zip(self._used, kinds, strict=True)]

    def _context(self, step: TokensUsed) -> list[DatedInput]:
        if step.context is None or step.window is None:
            return []
        return [self._update("usage_update", used=step.context, size=step.window)]

    def _returned(self, step: ToolReturned) -> DatedInput:
        self._calls.discard(step.call)
        shown: list[JsonObject] = [
            {
                "type": "diff",
                "path": one.path,
                "oldText": one.before,
                "newText": one.after,
                "_meta": _about(one),
            }
            for one in step.changes
        ]
        if step.output and not shown:
            shown.append({"type": "content", "content": {"type": "text", "text": step.output}})
        raw = {**step.raw, "output": step.output} | (
            {} if step.exit_code is None else {"exit_code": step.exit_code}
        )
        status = "failed" if step.failed else "completed"
        return self._update(
            "tool_call_update", toolCallId=step.call, status=status, content=shown, rawOutput=raw
        )

    def _over(self, reason: str | TurnFailed) -> list[DatedInput]:
        """Answer the prompt of the open turn, if any."""
        if self._prompt is None:
            return []
        if isinstance(reason, TurnFailed):
            error = {"code": reason.status or -32603, "message": reason.text}
            ended = self._received({"id": self._prompt, "error": error})
            self._end()
            return [ended]
        sent, written, read, created = self._used
        usage = {
            "inputTokens": sent, "outputTokens": written, "cachedReadTokens": read, "cachedWriteTokens": created,
            "totalTokens": sum(self._used),
        }  # fmt: skip
        result = {"stopReason": reason} | ({"usage": usage} if any(self._used) else {})
        ended = self._answer(result, self._prompt)
        self._end()
        return [ended]

    def _end(self) -> None:
        self._prompt, self._used, self._answered = None, [0, 0, 0, 0], False
        self._calls.clear()

    def _chunk(self, kind: str, message: str | None, text: str) -> DatedInput:
        return self._update(kind, content={"type": "text", "text": text}, messageId=message)

    def _update(self, news: str, **members: object) -> DatedInput:
        update = {"sessionUpdate": news, **members}
        return self._received(
            {"method": "session/update", "params": {"sessionId": self._session, "update": update}}
        )

    def _ask(self, method: str, params: JsonObject) -> DatedInput:
        self._id += 1
        line = _line({"id": self._id, "method": method, "params": params})
        return DatedInput(self._last, Sent(line, decode(line)))

    def _answer(self, result: JsonObject, request: int | None = None) -> DatedInput:
        return self._received({"id": self._id if request is None else request, "result": result})

    def _received(self, wire: JsonObject) -> DatedInput:
        line = _line(wire)
        return DatedInput(self._last, Received(line, decode(line)))


def _about(change: Change) -> JsonObject:
    kind = "add" if change.before is None else "delete" if change.after is None else "update"
    return {"kind": kind} | ({} if change.hunks is None else {"turnwire/diff": change.hunks})


def _line(wire: JsonObject) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **wire})


class ConversationFiles:
    """Conversation files of one agent. Subclasses define the agent and its records."""

    agent: str
    """The agent's name for `--agent`."""
    core_goes_on = False
    """False: the live agent may use another family's wire than this file."""
    program: str
    """The agent's name on the wire."""

    records: type[RecordReader]
    """The reader of its records."""

    def recognises(self, line: bytes) -> bool:
        """Return whether a line belongs to such a file, and not to a recording. By default: whether it has the id."""
        return self.session_of(line) is not None

    def session_of(self, line: bytes) -> str | None:  # noqa: ARG002 - the file's or folder's name may be the id
        """Return the conversation's id, if the line has it. By default no line has it."""
        return None

    def moment(self, line: bytes) -> float | None:
        """Return a line's time in seconds since 1970; None if it has none."""
        told = record_of(line)
        return None if told is None else time_of(told)

    def named(self, path: PurePath) -> str:
        """Return the conversation's id from the file's path. Used if no line has the id."""
        return path.stem

    def beside(self, path: PurePath) -> Sequence[PurePath]:  # noqa: ARG002 - most agents use one file
        """Return further files of the conversation: none by default."""
        return ()

    def survey(self, estimate: Estimate | None = None) -> FileSurvey:  # noqa: ARG002 - these agents report no cost
        """Return a new survey of a file."""
        return FileSurvey(self)
