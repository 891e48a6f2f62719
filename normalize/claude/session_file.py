"""Claude's own session files: a tree of records becomes the inputs that its stdout would have been.

Lines of the file are translated into lines of the wire, so that the same core reads both. What the wire has and the file
has not is made up from what is there: an `init` where a prompt begins a turn, a `result` where the next one ends it.

A conversation branches where somebody went back: the new prompt has the old one's parent. The living branch ends with the
last record of the file. What hangs beside it and leads to no other prompt is part of it all the same: results of parallel
calls, output of commands, the summary of a compaction.

Costs: newer CLIs note their totals (`cost-state`), by model and with the tokens; so the price of a model's tokens is known,
and with it each answer's. The kinds of tokens are weighed against each other as the API's list prices are.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from normalize.claude.user_lines import INTERRUPTED
from normalize.cores.times import moment
from normalize.events import Notice
from normalize.inputs import Announced, Received, Sent
from normalize.recordings.session_files import Answer, Branch, ConversationSummary, DatedInput, SearchableText
from protocol.claude import session_lines
from protocol.claude.decode import decode
from protocol.claude.notices import KeepAlive
from protocol.claude.session_lines import NO_LINE, MessageHead, SessionLine, Tokens

BOOKKEEPING = frozenset(
    {
        "agent-color", "agent-name", "agent-setting", "ai-title", "api-request", "api-request-blob",
        "api-request-resumed", "api-request-shape", "artifact-autoreact-ledger", "artifact-comment-monitor",
        "atis-latch", "attachment", "attribution-snapshot", "bridge-session", "content-replacement",
        "context-collapse-commit", "context-collapse-snapshot", "continued-in", "cost-state", "custom-title",
        "data-flow-incomplete", "data-flow-records", "derived-from", "dev-mods", "ended-by-model",
        "file-history-delta", "file-history-snapshot", "fork-context-ref", "frame-link", "history-suppression",
        "host-row", "hybrid-organization", "isolation-latch", "last-prompt", "marble-origami-commit",
        "marble-origami-snapshot", "memory-mode", "mode", "observer-ref", "permission-mode", "pr-link",
        "progress", "queue-operation", "relocated", "repl-mode", "resume-head-vouch", "session-owner",
        "speculation-accept", "summary", "tag", "task-summary", "tools-used", "worktree-state",
    }
)  # fmt: skip
"""Types of lines that are for the CLI alone, of all versions up to 2.1.330."""

_SHOWN = 500
"""Characters of a prompt that are kept for lists."""

_MOST = (1 << 53) - 1
"""The largest number of an event."""

_WEIGHTS = (1.0, 5.0, 0.1, 1.25)
"""What a token costs: sent, written, read from the cache, written to the cache; in tokens sent."""

_COMMAND = re.compile(r"\s*<command-(?:name|message)>")
_COMMAND_PART = re.compile(r"<command-(name|args)>([^<]*(?:<(?!/command-)[^<]*)*)</command-\1>")
_PRINTED = re.compile(r"<(local-command|bash)-(stdout|stderr)>(.*?)</\1-\2>", re.DOTALL)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""What an interactive CLI paints the output of its commands with; stdout has it plain."""
_SHELL = re.compile(r"\s*<bash-input>(.*?)</bash-input>", re.DOTALL)
_UNKNOWN_COMMAND = re.compile(r"Unknown (?:slash command|skill): (\S{1,200})")
_SUMMARY = "This session is being continued from a previous conversation that ran out of context"
"""How the summary of a compaction begins, which 1.0 does not mark."""
_CAVEAT = ("Caveat: The messages below were generated", "<local-command-caveat>")
_FOREIGN = re.compile(rb'"systemPayload"\s*:|"role"\s*:\s*"(?:user|model)"\s*,\s*"parts"\s*:')
"""What lines of descendants have that keep theirs in the same shape (Qwen Code), with messages of another API."""


class _Kind:
    """What a record is for the tree."""

    PROMPT = "prompt"
    COMMAND = "command"
    MODEL = "model"
    OTHER = "other"


class _Node(msgspec.Struct):
    """A record of the main thread."""

    uuid: str
    parent: "_Node | None"
    kind: str
    at: float | None
    text: str = ""
    woken: bool = False
    """The prompt is not a human's: a task in the background has ended."""
    real: bool = False
    """Somebody says something in it or below it."""
    asked: bool = False
    """Somebody asks something in it or below it."""


class _Seen(NamedTuple):
    """An answer as it was seen last; its lines repeat its usage, and the last one has it whole."""

    key: str
    at: float | None
    model: str
    tokens: Tokens
    cost: float | None
    copied: bool
    state: int
    """How many totals had been noted before it."""


