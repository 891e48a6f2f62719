"""Survey a whole session file: the conversation's facts, and its live branch."""

from collections.abc import Collection, Sequence

from turnwire.normalize.claude.session_files.answers import Answers
from turnwire.normalize.claude.session_files.order import Order
from turnwire.normalize.claude.session_files.reader import ClaudeReader
from turnwire.normalize.claude.session_files.records import (
    QUIET,
    RecordKind,
    is_task_end,
    kind_of,
    searchable,
    typed_command,
)
from turnwire.normalize.claude.session_files.subagents import Subagents
from turnwire.normalize.claude.session_files.tree import Tree
from turnwire.normalize.common.times import moment
from turnwire.normalize.recordings.session_files import ConversationSummary, Estimate, SearchableText
from turnwire.protocol.claude import session_lines
from turnwire.protocol.claude.session_lines import NO_LINE, NO_MESSAGE, Bookkeeping, MessageHead, SessionLine


class ClaudeSurvey:
    """Looks over the lines of one session file, and of its subagents' files."""

    def __init__(self, estimate: Estimate | None) -> None:
        """`estimate` splits usage that the CLI reports for several answers together."""
        self._summary = ConversationSummary()
        self._order = Order()
        self._tree = Tree(self._order.late)
        self._answers = Answers(estimate)
        self._subagents = Subagents()
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
        if agent is None and (quiet := session_lines.bookkeeping(line, QUIET)) is not None:
            self._summary.lines += 1
            self._note_place(quiet)
            return ()
        if not line.strip():
            return ()
        self._summary.lines += 1
        read = session_lines.read(line)
        if read is NO_LINE or not read.type:
            self._summary.unreadable += 1
            return ()
        head = session_lines.head(read.message) if read.type in ("user", "assistant") else NO_MESSAGE
        at = moment(read.timestamp)
        if read.type == "assistant":
            self._note_answer(read, head, at, agent)
        if read.uuid is not None:
            self._order.note(read.uuid, read.parent_uuid)
        text = head.text if read.type == "user" else ""
        if agent is not None or read.is_sidechain:
            if agent is None:
                self._aside = read.session_id or self._aside
            self._subagents.note_own(read, head, text, agent)
            return searchable(read, head, RecordKind.OTHER, text)
        self._note(read, at)
        self._subagents.note(read, head)
        kind = kind_of(read, head, text)
        typed = (typed_command(text or read.content or "") or "") if kind is RecordKind.COMMAND else text
        if read.uuid is not None and read.type not in ("progress", "summary"):
            self._tree.join(read.uuid, read, kind, at, typed)
        return () if is_task_end(read) else searchable(read, head, kind, typed)

    def outline(self) -> ConversationSummary:
        """Return a summary of the conversation."""
        summary, tree = self._summary, self._tree
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

    def _note(self, line: SessionLine, at: float | None) -> None:
        """Take the facts about the whole conversation from a record of the main file."""
        summary = self._summary
        self._note_place(line)
        if at is not None and line.uuid is not None:
            summary.began = at if summary.began is None else min(at, summary.began)
            summary.ended = at if summary.ended is None else max(at, summary.ended)
        match line.type:
            case "custom-title":
                self._custom_title = line.custom_title or self._custom_title
            case "ai-title":
                self._ai_title = line.ai_title or self._ai_title
            case "summary" if line.summary and line.leaf_uuid:
                self._titles[line.leaf_uuid] = line.summary
            case "cost-state" if line.total_cost_usd is not None:
                self._answers.note_totals(line.total_cost_usd, line.model_usage)
            case _:
                pass

    def _note_place(self, line: SessionLine | Bookkeeping) -> None:
        summary = self._summary
        summary.session_id = line.session_id or summary.session_id
        summary.folder = summary.folder or line.cwd
        # no branch is called HEAD: nothing is checked out by name, or there is no repository
        if line.git_branch != "HEAD":
            summary.git_branch = line.git_branch or summary.git_branch
        summary.version = line.version or summary.version

    def _note_answer(self, line: SessionLine, head: MessageHead, at: float | None, agent: str | None) -> None:
        of_main = agent is None and line.agent_id is None and not line.is_sidechain
        answered = self._answers.note(line, head, at, agent or line.agent_id, of_main=of_main)
        if answered and of_main:
            self._summary.model = head.model
