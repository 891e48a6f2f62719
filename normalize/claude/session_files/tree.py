"""The tree of a conversation's records, and its live branch.

A conversation branches where a human went back: the new prompt has the old one's parent. The live branch ends with the
last record of the file. Records beside it that lead to no other prompt also belong to it: results of parallel
calls, output of commands, the summary of a compaction.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from msgspec import Struct

from turnwire.normalize.claude.session_files.records import RecordKind, is_task_end
from turnwire.normalize.recordings.session_files import Branch
from turnwire.protocol.claude.session_lines import SessionLine

_SHOWN = 500
"""Characters of a prompt that lists show."""


class Node(Struct):
    """A record of the main thread."""

    uuid: str
    named: str | None
    """The record that it names as its parent."""
    parent: "Node | None"
    kind: RecordKind
    at: float | None
    text: str = ""
    """The typed text, cut to one line."""
    woken: bool = False
    """The prompt is not a human's: a task in the background has ended."""
    real: bool = False
    """The record or a record below it has text of a human or the model."""
    asked: bool = False
    """The record or a record below it has a prompt."""


class Left(NamedTuple):
    """The parts of a conversation outside the requested branch."""

    records: set[str]
    """The records outside the branch."""
    branches: list[Branch]
    """The branches that they form."""


class Tree:
    """The records of the main thread."""

    def __init__(self, late: AbstractSet[str] = frozenset()) -> None:
        """`late`: records that stand after their children. The set may still grow."""
        self._late = late
        self._nodes: dict[str, Node] = {}
        self._last: Node | None = None
        self._boundary: str | None = None
        """The compaction whose command is still to come: the file has the command after it."""
        self.first_prompt: str | None = None
        """The first prompt."""
        self.compacted: dict[str, tuple[str, str]] = {}
        """Compaction boundary -> the record of the command that requested it, and its text."""
        self.sessions: dict[str, str] = {}
        """First record of each session in this file -> the session. One file may contain several."""
        self._session: str | None = None

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._nodes

    @property
    def leaf(self) -> str | None:
        """The last record."""
        self._sort()
        return None if self._last is None else self._last.uuid

    def join(self, uuid: str, line: SessionLine, kind: RecordKind, at: float | None, text: str) -> None:
        """Add a record, unless there is one of this id."""
        if uuid in self._nodes:
            return
        named = line.parent_uuid or line.logical_parent_uuid
        if not named and line.session_id and line.session_id != self._session:
            self._session = self.sessions[uuid] = line.session_id
        node = Node(uuid, named, None, kind, at, text[:_SHOWN], is_task_end(line))
        if line.subtype == "compact_boundary":
            self._boundary = uuid
        elif kind is RecordKind.COMMAND and self._boundary is not None and text.startswith("/compact"):
            self.compacted[self._boundary] = uuid, text
            self._boundary = None
        elif kind in (RecordKind.PROMPT, RecordKind.MODEL):
            self._boundary = None
        if kind is RecordKind.PROMPT and self.first_prompt is None and not node.woken:
            self.first_prompt = node.text
        self._place(node)

    def _place(self, node: Node) -> None:
        """Hang a record on its parent, behind all that came before."""
        node.parent = self._nodes.get(node.named) if node.named else None
        goes_on = node.named or node.kind is RecordKind.OTHER or node.uuid in self.sessions
        if node.parent is None and goes_on:
            # A file that lost lines, an older CLI's compaction, another session's file behind this one's: it goes on from
            # what came before.
            node.parent = self._last
        self._nodes[node.uuid] = self._last = node

    def _sort(self) -> None:
        """Put records behind their parents, where the file has some of them the other way round."""
        if not self._late:
            return
        written, self._nodes, self._last = self._nodes, {}, None
        waiting: dict[str, list[Node]] = {}
        for first in written.values():
            ready = [first]
            while ready:
                node = ready.pop()
                if node.named and node.named in written and node.named not in self._nodes:
                    waiting.setdefault(node.named, []).append(node)
                else:
                    self._place(node)
                    ready += reversed(waiting.pop(node.uuid, ()))
        for node in [node for circle in waiting.values() for node in circle]:
            self._place(node)

    def turns(self, left: set[str]) -> int:
        """Count the turns of a branch, given the records outside it. One turn may answer several tasks that ended at once."""
        self._sort()
        turns, waking = 0, False
        for node in self._nodes.values():
            if node.uuid in left:
                continue
            if node.kind in (RecordKind.PROMPT, RecordKind.COMMAND):
                turns += not (node.woken and waking)
                waking = node.woken
            elif node.kind is RecordKind.MODEL:
                waking = False
        return turns

    def left(self, leaf: str | None = None) -> Left:
        """Return what is outside the live branch, or outside the branch that ends with `leaf`. Raises KeyError for an unknown
        record.
        """
        self._sort()
        living = _upwards(self._last if leaf is None else self._nodes[leaf])
        nodes = self._nodes.values()
        self._mark()
        onward = {(node.parent.uuid if node.parent else None): node for node in nodes if node.uuid in living}
        roots: dict[str, list[Node]] = {}
        root_of: dict[str, str] = {}
        """By each record that was left, the first of its branch."""
        for node in nodes:
            above = node.parent.uuid if node.parent else None
            if above is not None and above in root_of:
                root_of[node.uuid] = root_of[above]
                roots[root_of[above]].append(node)
            elif node.uuid not in living and (above is None or above in living):
                chosen = onward.get(above)
                replaced = chosen is not None and chosen.kind is RecordKind.PROMPT
                if node.real and (node.asked or replaced):
                    root_of[node.uuid] = node.uuid
                    roots[node.uuid] = [node]
        return Left(set(root_of), [_branch(members) for members in roots.values()])

    def _mark(self) -> None:
        """Mark for each record what it and the records below it contain."""
        for node in self._nodes.values():
            node.asked = node.kind is RecordKind.PROMPT
            node.real = node.kind in (RecordKind.PROMPT, RecordKind.MODEL)
        for node in reversed(self._nodes.values()):  # a parent always comes before what hangs on it
            if node.parent is not None:
                node.parent.asked |= node.asked
                node.parent.real |= node.real


def _upwards(node: Node | None) -> set[str]:
    found: set[str] = set()
    while node is not None:
        found.add(node.uuid)
        node = node.parent
    return found


def _branch(members: list[Node]) -> Branch:
    said = [node for node in members if node.kind is not RecordKind.OTHER]
    end = (said or members)[-1]
    return Branch(end.uuid, _first_prompt(members), end.at)


def _first_prompt(nodes: Iterable[Node]) -> str:
    return next((node.text for node in nodes if node.kind is RecordKind.PROMPT), "")