def _weight(tokens: Tokens | session_lines.CostState) -> float:
    kinds = (
        tokens.input_tokens, tokens.output_tokens, tokens.cache_read_input_tokens, tokens.cache_creation_input_tokens,
    )  # fmt: skip
    return sum(_counted(count) * weight for count, weight in zip(kinds, _WEIGHTS, strict=True))


def _command(text: str) -> str | None:
    """Return what a human typed who gave a command; None for what is none."""
    if shell := _SHELL.match(text):
        return f"!{shell[1]}"
    if unknown := _UNKNOWN_COMMAND.fullmatch(text):
        return f"/{unknown[1]}"
    if not _COMMAND.match(text):
        return None
    parts = dict(_COMMAND_PART.findall(text))
    name = parts.get("name", "").strip()
    return f"{name} {parts.get('args', '').strip()}".strip() if name else None


def _is_meta(line: SessionLine, text: str) -> bool:
    return bool(line.is_meta) or text.startswith(_CAVEAT)


def _is_summary(line: SessionLine, text: str) -> bool:
    return bool(line.is_compact_summary) or text.startswith(_SUMMARY)


def _woken(line: SessionLine) -> bool:
    return line.origin is not None and line.origin.get("kind") == "task-notification"


def _is_answer(head: MessageHead) -> bool:
    return any(block.type == "tool_result" for block in head.blocks)


def _kind(line: SessionLine, head: MessageHead, text: str) -> str:
    if line.type == "assistant":
        return _Kind.MODEL
    if line.type == "system":
        command = line.subtype == "local_command" and _command(line.content or "")
        return _Kind.COMMAND if command else _Kind.OTHER
    if line.type != "user" or _is_meta(line, text) or _is_summary(line, text) or _is_answer(head):
        return _Kind.OTHER
    if _command(text) is not None:
        return _Kind.COMMAND
    if _PRINTED.search(text) or text.startswith(INTERRUPTED):
        return _Kind.OTHER
    return _Kind.PROMPT


def _counted(count: int) -> int:
    """Return a count as one that can be: what is no number of tokens is as many as a number of events holds."""
    return min(max(count, 0), _MOST)


def _dollars(cost: float | None) -> float | None:
    return None if cost is None or not 0 <= cost <= _MOST else round(cost, 10)


@dataclass
class _Prices:
    """What a token of each model has cost, learned from the totals."""

    by_model: dict[str, float] = field(default_factory=dict)

    def learn(self, usage: dict[str, session_lines.CostState]) -> None:
        for model, used in usage.items():
            weight = _weight(used)
            if weight > 0 and 0 <= used.cost_usd <= _MOST:
                self.by_model[model] = used.cost_usd / weight

    def cost_of(self, model: str, tokens: Tokens) -> float | None:
        price = self.by_model.get(model)
        return None if price is None else price * _weight(tokens)


