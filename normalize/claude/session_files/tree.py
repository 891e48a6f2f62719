"""The tree of a conversation's records, and its live branch.

A conversation branches where a human went back: the new prompt has the old one's parent. The live branch ends with the
last record of the file. Records beside it that lead to no other prompt also belong to it: results of parallel
calls, output of commands, the summary of a compaction.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from msgspec import Struct

from turnwire.normalize.claude.session_files.records import RecordKind
from turnwire.normalize.claude.user_lines import is_of_others
from turnwire.normalize.common.times import moment
from turnwire.normalize.recordings.session_files import Branch
from turnwire.protocol.claude.session_lines import LineHead

_SHOWN = 500
"""Characters of a prompt that lists show."""


class Spoken(Struct, gc=False):
    """What a human or the model said in a record, or that it is a command."""

    kind: RecordKind
    """Anything but other."""
    timestamp: str | None
    text: str
    """The typed text, cut to one line."""
    woken: bool
    """The prompt is not a human's: a task in the background has ended, or another agent has written."""


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
        self._parents: dict[str, str | None] = {}
        """The record that each hangs on. A record comes behind its parent."""
        self._named: dict[str, str | None] = {}
        """The parent that a record names, where it hangs on another."""
        self._spoken: dict[str, Spoken] = {}
        """By record; in most records nobody says anything."""
        self._last: str | None = None
        self._sorted = 0
        """How many records were there when they were sorted."""
        self._again: set[str] = set()
        """The records that were just written a second time."""
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
        return uuid in self._parents

    @property
    def leaf(self) -> str | None:
        """The last record."""
        self._sort()
        return self._last

    def join(self, uuid: str, line: LineHead, kind: RecordKind, text: str) -> None:
        """Add a record, unless there is one of this id."""
        if uuid in self._parents:
            self._again.add(uuid)
            return
        named = line.parent_uuid or line.logical_parent_uuid
        if named in self._again:
            # the second compaction of a process writes the past again and hangs what follows on that: nobody went back
            named = self._last
        self._again.clear()
        if not named and line.session_id and line.session_id != self._session:
            self._session = self.sessions[uuid] = line.session_id
        if line.subtype == "compact_boundary":
            self._boundary = uuid
        elif kind in ("prompt", "model"):
            self._boundary = None
        elif kind == "command" and self._boundary is not None and text.startswith("/compact"):
            self.compacted[self._boundary] = uuid, text
            self._boundary = None
        if kind != "other":
            spoken = self._spoken[uuid] = Spoken(
                kind, line.timestamp, text[:_SHOWN], is_of_others(line.origin, text)
            )
            if kind == "prompt" and self.first_prompt is None and not spoken.woken:
                self.first_prompt = spoken.text
        self._place(uuid, named)

    def _place(self, uuid: str, named: str | None) -> None:
        """Hang a record on its parent, behind all that came before."""
        parent = named if named and named in self._parents else None
        if parent is None and (named or uuid not in self._spoken or uuid in self.sessions):
            # A file that lost lines, an older CLI's compaction, another session's file behind this one's: it goes on from
            # what came before.
            parent = self._last
        if parent != named:
            self._named[uuid] = named
        self._parents[uuid] = parent
        self._last = uuid

    def _sort(self) -> None:
        """Put records behind their parents, where the file has some of them the other way round."""
        if not self._late or len(self._parents) == self._sorted:
            return
        self._sorted = len(self._parents)
        written = {uuid: self._named.get(uuid, parent) for uuid, parent in self._parents.items()}
        self._parents, self._named, self._last = {}, {}, None
        waiting: dict[str, list[str]] = {}
        for first in written:
            ready = [first]
            while ready:
                uuid = ready.pop()
                named = written[uuid]
                if named and named in written and named not in self._parents:
                    waiting.setdefault(named, []).append(uuid)
                else:
                    self._place(uuid, named)
                    ready += reversed(waiting.pop(uuid, ()))
        for uuid in [uuid for circle in waiting.values() for uuid in circle]:
            self._place(uuid, written[uuid])
        self._spoken = {uuid: self._spoken[uuid] for uuid in self._parents if uuid in self._spoken}

    def turns(self, left: set[str]) -> int:
        """Count the turns of a branch, given the records outside it. One turn may answer several tasks that ended at once."""
        self._sort()
        turns, waking = 0, False
        for uuid, spoken in self._spoken.items():
            if uuid in left:
                continue
            if spoken.kind == "model":
                waking = False
            else:
                turns += not (spoken.woken and waking)
                waking = spoken.woken
        return turns

    def left(self, leaf: str | None = None) -> Left:
        """Return what is outside the live branch, or outside the branch that ends with `leaf`. Raises KeyError for an unknown
        record.
        """
        self._sort()
        parents, living = self._parents, self._upwards(self._last if leaf is None else leaf)
        outside = [uuid for uuid in parents if uuid not in living]
        asked, real = self._marked(outside)
        onward = {parents[uuid]: uuid for uuid in living} if outside else {}
        roots: dict[str, list[str]] = {}
        root_of: dict[str, str] = {}
        """By each record that was left, the first of its branch."""
        for uuid in outside:
            above = parents[uuid]
            if above is not None and above in root_of:
                root_of[uuid] = root_of[above]
                roots[root_of[above]].append(uuid)
            elif (above is None or above in living) and uuid in real:
                chosen = onward.get(above)
                if uuid in asked or (chosen is not None and self._is(chosen, "prompt")):
                    root_of[uuid] = uuid
                    roots[uuid] = [uuid]
        return Left(set(root_of), [self._branch(members) for members in roots.values()])

    def _upwards(self, uuid: str | None) -> set[str]:
        found: set[str] = set()
        while uuid is not None:
            found.add(uuid)
            uuid = self._parents[uuid]
        return found

    def _marked(self, outside: Sequence[str]) -> tuple[set[str], set[str]]:
        """Return which of these records are or lead to a prompt, and which to a text of a human or the model."""
        asked = {uuid for uuid in outside if self._is(uuid, "prompt")}
        real = {uuid for uuid in outside if self._is(uuid, "prompt", "model")}
        for uuid in reversed(outside):  # a parent always comes before what hangs on it
            above = self._parents[uuid]
            for marked in (asked, real):
                if above is not None and uuid in marked:
                    marked.add(above)
        return asked, real

    def _is(self, uuid: str, *kinds: RecordKind) -> bool:
        spoken = self._spoken.get(uuid)
        return spoken is not None and spoken.kind in kinds

    def _branch(self, members: Sequence[str]) -> Branch:
        said = {uuid: self._spoken[uuid] for uuid in members if uuid in self._spoken}
        uuid, end = next(reversed(said.items()))
        prompts = (spoken.text for spoken in said.values() if spoken.kind == "prompt")
        return Branch(uuid, next(prompts, ""), moment(end.timestamp))
