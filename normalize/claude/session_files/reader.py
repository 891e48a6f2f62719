"""Make the inputs that a conversation's stdout would have been, from the records of one branch.

The wire has lines that the file lacks. They are made up from the records: an `init` where a prompt starts a turn, a `result`
where the next prompt ends it.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import msgspec

from turnwire.normalize.claude.conversation import SYNTHETIC
from turnwire.normalize.claude.session_files.answers import Answers, advice
from turnwire.normalize.claude.session_files.open_turn import OpenTurn
from turnwire.normalize.claude.session_files.order import HELD_BYTES
from turnwire.normalize.claude.session_files.records import (
    BOOKKEEPING,
    is_meta,
    is_output,
    is_refusal,
    is_summary,
    is_task_end,
    is_tool_result,
    output_of,
    typed_command,
)
from turnwire.normalize.claude.session_files.subagents import Subagents
from turnwire.normalize.claude.session_files.tree import Left, Tree
from turnwire.normalize.claude.user_lines import INTERRUPTED, is_of_others, words_of
from turnwire.normalize.common.times import moment
from turnwire.normalize.events import Notice
from turnwire.normalize.inputs import Announced, Received, Sent
from turnwire.normalize.recordings.session_files import ConversationSummary, DatedInput
from turnwire.protocol.claude import session_lines
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.notices import KeepAlive
from turnwire.protocol.claude.session_lines import NO_LINE, MessageHead, SessionLine
from turnwire.protocol.json_values import Json
from turnwire.protocol.parsing import generic
from turnwire.protocol.text import scrub_json


class _Held(NamedTuple):
    """A record that waits for its parent."""

    line: bytes
    told: SessionLine
    agent: str | None


class ClaudeReader:
    """Makes inputs of the lines of one branch."""

    def __init__(
        self,
        summary: ConversationSummary,
        tree: Tree,
        answers: Answers,
        subagents: Subagents,
        *,
        late: AbstractSet[str],
        left: Left,
        alone: str | None,
    ) -> None:
        """Read with the results of a survey, which may continue beside this reader.

        `late`: records that stand after their children. `left`: records to skip.
        `alone`: the subagent's session if this is the subagent's own file; None for a session's file.
        """
        several = len(tree.sessions) > 1
        self._session = next(iter(tree.sessions.values())) if several else alone or summary.session_id
        self._alone = alone
        self._introduced = False
        """The reader has reported that the file is a subagent's."""
        self._tree = tree
        self._answers = answers
        self._subagents = subagents
        self._late = late
        self._left = left.records
        self._branches = left.branches
        self._costs = answers.costs()
        self._turn: OpenTurn | None = None
        self._model = answers.first_model
        self._spent = 0.0
        self._last: float | None = None
        self._skipped: set[str] = set()
        self._told = False
        """The reader has reported that there are other branches."""
        self._read: set[str] = set()
        self._early: dict[str, list[tuple[SessionLine, float | None, str]]] = {}
        """Subagents' lines that are earlier by the clock than the record with their call, by that record."""
        self._held: dict[str, list[_Held]] = {}
        """Records that wait for their parent, by the parent's id."""
        self._held_bytes = 0
        self._holding: set[str] = set()
        """The held records themselves."""

    def read(self, line: bytes, agent: str | None = None) -> Sequence[DatedInput]:
        """Return the inputs of a line and of the records that waited for it. Nothing yet if the record's parent stands later."""
        if not line.strip():
            return []
        told = session_lines.read(line)
        if self._waits(told, len(line)):
            self._held.setdefault(told.parent_uuid or "", []).append(_Held(line, told, agent))
            self._held_bytes += len(line)
            self._holding.add(told.uuid or "")
            return []
        found = self._in_place(line, told, agent)
        return [*found, *self._released(told.uuid)] if self._held else found

    def _waits(self, told: SessionLine, size: int) -> bool:
        """Return whether a record's parent is still to come and there is room to wait for it."""
        if not self._late or told.uuid is None or told.uuid in self._read:
            return False
        parent = told.parent_uuid
        comes = parent in self._late or parent in self._holding
        return comes and parent not in self._read and self._held_bytes + size <= HELD_BYTES

    def _released(self, uuid: str | None) -> list[DatedInput]:
        """Return the inputs of records that waited for this one, recursively."""
        found: list[DatedInput] = []
        ready = self._held.pop(uuid or "", [])[::-1]
        while ready:
            one = ready.pop()
            self._held_bytes -= len(one.line)
            self._holding.discard(one.told.uuid or "")
            found += self._in_place(*one)
            ready += self._held.pop(one.told.uuid or "", [])[::-1]
        return found

    def _in_place(self, line: bytes, told: SessionLine, agent: str | None) -> Sequence[DatedInput]:
        at = moment(told.timestamp)
        if told is NO_LINE or not told.type:
            return [DatedInput(self._last, Received(line, decode(line)))]
        if told.uuid is not None and told.uuid in self._read:
            return [self._counted(at)]
        if told.uuid is not None:
            self._read.add(told.uuid)
        if told.uuid in self._left:
            return [*self._cut(at), self._counted(at)]
        aside = self._is_aside(told, agent)
        if at is not None and not aside:
            self._last = at
        if told.uuid in self._tree.sessions:
            return [*self._moved(self._tree.sessions[told.uuid], at), *self._said(line, told, at, agent)]
        return self._said(line, told, at, agent)

    def _is_aside(self, told: SessionLine, agent: str | None) -> bool:
        """Return whether a record is a subagent's, in a file of another conversation."""
        return agent is not None or (bool(told.is_sidechain) and self._alone is None)

    def _of_one_subagent(self, told: SessionLine, at: float | None) -> DatedInput:
        named = f"subagent {told.agent_id}" if told.agent_id else "one subagent"
        text = f"This file has what {named} said and was told; its session is {self._session}, in a file of its own."
        details = {"agent_id": told.agent_id} if told.agent_id else None
        notice = Notice(
            session_id=self._session, kind="subagent_file", level="info", text=text, details=details
        )
        return DatedInput(at, Announced(notice))

    def _moved(self, session: str, at: float | None) -> list[DatedInput]:
        """Switch to another session, whose records follow in this file."""
        if session == self._session:
            return []
        ended = self._result(at) if self._turn is not None else []
        self._session, self._spent = session, 0.0
        return [*ended, self._made(at, {"type": "system", "subtype": "status", "session_id": session})]

    def _said(
        self, line: bytes, told: SessionLine, at: float | None, agent: str | None
    ) -> Sequence[DatedInput]:
        aside = self._is_aside(told, agent)
        if self._alone is not None and not self._introduced:
            self._introduced = True
            return [self._of_one_subagent(told, at), *self._said(line, told, at, agent)]
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
        """Return a subagent's inputs, after the call that started it. Nothing on a branch that is not read."""
        call = self._subagents.call_of(told, agent)
        if call is None:
            return [self._counted(at)]
        records = self._subagents.records_of(call)
        living = [record for record in records if record not in self._left]
        if records and not living:
            return [self._counted(at)]
        if living and self._read.isdisjoint(living):
            self._early.setdefault(living[0], []).append((told, at, call))
            return []
        return self._said_below(told, at, call)

    def _said_below(self, told: SessionLine, at: float | None, call: str) -> list[DatedInput]:
        if told.type == "assistant":
            self._use(told, session_lines.head(told.message), of_main=False)
            return [self._received(told, at, parent_tool_use_id=call, **_api_error(told))]
        if told.is_meta and not is_tool_result(session_lines.head(told.message)):
            return [self._counted(at)]
        return [self._received(told, at, parent_tool_use_id=call)]

    def _now_called(self, told: SessionLine) -> list[DatedInput]:
        early = self._early.pop(told.uuid or "", ())
        return [said for one in early for said in self._said_below(*one)]

    def close(self) -> Sequence[DatedInput]:
        """Return what still waits, and the end of the last turn if it has one."""
        found = [said for parent in list(self._held) for said in self._released(parent)]
        ended = self._result(self._last) if self._turn is not None and self._turn.finished else []
        return [*found, *ended]

    def settle(self) -> Sequence[DatedInput]:
        """Return the end of the open turn, where its lines say that it is over though nothing follows them yet."""
        return self._result(self._last) if self._turn is not None and self._turn.settled else []

    def _counted(self, at: float | None) -> DatedInput:
        return DatedInput(at or self._last, _COUNTED)

    def _cut(self, at: float | None) -> list[DatedInput]:
        """Report once that the conversation has branches that are not shown."""
        if self._told or not self._branches:
            return []
        self._told = True
        listed = [{"leaf": one.leaf, "prompt": one.prompt} for one in self._branches[:20]]
        text = (
            f"{len(self._branches)} {'way' if len(self._branches) == 1 else 'ways'} that this conversation took and left "
            "again are not shown."
        )
        notice = Notice(
            session_id=self._session,
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
        if is_tool_result(head):
            if self._turn is not None:
                self._turn.calls.difference_update(block.tool_use_id or "" for block in head.blocks)
            return [self._received(told, at)]
        if is_summary(told, text):
            return [self._received(told, at, isSynthetic=True)]
        if is_meta(told, text):
            return [self._counted(at)]
        typed = typed_command(text)
        if typed is not None:
            begun = self._prompted(told, at, {"role": "user", "content": typed}, command=typed)
            return [*begun, *self._output(told, at, text)] if is_refusal(text) else begun
        if is_output(text):
            return self._printed(told, at, text)
        if text.startswith(INTERRUPTED):
            if self._turn is not None:
                self._turn.interrupted = True
            return [self._received(told, at)]
        if is_of_others(told.origin, text):
            # several tasks may have ended at once: one answer for all of them
            is_more = self._turn is not None and self._turn.woken and not self._turn.said
            begun = [] if is_more else self._begin(told, at, woken=True)
            shown = (
                self._counted(at) if is_task_end(told, text) else self._received(told, at, isSynthetic=True)
            )
            return [*begun, shown]
        if (words := words_of(text)) == text:
            return self._prompted(told, at, told.message)
        others = [
            block for block in _content(told) if not (isinstance(block, dict) and block.get("type") == "text")
        ]
        if not words and not others:
            return [self._counted(at)]
        spoken = [{"type": "text", "text": words}] if words else []
        return self._prompted(told, at, {"role": "user", "content": [*spoken, *others] if others else words})

    def _printed(self, told: SessionLine, at: float | None, text: str) -> list[DatedInput]:
        if self._turn is not None:
            self._turn.said = self._turn.printed = True
        output = output_of(text)
        return self._output(told, at, output) if output else [self._counted(at)]

    def _output(self, told: SessionLine, at: float | None, output: str) -> list[DatedInput]:
        wire = {"type": "system", "subtype": "local_command_output", "content": output}
        return [self._made(at, {**wire, "uuid": told.uuid, "session_id": self._session})]

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
        self._turn = OpenTurn(at, command=command, woken=woken)
        wire = {
            "type": "system",
            "subtype": "init",
            "session_id": self._session,
            "cwd": told.cwd,
            "model": self._model,
            "permissionMode": told.permission_mode,
            "claude_code_version": told.version,
            "largest_context": self._answers.largest.get(self._model or ""),
        }
        return [*ended, self._made(at, wire)]

    def _assistant(self, told: SessionLine, at: float | None) -> list[DatedInput]:
        head = session_lines.head(told.message)
        if head.model and head.model != SYNTHETIC:
            self._model = head.model
        begun = self._begin(told, at) if self._turn is None else []
        turn = self._turn
        assert turn is not None
        self._use(told, head, of_main=True)
        turn.note(told, head)
        return [*begun, self._received(told, at, **_api_error(told))]

    def _use(self, told: SessionLine, head: MessageHead, *, of_main: bool) -> None:
        """Add an answer's tokens to the open turn."""
        key = self._answers.key_of(told.uuid)
        if self._turn is not None and key is not None and head.usage is not None and head.model:
            self._turn.used[key] = head.model, of_main, head.usage
            for own, model, tokens in advice(key, told, head):
                self._turn.used[own] = model, False, tokens

    def _system(self, told: SessionLine, at: float | None) -> list[DatedInput]:
        content = told.content or ""
        match told.subtype:
            case "compact_boundary":
                asked = self._tree.compacted.get(told.uuid or "")
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
                    self._made(at, {**wire, "uuid": told.uuid, "session_id": self._session}),
                ]
            case "local_command":
                typed = typed_command(content)
                if typed is not None:
                    return self._prompted(told, at, {"role": "user", "content": typed}, command=typed)
                return self._printed(told, at, content)
            case "turn_duration":
                if self._turn is not None:
                    self._turn.over = True
                return [self._counted(at)]
            case _ if content and not told.is_meta:
                wire = {
                    "type": "system",
                    "subtype": "informational",
                    "content": content,
                    "level": told.level or "info",
                }
                return [self._made(at, {**wire, "uuid": told.uuid, "session_id": self._session})]
            case _:
                return [self._counted(at)]

    def _attachment(self, told: SessionLine, at: float | None) -> list[DatedInput]:
        """Return a prompt that joined the running turn. Other attachments are for the model only."""
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
        echo = {**wire, "isReplay": True, "session_id": self._session}
        return [DatedInput(at, Sent(sent, decode(sent))), self._made(at, echo)]

    def _received(self, told: SessionLine, at: float | None, **extra: object) -> DatedInput:
        wire: dict[str, object] = {
            "type": told.type,
            "message": told.message,
            "uuid": told.uuid,
            "session_id": self._session,
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
        wire = {**turn.result(self._costs, at), "session_id": self._session}
        if (cost := turn.cost(self._costs)) is not None:
            self._spent += cost
            wire["total_cost_usd"] = round(self._spent, 10)
        return [self._made(turn.ended if turn.ended is not None else at, wire)]


def _content(told: SessionLine) -> list[Json]:
    """Return the blocks of a message; none if it is a text."""
    value = scrub_json(generic.load(bytes(told.message)))
    content = value.get("content") if isinstance(value, dict) else None
    return content if isinstance(content, list) else []


def _api_error(line: SessionLine) -> dict[str, object]:
    if not line.is_api_error_message:
        return {}
    return {"is_api_error_message": True, "error": line.error, "api_error_status": line.api_error_status}


_COUNTED = Received(b'{"type":"keep_alive"}', KeepAlive())
"""Stands for a line that is for the CLI only: known, without an event."""