class ClaudeSurvey:
    """Looks over the lines of one session file, and of its subagents' files."""

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}
        self._last: _Node | None = None
        self._first_prompt: str | None = None
        self._custom: str | None = None
        self._ai: str | None = None
        self._summaries: dict[str, str] = {}
        self._seen: dict[tuple[str | None, str], _Seen] = {}
        """By subagent and the API's message id."""
        self._prices = _Prices()
        self._totals: list[SessionLine] = []
        self._facts = ConversationSummary()
        self._tasks: dict[str, list[str]] = {}
        """Calls that wait for their subagent's first line, by the prompt they gave it."""
        self._agents: dict[str, str] = {}
        """The call that started each subagent with an id."""
        self._threads: dict[str, str] = {}
        """The call that started a subagent, by the first record of a thread in the main file."""
        self._called: dict[str, tuple[str, ...]] = {}
        """The records of the main thread that have a call: more than one where a past was copied."""
        self._within: dict[str, str] = {}
        """The call that started the subagent whose call it is."""
        self._boundary: str | None = None
        self._compacted: dict[str, tuple[str, str]] = {}
        """By a compaction's boundary: the record of the command that asked for it, and its text."""
        self.first_model: str | None = None

    def calls(self, agent: str, call: str) -> None:
        """Take in which call has started a subagent."""
        self._agents.setdefault(agent, call)

    def agents(self) -> Collection[str]:
        """Return the subagents that have been told of."""
        return list(self._agents)

    def skip(self) -> None:
        """Count a line that was too long to be kept."""
        self._facts.lines += 1
        self._facts.unreadable += 1

    def handle(self, line: bytes, agent: str | None = None) -> Sequence[SearchableText]:
        """Look at a line."""
        if not line.strip():
            return ()
        self._facts.lines += 1
        read = session_lines.read(line)
        if read is NO_LINE or not read.type:
            self._facts.unreadable += 1
            return ()
        head = (
            session_lines.head(read.message)
            if read.type in ("user", "assistant")
            else session_lines.NO_MESSAGE
        )
        at = moment(read.timestamp)
        if read.type == "assistant":
            self._answer(read, head, at, agent or read.agent_id)
        text = head.text if read.type == "user" else ""
        if agent is not None or read.is_sidechain:
            self._aside(read, head, text, agent)
            return _said(read, head, _Kind.OTHER, text)
        self._note(read, head, at)
        kind = _kind(read, head, text)
        typed = (_command(text or read.content or "") or "") if kind == _Kind.COMMAND else text
        if (
            read.uuid is not None
            and read.uuid not in self._nodes
            and read.type not in ("progress", "summary")
        ):
            self._join(read, kind, at, typed)
        return () if _woken(read) else _said(read, head, kind, typed)

    def _note(self, line: SessionLine, head: MessageHead, at: float | None) -> None:
        facts = self._facts
        facts.session_id = line.session_id or facts.session_id
        facts.folder = facts.folder or line.cwd
        if (
            line.git_branch != "HEAD"
        ):  # no branch is called so: nothing is checked out by name, or there is no repository
            facts.git_branch = line.git_branch or facts.git_branch
        facts.version = line.version or facts.version
        if at is not None and line.uuid is not None:
            facts.began = at if facts.began is None else min(at, facts.began)
            facts.ended = at if facts.ended is None else max(at, facts.ended)
        match line.type:
            case "custom-title":
                self._custom = line.custom_title or self._custom
            case "ai-title":
                self._ai = line.ai_title or self._ai
            case "summary" if line.summary and line.leaf_uuid:
                self._summaries[line.leaf_uuid] = line.summary
            case "cost-state" if line.total_cost_usd is not None:
                self._totals.append(line)
                self._prices.learn(line.model_usage)
            case "progress" if line.data is not None and line.data.agent_id and line.parent_tool_use_id:
                self.calls(line.data.agent_id, line.parent_tool_use_id)
            case "assistant":
                for block in head.blocks:
                    if block.type == "tool_use" and block.id and line.uuid:
                        self._called[block.id] = (*self._called.get(block.id, ()), line.uuid)
                        prompt = block.input.get("prompt") if isinstance(block.input, dict) else None
                        if isinstance(prompt, str):
                            self._tasks.setdefault(prompt, []).append(block.id)
            case "user" if line.tool_use_result:
                agent = _agent_of(line)
                call = next((block.tool_use_id for block in head.blocks if block.tool_use_id), None)
                if agent is not None and call is not None:
                    self.calls(agent, call)
            case _:
                pass

    def _aside(self, line: SessionLine, head: MessageHead, text: str, agent: str | None) -> None:
        """A subagent's record: whose it is, where no name tells, and what it calls itself."""
        if line.uuid is None:
            return
        known = agent or line.agent_id
        thread = self._threads.get(line.parent_uuid or "")
        if thread is None and (waiting := self._tasks.get(text)):
            thread = waiting[0] if len(waiting) == 1 else waiting.pop(0)
            if known is not None:
                self.calls(known, thread)
        if thread is not None:
            self._threads[line.uuid] = thread
        if line.type == "assistant" and (above := self.call_of(line, agent)) is not None:
            for block in head.blocks:
                if block.type == "tool_use" and block.id:
                    self._within.setdefault(block.id, above)

    def _answer(self, line: SessionLine, head: MessageHead, at: float | None, agent: str | None) -> None:
        model = head.model
        if model is None or model == "<synthetic>" or head.usage is None or line.uuid is None:
            return
        self.first_model = self.first_model or model
        if agent is None and not line.is_sidechain:
            self._facts.model = model
        place = agent, head.id or line.uuid
        seen = self._seen.get(place)
        copied = line.request_session_id is not None and line.request_session_id != line.session_id
        self._seen[place] = _Seen(
            key=line.uuid if seen is None else seen.key,
            at=at if seen is None else seen.at,
            model=model,
            tokens=head.usage,
            cost=line.cost_usd if seen is None else (seen.cost if line.cost_usd is None else line.cost_usd),
            copied=copied,
            # a subagent's own file is looked over after the session's: what is in it was counted with it
            state=0 if agent is not None else len(self._totals),
        )

    def _join(self, line: SessionLine, kind: str, at: float | None, text: str) -> None:
        assert line.uuid is not None
        named = line.parent_uuid or line.logical_parent_uuid
        parent = self._nodes.get(named) if named else None
        if parent is None and (named or kind == _Kind.OTHER):
            # A file that lost lines, or an older CLI's compaction: it goes on from what came before.
            parent = self._last
        node = _Node(line.uuid, parent, kind, at, text[:_SHOWN], _woken(line))
        if line.subtype == "compact_boundary":
            self._boundary = line.uuid
        elif kind == _Kind.COMMAND and self._boundary is not None and text.startswith("/compact"):
            self._compacted[self._boundary] = line.uuid, text
            self._boundary = None
        elif kind in (_Kind.PROMPT, _Kind.MODEL):
            self._boundary = None
        if kind == _Kind.PROMPT and self._first_prompt is None and not _woken(line):
            self._first_prompt = text[:_SHOWN]
        self._nodes[line.uuid] = self._last = node

    def outline(self) -> ConversationSummary:
        """Return what is known of the conversation."""
        facts = self._facts
        dead, branches = self._branches(self._last)
        facts.leaf = None if self._last is None else self._last.uuid
        own = self._summaries.get(facts.leaf or "")
        facts.title = self._custom or self._ai or own
        facts.titles = {leaf: title for leaf, title in self._summaries.items() if leaf not in self._nodes}
        if facts.title is None:
            mine = [title for leaf, title in self._summaries.items() if leaf in self._nodes]
            facts.title = mine[-1] if mine else None
        facts.first_prompt = self._first_prompt
        alive = [node for node in self._nodes.values() if node.uuid not in dead]
        facts.turns = _turns(alive)
        facts.branches = branches
        facts.answers = self.answers()
        self._add_costs(facts)
        return facts

    def answers(self) -> list[Answer]:
        """Return all answers with their cost, as far as it is known."""
        found = []
        for seen in self._seen.values():
            cost = seen.cost if seen.cost is not None else self._prices.cost_of(seen.model, seen.tokens)
            tokens = seen.tokens
            found.append(
                Answer(
                    seen.key, seen.at, seen.model,
                    _counted(tokens.input_tokens), _counted(tokens.output_tokens),
                    _counted(tokens.cache_read_input_tokens), _counted(tokens.cache_creation_input_tokens),
                    _dollars(cost),
                    _counted(tokens.cache_creation.ephemeral_1h_input_tokens if tokens.cache_creation else 0),
                )
            )  # fmt: skip
        return found

    def _add_costs(self, facts: ConversationSummary) -> None:
        """The totals count the past of a fork with them, so what is no answer's is told of what began here alone."""
        costs = [answer.cost_usd for answer in facts.answers]
        facts.cost_is_whole = bool(costs) and None not in costs
        copied = any(seen.copied for seen in self._seen.values())
        own = [
            answer.cost_usd
            for answer, seen in zip(facts.answers, self._seen.values(), strict=True)
            if answer.cost_usd is not None and not seen.copied
        ]
        known = sum(own)
        if self._totals and not copied:
            counted = sum(
                answer.cost_usd or 0.0
                for answer, seen in zip(facts.answers, self._seen.values(), strict=True)
                if seen.state < len(self._totals)
            )
            facts.other_cost_usd = round(max(_total(self._totals) - counted, 0.0), 10)
        facts.cost_usd = round(known + facts.other_cost_usd, 10) if own or self._totals else None

    def reader(self, leaf: str | None = None) -> "ClaudeReader":
        """Return a reader of a branch; KeyError for a message that is not there."""
        end = self._last if leaf is None else self._nodes[leaf]
        dead, branches = self._branches(end)
        return ClaudeReader(self, dead, branches)

    def costs(self) -> dict[str, float | None]:
        """Return each answer's cost by its key."""
        return {answer.key: answer.cost_usd for answer in self.answers()}

    def key_of(self, agent: str | None, message_id: str) -> str | None:
        """Return the key of an answer."""
        seen = self._seen.get((agent, message_id))
        return None if seen is None else seen.key

    def call_of(self, line: SessionLine, agent: str | None) -> str | None:
        """Return the call that started the subagent a record belongs to."""
        known = agent or line.agent_id
        if known is not None and known in self._agents:
            return self._agents[known]
        return self._threads.get(line.uuid or "") or self._threads.get(line.parent_uuid or "")

    def records_of(self, call: str) -> tuple[str, ...]:
        """Return the records of the main thread that have a call, or the one below which a subagent has made it."""
        passed: set[str] = set()
        while call not in self._called and call in self._within and call not in passed:
            passed.add(call)
            call = self._within[call]
        return self._called.get(call, ())

    @property
    def compacted(self) -> dict[str, tuple[str, str]]:
        """The commands that asked for compactions, by those' boundaries."""
        return self._compacted

    @property
    def session_id(self) -> str | None:
        """The session."""
        return self._facts.session_id

    def _branches(self, end: _Node | None) -> tuple[set[str], list[Branch]]:
        """Return the records beside the branch that ends there, and what they are."""
        living: set[str] = set()
        node = end
        while node is not None:
            living.add(node.uuid)
            node = node.parent
        nodes = list(self._nodes.values())
        for node in nodes:
            node.asked = node.kind == _Kind.PROMPT
            node.real = node.kind in (_Kind.PROMPT, _Kind.MODEL)
        for node in reversed(nodes):  # a parent always comes before what hangs on it
            if node.parent is not None:
                node.parent.asked |= node.asked
                node.parent.real |= node.real
        onward = {(node.parent.uuid if node.parent else None): node for node in nodes if node.uuid in living}
        dead: set[str] = set()
        roots: dict[str, list[_Node]] = {}
        root_of: dict[str, str] = {}
        for node in nodes:
            above = node.parent.uuid if node.parent else None
            if above in dead:
                assert above is not None
                dead.add(node.uuid)
                root_of[node.uuid] = root_of[above]
                roots[root_of[above]].append(node)
            elif node.uuid not in living and (above is None or above in living):
                chosen = onward.get(above)
                replaced = chosen is not None and chosen.kind == _Kind.PROMPT
                if node.real and (node.asked or replaced):
                    dead.add(node.uuid)
                    root_of[node.uuid] = node.uuid
                    roots[node.uuid] = [node]
        branches = []
        for members in roots.values():
            first = next((one.text for one in members if one.kind == _Kind.PROMPT), "")
            ends = [
                one for one in members if one.kind in (_Kind.PROMPT, _Kind.MODEL, _Kind.COMMAND)
            ] or members
            branches.append(Branch(ends[-1].uuid, first, ends[-1].at))
        return dead, branches


