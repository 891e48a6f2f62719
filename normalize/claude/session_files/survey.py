"""Survey a whole session file: the conversation's facts, and its live branch."""

from collections.abc import Collection, Iterator, Sequence
from operator import attrgetter

from turnwire.normalize.claude.session_files.answers import Answers
from turnwire.normalize.claude.session_files.order import Order
from turnwire.normalize.claude.session_files.reader import ClaudeReader
from turnwire.normalize.claude.session_files.records import (
    QUIET,
    RecordKind,
    kind_of,
    searchable,
    typed_command,
)
from turnwire.normalize.claude.session_files.subagents import Subagents
from turnwire.normalize.claude.session_files.tree import Tree
from turnwire.normalize.claude.user_lines import is_of_others, words_of
from turnwire.normalize.common.times import span
from turnwire.normalize.recordings.session_files import ConversationSummary, Estimate, SearchableText
from turnwire.protocol.claude import session_lines
from turnwire.protocol.claude.session_lines import LineHead
from turnwire.protocol.parsing import glued

_TYPE_OF = attrgetter("type")


class ClaudeSurvey:
    """Looks over the lines of one session file, and of its subagents' files."""

    def __init__(self, estimate: Estimate | None) -> None:
        """`estimate` splits usage that the CLI reports for several answers together."""
        self._summary = ConversationSummary()
        self._order = Order()
        self._tree = Tree(self._order.late)
        self._answers = Answers(estimate)
        self._subagents = Subagents()
        self._times: list[str] = []
        """When the records of the main thread were written."""
        self._aside: str | None = None
        """The session that subagents' records in the main file are of."""
        self._custom_title: str | None = None
        self._ai_title: str | None = None
        self._titles: dict[str, str] = {}
        """By the record that a conversation ends with, this one's and others'."""

    def calls(self, agent: str, call: str) -> None:
        """Note the call that started a subagent."""
        self._subagents.started(agent, call)

    def agents(self) -> Collection[str]:
        """Return the subagents seen so far."""
        return self._subagents.named()

    def skip(self) -> None:
        """Count a line that was too long to keep."""
        self._summary.lines += 1
        self._summary.unreadable += 1

    def handle(self, line: bytes, agent: str | None = None) -> Sequence[SearchableText]:
        """Look at a line."""
        return self.look_over([line], agent)

    def look_over(self, lines: Sequence[bytes], agent: str | None = None) -> Sequence[SearchableText]:
        """Look at some lines; that takes less than each by itself."""
        records = session_lines.look_over(lines)
        if not all(map(_TYPE_OF, records)):
            records = list(self._records_in(lines))
        self._summary.lines += len(records)
        self._order.note(records)
        self._note_places([record for record in records if not record.is_sidechain] if agent is None else [])
        said: list[SearchableText] = []
        for record in records:
            if agent is not None or record.is_sidechain:
                said += self._of_subagent(record, agent)
            elif record.uuid is not None or record.type not in QUIET:
                said += self._of_main(record)
        return said

    def _records_in(self, lines: Sequence[bytes]) -> Iterator[LineHead]:
        """Return the records of lines of which one has no type: it is blank, has several records, or no meaning."""
        for line in lines:
            for one in glued.records_in(line):
                record = session_lines.look(one)
                if record.type:
                    yield record
                elif one.strip():
                    self.skip()

    def _of_subagent(self, record: LineHead, agent: str | None) -> Sequence[SearchableText]:
        if record.type == "assistant":
            self._answers.note(record, agent or record.agent_id, of_main=False)
        elif record.type == "user":
            self._answers.note_other(agent or record.agent_id)
        if agent is None:
            self._aside = record.session_id or self._aside
        text = record.message.text if record.type == "user" else ""
        self._subagents.note_own(record, text, agent)
        return searchable(record, "other", text)

    def _of_main(self, record: LineHead) -> Sequence[SearchableText]:
        kind: RecordKind = "other"
        typed = ""
        match record.type:
            case "assistant":
                kind = "model"
                self._note_answer(record)
                self._subagents.note(record)
            case "user" | "system":
                text = record.message.text if record.type == "user" else ""
                if record.type == "user":
                    self._answers.note_other(record.agent_id)
                kind = kind_of(record, text)
                typed = (
                    words_of(text) if kind != "command" else typed_command(text or record.content or "") or ""
                )
                self._subagents.note(record)
            case "attachment":
                pass
            case _:
                self._note(record)
                self._subagents.note(record)
        if record.uuid is not None and record.type not in ("progress", "summary"):
            self._tree.join(record.uuid, record, kind, typed)
        if kind == "prompt" and is_of_others(record.origin, typed):
            return ()
        return searchable(record, kind, typed)

    def outline(self) -> ConversationSummary:
        """Return a summary of the conversation."""
        summary, tree = self._summary, self._tree
        summary.began, summary.ended = span(self._times)
        left = tree.left()
        summary.leaf = tree.leaf
        own = [title for leaf, title in self._titles.items() if leaf in tree]
        summary.title = self._custom_title or self._ai_title or self._titles.get(tree.leaf or "")
        if summary.title is None and own:
            summary.title = own[-1]
        summary.titles = {leaf: title for leaf, title in self._titles.items() if leaf not in tree}
        summary.first_prompt = tree.first_prompt
        summary.turns = tree.turns(left.records)
        summary.branches = left.branches
        self._answers.add_to(summary)
        return summary

    def reader(self, leaf: str | None = None) -> ClaudeReader:
        """Return a reader of a branch. Raises KeyError for an unknown message."""
        return ClaudeReader(
            self._summary,
            self._tree,
            self._answers,
            self._subagents,
            late=self._order.late,
            # a file of nothing but a subagent's records is the subagent's own
            alone=self._aside if self._tree.leaf is None else None,
            left=self._tree.left(leaf),
        )

    def _note(self, record: LineHead) -> None:
        """Take the facts about the whole conversation from a record of the main file."""
        match record.type:
            case "custom-title":
                self._custom_title = record.custom_title or self._custom_title
            case "ai-title":
                self._ai_title = record.ai_title or self._ai_title
            case "summary" if record.summary and record.leaf_uuid:
                self._titles[record.leaf_uuid] = record.summary
            case "cost-state" if record.total_cost_usd is not None:
                self._answers.note_totals(record.total_cost_usd, record.model_usage or {})
            case _:
                pass

    def _note_places(self, records: Sequence[LineHead]) -> None:
        """Take when and where records of the main file were written: of most facts the last one counts, so it is looked for first."""
        summary = self._summary
        self._times += [
            one.timestamp for one in records if one.uuid is not None and one.timestamp is not None
        ]
        latest = records[::-1]
        summary.session_id = next((one.session_id for one in latest if one.session_id), summary.session_id)
        summary.version = next((one.version for one in latest if one.version), summary.version)
        # no branch is called HEAD: nothing is checked out by name, or there is no repository
        branches = (one.git_branch for one in latest if one.git_branch and one.git_branch != "HEAD")
        summary.git_branch = next(branches, summary.git_branch)
        if not summary.folder:
            summary.folder = next((one.cwd for one in records if one.cwd), summary.folder)

    def _note_answer(self, record: LineHead) -> None:
        of_main = record.agent_id is None
        if self._answers.note(record, record.agent_id, of_main=of_main) and of_main:
            self._summary.model = record.message.model