def _turns(nodes: Sequence[_Node]) -> int:
    """Count the turns of a branch; what several tasks that ended at once have woken is one."""
    turns, waking = 0, False
    for node in nodes:
        if node.kind in (_Kind.PROMPT, _Kind.COMMAND):
            turns += not (node.woken and waking)
            waking = node.woken
        elif node.kind == _Kind.MODEL:
            waking = False
    return turns


def _api_error(line: SessionLine) -> dict[str, object]:
    if not line.is_api_error_message:
        return {}
    return {"is_api_error_message": True, "error": line.error, "api_error_status": line.api_error_status}


def _agent_of(line: SessionLine) -> str | None:
    try:
        found = msgspec.json.decode(line.tool_use_result, type=_WithAgent).agent_id
    except (msgspec.MsgspecError, RecursionError):
        return None
    return found


class _WithAgent(msgspec.Struct):
    agent_id: str | None = msgspec.field(default=None, name="agentId")


def _total(totals: Sequence[SessionLine]) -> float:
    """Sum up totals of which each goes on from the one before, unless a process has begun with nothing."""
    whole = before = 0.0
    for line in totals:
        now = _dollars(line.total_cost_usd) or 0.0
        if now < before:
            whole += before
        before = now
    return whole + before


def _said(line: SessionLine, head: MessageHead, kind: str, text: str) -> list[SearchableText]:
    uuid = line.uuid or ""
    if line.type in ("custom-title", "ai-title"):
        title = line.custom_title or line.ai_title
        return [SearchableText(uuid, "title", title)] if title else []
    if kind in (_Kind.PROMPT, _Kind.COMMAND):
        return [SearchableText(uuid, "prompt", text)] if text else []
    if line.attachment is not None and line.attachment.command_mode == "prompt":
        prompt = line.attachment.prompt
        return [SearchableText(uuid, "prompt", prompt)] if isinstance(prompt, str) else []
    if line.type != "assistant":
        return []
    found = [SearchableText(uuid, "text", head.text)] if head.text else []
    for block in head.blocks:
        if block.type == "tool_use" and isinstance(block.input, dict):
            for key, what in _SEARCHED.items():
                value = block.input.get(key)
                if isinstance(value, str) and value:
                    found.append(SearchableText(uuid, what, value))
    return found


_SEARCHED = {
    "command": "command",
    "file_path": "path",
    "notebook_path": "path",
    "path": "path",
    "pattern": "command",
    "prompt": "prompt",
    "url": "path",
    "query": "command",
}
"""Arguments of tools that can be searched for."""


@dataclass
class _Turn:
    """The turn that is open."""

    began: float | None
    command: bool = False
    said: bool = False
    """The model has said something, or the command printed it."""
    calls: set[str] = field(default_factory=set)
    """Calls without a result."""
    interrupted: bool = False
    error: str | None = None
    status: int | None = None
    stop_reason: str | None = None
    used: dict[str, tuple[str, bool, Tokens]] = field(default_factory=dict)
    """Model, whether it is the main thread's, and tokens, by the answer's key."""
    woken: bool = False
    ended: float | None = None
    """When the last thing happened in it."""

    @property
    def finished(self) -> bool:
        return self.command or self.interrupted or self.error is not None or (self.said and not self.calls)


class ClaudeReader:
    """Makes inputs of the lines of one branch."""

    def __init__(self, survey: ClaudeSurvey, dead: set[str], branches: Sequence[Branch]) -> None:
        self._survey = survey
        self._dead = dead
        self._branches = list(branches)
        self._costs = survey.costs()
        self._turn: _Turn | None = None
        self._model = survey.first_model
        self._spent = 0.0
        self._last: float | None = None
        self._skipped: set[str] = set()
        self._told = False
        self._read: set[str] = set()
        self._early: dict[str, list[tuple[SessionLine, float | None, str, str | None]]] = {}
        """What subagents said by the clock before the record that has their call was read, by that record."""

    def read(self, line: bytes, agent: str | None = None) -> Sequence[DatedInput]:
        """Return what a line says."""
        if not line.strip():
            return []
        told = session_lines.read(line)
        at = moment(told.timestamp)
        if told is NO_LINE or not told.type:
            return [DatedInput(self._last, Received(line, decode(line)))]
        if told.uuid is not None and told.uuid in self._read:
            return [self._counted(at)]
        if told.uuid is not None:
            self._read.add(told.uuid)
        if told.uuid in self._dead:
            return [*self._cut(at), self._counted(at)]
        aside = agent is not None or bool(told.is_sidechain)
        if at is not None and not aside:
            self._last = at
        match told.type:
            case "user" | "assistant" if aside:
                return self._of_subagent(told, at, agent)
            case "user" | "assistant":
                found = self._user(told, at) if told.type == "user" else self._assistant(told, at)
                # a prompt has ended the turn before it, at the time of the last that was said in that
                if self._turn is not None and at is not None and not told.is_meta:
                    self._turn.ended = at
                return [*found, *self._now_called(told)]
            case "system" if not aside:
                return self._system(told, at)
            case "attachment" if not aside:
                return self._attachment(told, at)
            case _ if told.type in BOOKKEEPING or aside:
                return [self._counted(at)]
            case _:
                return [DatedInput(at or self._last, Received(line, decode(line)))]

    def _of_subagent(self, told: SessionLine, at: float | None, agent: str | None) -> list[DatedInput]:
        """What a subagent said, behind the call that started it; of a branch that does not live, nothing."""
        call = self._survey.call_of(told, agent)
        if call is None:
            return [self._counted(at)]
        records = self._survey.records_of(call)
        living = [record for record in records if record not in self._dead]
        if records and not living:
            return [self._counted(at)]
        if living and self._read.isdisjoint(living):
            self._early.setdefault(living[0], []).append((told, at, call, agent))
            return []
        return self._said_below(told, at, call, agent)

    def _said_below(
        self, told: SessionLine, at: float | None, call: str, agent: str | None
    ) -> list[DatedInput]:
        if told.type == "assistant":
            self._use(told, session_lines.head(told.message), agent, of_main=False)
            return [self._received(told, at, parent_tool_use_id=call, **_api_error(told))]
        if told.is_meta and not _is_answer(session_lines.head(told.message)):
            return [self._counted(at)]
        return [self._received(told, at, parent_tool_use_id=call)]

    def _now_called(self, told: SessionLine) -> list[DatedInput]:
        early = self._early.pop(told.uuid or "", ())
        return [said for one in early for said in self._said_below(*one)]

    def close(self) -> Sequence[DatedInput]:
        """Return the end of the last turn, where it has one."""
        return self._result(self._last) if self._turn is not None and self._turn.finished else []

    def _counted(self, at: float | None) -> DatedInput:
        return DatedInput(at or self._last, _COUNTED)

    def _cut(self, at: float | None) -> list[DatedInput]:
        """Tell once that the conversation took ways that are not shown."""
        if self._told or not self._branches:
            return []
        self._told = True
        listed = [{"leaf": one.leaf, "prompt": one.prompt} for one in self._branches[:20]]
        text = (
            f"{len(self._branches)} {'way' if len(self._branches) == 1 else 'ways'} that this conversation took and left "
            "again are not shown."
        )
        notice = Notice(
            session_id=self._survey.session_id,
            kind="branches",
            level="info",
            text=text,
            details={"branches": listed},
        )
        return [DatedInput(at or self._last, Announced(notice))]

    def _user(self, told: SessionLine, at: float | None) -> list[DatedInput]:
        head = session_lines.head(told.message)
        text = head.text
        if told.uuid in self._skipped:
            return [self._counted(at)]
        if _is_answer(head):
            if self._turn is not None:
                self._turn.calls.difference_update(block.tool_use_id or "" for block in head.blocks)
            return [self._received(told, at)]
        if _is_summary(told, text):
            return [self._received(told, at, isSynthetic=True)]
        if _is_meta(told, text):
            return [self._counted(at)]
        typed = _command(text)
        if typed is not None:
            begun = self._prompted(told, at, {"role": "user", "content": typed}, command=typed)
            return [*begun, *self._output(told, at, text)] if _UNKNOWN_COMMAND.fullmatch(text) else begun
        if _PRINTED.search(text):
            return self._printed(told, at, text)
        if text.startswith(INTERRUPTED):
            if self._turn is not None:
                self._turn.interrupted = True
            return [self._received(told, at)]
        if _woken(told):
            if self._turn is not None and self._turn.woken and not self._turn.said:
                return [self._counted(at)]  # several tasks have ended at once: one answer for all of them
            return [*self._begin(told, at, woken=True), self._counted(at)]
        return self._prompted(told, at, told.message)

    def _printed(self, told: SessionLine, at: float | None, text: str) -> list[DatedInput]:
        if self._turn is not None:
            self._turn.said = True
        output = "\n".join(found for _, _, found in _PRINTED.findall(_COLOUR.sub("", text)) if found.strip())
        return self._output(told, at, output) if output else [self._counted(at)]

    def _output(self, told: SessionLine, at: float | None, output: str) -> list[DatedInput]:
        wire = {"type": "system", "subtype": "local_command_output", "content": output}
        return [self._made(at, {**wire, "uuid": told.uuid, "session_id": self._survey.session_id})]

    def _prompted(
        self, told: SessionLine, at: float | None, message: object, command: str | None = None
    ) -> list[DatedInput]:
        ended = self._result(at) if self._turn is not None else []
        wire = msgspec.json.encode({"type": "user", "message": message, "uuid": told.uuid})
        sent = DatedInput(at, Sent(wire, decode(wire)))
        return [*ended, sent, *self._begin(told, at, command=command is not None, close=False)]

    def _begin(
        self,
        told: SessionLine,
        at: float | None,
        *,
        command: bool = False,
        woken: bool = False,
        close: bool = True,
    ) -> list[DatedInput]:
        ended = self._result(at) if close and self._turn is not None else []
        self._turn = _Turn(at, command=command, woken=woken)
        wire = {
            "type": "system",
            "subtype": "init",
            "session_id": self._survey.session_id,
            "cwd": told.cwd,
            "model": self._model,
            "permissionMode": told.permission_mode,
            "claude_code_version": told.version,
        }
        return [*ended, self._made(at, wire)]

    def _assistant(self, told: SessionLine, at: float | None) -> list[DatedInput]:
        head = session_lines.head(told.message)
        if head.model and head.model != "<synthetic>":
            self._model = head.model
        begun = self._begin(told, at) if self._turn is None else []
        turn = self._turn
        assert turn is not None
        self._use(told, head, None, of_main=True)
        turn.said = True
        turn.stop_reason = head.stop_reason or turn.stop_reason
        turn.error = head.text if told.is_api_error_message else None
        turn.status = told.api_error_status
        turn.calls.update(block.id for block in head.blocks if block.type == "tool_use" and block.id)
        return [*begun, self._received(told, at, **_api_error(told))]

    def _use(self, told: SessionLine, head: MessageHead, agent: str | None, *, of_main: bool) -> None:
        """Count an answer's tokens to the turn that is open."""
        key = self._survey.key_of(agent or told.agent_id, head.id or told.uuid or "")
        if self._turn is not None and key is not None and head.usage is not None and head.model:
            self._turn.used[key] = head.model, of_main, head.usage

    def _system(self, told: SessionLine, at: float | None) -> list[DatedInput]:
        content = told.content or ""
        match told.subtype:
            case "compact_boundary":
                asked = self._survey.compacted.get(told.uuid or "")
                begun: list[DatedInput] = []
                if asked is not None:
                    self._skipped.add(asked[0])
                    message = {"role": "user", "content": asked[1]}
                    named = msgspec.structs.replace(told, uuid=asked[0])
                    begun = self._prompted(named, at, message, command=asked[1])
                done = told.compact_metadata or {}
                metadata = {
                    "trigger": done.get("trigger"),
                    "pre_tokens": done.get("preTokens"),
                    "post_tokens": done.get("postTokens"),
                }
                wire = {"type": "system", "subtype": "compact_boundary", "compact_metadata": metadata}
                return [
                    *begun,
                    self._made(at, {**wire, "uuid": told.uuid, "session_id": self._survey.session_id}),
                ]
            case "local_command":
                typed = _command(content)
                if typed is not None:
                    return self._prompted(told, at, {"role": "user", "content": typed}, command=typed)
                return self._printed(told, at, content)
            case _ if content and not told.is_meta:
                wire = {
                    "type": "system",
                    "subtype": "informational",
                    "content": content,
                    "level": told.level or "info",
                }
                return [self._made(at, {**wire, "uuid": told.uuid, "session_id": self._survey.session_id})]
            case _:
                return [self._counted(at)]

    def _attachment(self, told: SessionLine, at: float | None) -> list[DatedInput]:
        """A prompt that joined the running turn; all else is for the model alone."""
        put = told.attachment
        if (
            put is None
            or put.type != "queued_command"
            or put.command_mode not in (None, "prompt")
            or not put.prompt
        ):
            return [self._counted(at)]
        uuid = put.source_uuid or told.uuid
        wire = {"type": "user", "message": {"role": "user", "content": put.prompt}, "uuid": uuid}
        sent = msgspec.json.encode(wire)
        echo = {**wire, "isReplay": True, "session_id": self._survey.session_id}
        return [DatedInput(at, Sent(sent, decode(sent))), self._made(at, echo)]

    def _received(self, told: SessionLine, at: float | None, **extra: object) -> DatedInput:
        wire: dict[str, object] = {
            "type": told.type,
            "message": told.message,
            "uuid": told.uuid,
            "session_id": self._survey.session_id,
            "parent_tool_use_id": None,
            "timestamp": told.timestamp,
            **extra,
        }
        if told.tool_use_result:
            wire["tool_use_result"] = told.tool_use_result
        decision = told.permission_decision
        if decision is not None:
            calls = [
                block.tool_use_id for block in session_lines.head(told.message).blocks if block.tool_use_id
            ]
            wire["tool_result_meta"] = [{"id": call, "permission_decision": decision} for call in calls]
        return self._made(at, wire)

    def _made(self, at: float | None, wire: dict[str, Any]) -> DatedInput:
        encoded = msgspec.json.encode({key: value for key, value in wire.items() if value is not None})
        return DatedInput(at or self._last, Received(encoded, decode(encoded)))

    def _result(self, at: float | None) -> list[DatedInput]:
        """End the open turn, in the words of a result."""
        turn, self._turn = self._turn, None
        assert turn is not None
        models: dict[str, dict[str, float]] = {}
        main = [0, 0, 0, 0]
        rounds, cost = 0, 0.0
        whole = True
        for key, (model, of_main, tokens) in turn.used.items():
            share = self._costs.get(key)
            whole = whole and share is not None
            cost += share or 0.0
            kinds = (
                tokens.input_tokens, tokens.output_tokens, tokens.cache_read_input_tokens, tokens.cache_creation_input_tokens,
            )  # fmt: skip
            counts = [_counted(count) for count in kinds]
            used = models.setdefault(model, dict.fromkeys(_MODEL_USAGE, 0))
            for name, count in zip(_MODEL_USAGE, (*counts, share or 0.0), strict=True):
                used[name] += count
            if of_main:
                rounds += 1
                main = [before + count for before, count in zip(main, counts, strict=True)]
        ended = turn.ended if turn.ended is not None else at
        wire: dict[str, Any] = {
            "type": "result",
            "subtype": "success" if turn.finished and not turn.interrupted else "error_during_execution",
            "is_error": turn.error is not None,
            "result": turn.error,
            "api_error_status": turn.status,
            "terminal_reason": None if turn.finished and not turn.interrupted else "aborted_streaming",
            "session_id": self._survey.session_id,
            "num_turns": rounds,
            "stop_reason": turn.stop_reason,
            "usage": dict(zip(_USAGE, main, strict=True)),
            "origin": {"kind": "task-notification"} if turn.woken else None,
        }
        if turn.began is not None and ended is not None:
            wire["duration_ms"] = max(round((ended - turn.began) * 1000), 0)
        if whole:
            self._spent += cost
            wire["total_cost_usd"] = round(self._spent, 10)
            wire["model_usage_since_last_result"] = models
        return [self._made(ended, wire)]


_COUNTED = Received(b'{"type":"keep_alive"}', KeepAlive())
"""What a line is that is for the CLI alone: known, and no news."""

_USAGE = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_MODEL_USAGE = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "costUSD")


class _Stamp(msgspec.Struct):
    timestamp: str | None = None


_decode_stamp = msgspec.json.Decoder(_Stamp).decode


class Records:
    """What the files are made of (normalize/claude/files.py tells them from other lines)."""

    agent = "claude"

    def recognises(self, line: bytes) -> bool:
        """Tell whether a line with the words of a record is one."""
        if _FOREIGN.search(line):
            return False
        told = session_lines.read(line)
        if told.type in ("user", "assistant", "system"):
            return told.session_id is not None and told.uuid is not None
        return told.type in BOOKKEEPING

    def session_of(self, line: bytes) -> str | None:  # noqa: ARG002 - a fork's copies name others
        """Return None: a session is called as its file."""
        return None

    def moment(self, line: bytes) -> float | None:
        """Return when a line was written."""
        try:
            return moment(_decode_stamp(line).timestamp)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            return None

    def survey(self) -> ClaudeSurvey:
        """Begin to look over a file."""
        return ClaudeSurvey()


RECORDS = Records()
