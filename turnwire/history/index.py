"""The index of conversations: one SQLite file beside the journal. It is made of the agents' files and can be rebuilt
without loss.

A look at the folders compares names, times and sizes with what was read before, and reads what is new or has changed. All
methods block and are called from one thread at a time; several processes may have the same index.

Costs and tokens are counted by answers, each once, though forks and resumed sessions of older CLIs have copies of them.
"""

import json
import os
import sqlite3
import threading
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

from turnwire._runtime.private_files import open_private
from turnwire.history.folders import SessionPath, files_in
from turnwire.history.journaled import JournaledTurn, Unfiled, unfiled
from turnwire.history.visibility import VisibleConversations
from turnwire.hub.wire.results import UsageSum
from turnwire.normalize.recordings.session_files import (
    Answer,
    ConversationSummary,
    SearchableText,
    TokenCounts,
)
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.quantities import amount, count
from turnwire.recordings.session_file import format_of, survey_of
from turnwire.tracing.prices import Prices

VERSION = 8
"""Version of the tables; those of another version are dropped and rebuilt."""

BATCH = 256
"""Files that are read between two commits, at most. Fewer where an answer waits for the index."""

TOLD = 16
"""Files between two reports of how far a look is."""

CACHED_KIB = 16 * 1024
"""Memory for pages of the file, in KiB. Keys of answers come in no order, so each look writes to pages all over."""

HELD = 1024
"""Texts of a file that are held until it is known whether they are kept."""

LONGEST = 200_000
"""Characters of a text that can be searched."""

SHOWN = 300
"""Characters of a title or a prompt in lists."""

LIVE = "live"
"""What begins the id of a session of turnwire's own in the index."""

_TABLES = """
CREATE TABLE files (path TEXT PRIMARY KEY, changed INTEGER NOT NULL, size INTEGER NOT NULL, id TEXT);
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, path TEXT NOT NULL, agent TEXT NOT NULL, folder TEXT, title TEXT, first_prompt TEXT,
  began REAL, ended REAL, turns INTEGER NOT NULL, cost_usd REAL, cost_is_whole INTEGER NOT NULL, other_usd REAL NOT NULL,
  shared_usd REAL NOT NULL,  git_branch TEXT, model TEXT, version TEXT, size INTEGER NOT NULL, leaf TEXT, branches INTEGER NOT NULL,
  unreadable INTEGER NOT NULL
);
CREATE INDEX sessions_by_path ON sessions (path);
CREATE INDEX sessions_by_time ON sessions (ended DESC, id);
CREATE TABLE titles (leaf TEXT PRIMARY KEY, title TEXT NOT NULL);
CREATE TABLE names (id TEXT PRIMARY KEY, title TEXT NOT NULL);
CREATE TABLE answers (
  session TEXT NOT NULL, key TEXT NOT NULL, at REAL, model TEXT NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL, cache_creation INTEGER NOT NULL, cost_usd REAL, cache_creation_1h INTEGER NOT NULL,
  is_share INTEGER NOT NULL, is_copy INTEGER NOT NULL, origin TEXT, since REAL, estimate REAL, is_original INTEGER
);
CREATE TABLE priced (prices TEXT NOT NULL);
CREATE INDEX answers_of ON answers (session);
CREATE INDEX answers_by_key ON answers (key);
CREATE INDEX answers_unsettled ON answers (key) WHERE is_original IS NULL;
CREATE TABLE said (number INTEGER PRIMARY KEY, session TEXT NOT NULL, message TEXT NOT NULL, seq INTEGER, kind TEXT NOT NULL);
CREATE INDEX said_in ON said (session);
CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = "unicode61 remove_diacritics 2");
CREATE TABLE logs (
  session TEXT PRIMARY KEY, epoch TEXT NOT NULL, seq INTEGER NOT NULL
);
"""

_TOTALS_OF = "claude"
"""The agent whose turns tell what all of their requests took, those included that are no answers of its file."""


def _ran_by(answer: str) -> str:
    """Return the condition that a turn of turnwire's own log of an answer's conversation was running at the answer's time."""
    return f"""EXISTS (
      SELECT 1 FROM answers AS turn
      WHERE turn.key >= printf('live:%-36s:', {answer}.session) AND turn.key < printf('live:%-36s;', {answer}.session)
        AND turn.since <= {answer}.at AND {answer}.at <= turn.at
    )"""


_RANKED = f"""
  SELECT answers.rowid, row_number() OVER (
    PARTITION BY key ORDER BY is_copy, ifnull(began, 0), NOT ({_ran_by("answers")}), ifnull(ended, 0), id, answers.rowid
  ) FROM answers JOIN sessions ON sessions.id = answers.session WHERE key IN (SELECT key FROM answers WHERE is_original IS NULL)
"""
"""Copies of answers by key, the original first: that of the conversation that began first. Claude Code 2.0.14 gives some copies in
a fork the fork's time. Of two that began with the same answer, the fork may be the one that ended first: turnwire's own log tells
who asked for it."""

_ANSWER = (
    "key, at, model, input, output, cache_read, cache_creation, cost_usd, cache_creation_1h, is_share, is_copy, "
    "origin, since"
)
"""The columns of an answer, as its fields are ordered."""

_NAMES_KEPT = "CREATE TABLE IF NOT EXISTS names (id TEXT PRIMARY KEY, title TEXT NOT NULL)"


class HistoryError(TurnwireError):
    """The index cannot be used, or does not have what is asked for; the message says what to do."""


class ListedConversation(NamedTuple):
    """A conversation as a list shows it. Times are seconds since 1970."""

    id: str
    path: str
    agent: str
    folder: str | None
    title: str | None
    first_prompt: str | None
    began: float | None
    ended: float | None
    turns: int | None
    """None where the agent alone knows how many."""
    cost_usd: float | None
    """Dollars, as far as they are known or can be estimated."""
    cost_is_whole: bool
    """False when some of it is neither known nor estimated."""
    git_branch: str | None
    model: str | None
    version: str | None
    size: int
    branches: int
    estimated_usd: float = 0.0
    """How much of the cost is an estimate, by the prices of models."""


class SearchHit(NamedTuple):
    """A text that has the words."""

    id: str
    """The conversation; of turnwire's own sessions `live:SESSION`."""
    message: str
    """The message's uuid, if it has one."""
    seq: int | None
    """The place in the log of one of turnwire's own sessions."""
    kind: str
    """title, prompt, text, command or path."""
    snippet: str
    """The text around the words, which stand between U+0002 and U+0003."""
    title: str | None
    folder: str | None
    at: float | None
    """When the conversation ended, in seconds since 1970."""


Group = Literal["day", "week", "month", "block", "session", "project", "model", "agent"]
"""What usage is summed up by."""

GROUPS: tuple[Group, ...] = get_args(Group)
"""All of them."""

BLOCK_S = 5 * 3600
"""Seconds of a block, as limits of subscriptions count them: it begins with the hour of its first answer, UTC."""


Tell: TypeAlias = Callable[[int, int], None]
"""Is told how many files are done, and of how many."""


@dataclass(slots=True)
class ScanResult:
    """What a look at the folders has found."""

    files: int = 0
    read: int = 0
    gone: int = 0
    failed: list[str] = field(default_factory=list)
    """Files that could not be read at all."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Why, for those of which the system or a library says it."""


@dataclass(frozen=True, slots=True)
class LogPiece:
    """What the log of one of turnwire's own sessions says up to a number."""

    epoch: str
    """The log's life."""
    seq: int
    """The number."""
    said: list[tuple[SearchableText, int | None]]
    """Texts that were not taken in yet, each with its number."""
    answers: list[Answer]
    """What turns took that were not taken in yet."""
    listed: ListedConversation
    """The session."""
    after: int = 0
    """The number up to which it was known when this was read."""


class Index:
    """The index of one state directory."""

    def __init__(self, file: Path | None, prices: Prices) -> None:
        """Open or create the index; without a file it is in memory only. Raises HistoryError.

        `prices` estimate what agents say nothing of. Each answer keeps its estimate; all are made anew once prices change.
        """
        self._prices = prices
        self._lock = threading.Lock()
        self._door = threading.Lock()
        """Held by the next user of the lock. A look takes the lock again and again; without this, an answer would
        wait for the whole look.
        """
        self._closed = False
        try:
            if file is not None:
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.close(open_private(file, os.O_RDWR | os.O_CREAT))
            self._db = sqlite3.connect(
                file or ":memory:", timeout=30, check_same_thread=False, isolation_level=None
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(f"PRAGMA cache_size = -{CACHED_KIB}")
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise HistoryError(
                f"the index of conversations {file} cannot be used ({error}); remove it, and turnwire makes a new one"
            ) from error

    def _settle(self) -> None:
        """Price answers by the present prices, and find the originals among new copies; while reading."""
        known = self._db.execute("SELECT prices FROM priced").fetchone()
        (unsettled,) = self._db.execute(
            "SELECT EXISTS (SELECT 1 FROM answers WHERE is_original IS NULL)"
        ).fetchone()
        if known == (self._prices.mark,) and not unsettled:
            return
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._price_again()
                ranked = self._db.execute(_RANKED).fetchall()
                self._db.executemany(
                    "UPDATE answers SET is_original = ? WHERE rowid = ?",
                    ((place == 1, row) for row, place in ranked),
                )
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise _unwritable(error) from error

    def _price_again(self) -> None:
        """Estimate all answers anew if the prices are others; within a transaction."""
        if self._db.execute("SELECT prices FROM priced").fetchone() == (self._prices.mark,):
            return
        rows = self._db.execute(
            "SELECT rowid, model, input, output, cache_read, cache_creation, cache_creation_1h, at FROM answers WHERE cost_usd IS NULL"
        ).fetchall()
        self._db.executemany(
            "UPDATE answers SET estimate = ? WHERE rowid = ?",
            (
                (self._prices.estimate(model, TokenCounts(*tokens), at), row)
                for row, model, *tokens, at in rows
            ),
        )
        self._db.execute("DELETE FROM priced")
        self._db.execute("INSERT INTO priced VALUES (?)", (self._prices.mark,))

    def close(self) -> None:
        """Let go of the file; a look that is under way ends with the file it has in hand."""
        self._closed = True
        with self._lock:
            self._db.close()

    def _prepare(self) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version == VERSION:
            return
        with self._writing():
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version == VERSION:
                return
            self._db.execute(_NAMES_KEPT)
            kept = self._db.execute("SELECT id, title FROM names").fetchall()
            tables = self._db.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'words_%'"
            ).fetchall()
            for (name,) in tables:
                self._db.execute(f'DROP TABLE "{name}"')
            for statement in _TABLES.split(";"):
                self._db.execute(statement)
            self._db.executemany("INSERT INTO names VALUES (?, ?)", kept)
            self._db.execute(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._door:
            self._lock.acquire()
        try:
            if self._closed:
                raise HistoryError(
                    "the index of conversations is closed; ask again after the sidecar has restarted"
                )
            yield
        finally:
            self._lock.release()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._reading():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def look(
        self, folders: Sequence[Path], newest: int | None = None, tell: Tell | None = None
    ) -> ScanResult:
        """Read new and changed files of the folders, and forget removed ones; raises HistoryError.

        `newest`: only so many of the files that were changed last, for who wants to see these alone.
        `tell` is called while it reads, with the number of files that are done and of all that are to be read.
        """
        try:
            return self._look(folders, newest, tell)
        except sqlite3.Error as error:
            raise _unwritable(error) from error

    def changes(self) -> tuple[int, int]:
        """Return what is another value after each change of the index, whichever process has made it."""
        with self._reading():
            (others,) = self._db.execute("PRAGMA data_version").fetchone()
            return self._db.total_changes, others

    def _look(self, folders: Sequence[Path], newest: int | None, tell: Tell | None) -> ScanResult:
        found = {file.path: file for folder in folders for file in files_in(folder)}
        with self._reading():
            known = {
                path: (changed, size)
                for path, changed, size in self._db.execute("SELECT path, changed, size FROM files")
            }
        looked = ScanResult(files=len(found))
        gone = [path for path in known if path not in found]
        wanted = sorted(found.values(), key=lambda file: -file.changed)[:newest]
        # the newest first: whoever stops this half-way has what is asked for most
        changed = [file for file in wanted if known.get(file.path) != (file.changed, file.size)]
        looked.gone = len(gone)
        if gone:
            with self._writing():
                for path in gone:
                    self._forget(path)
        done = 0
        while done < len(changed) and not self._closed:
            done = self._take_some(changed, done, looked, tell)
        return looked

    def _take_some(
        self, files: Sequence[SessionPath], done: int, looked: ScanResult, tell: Tell | None
    ) -> int:
        """Take files in, until an answer waits. Returns how many are done, `done` of them before."""
        with self._writing():
            for number in range(done, min(done + BATCH, len(files))):
                if number > done and (self._closed or self._door.locked()):
                    return number
                if tell is not None and number % TOLD == 0:
                    tell(number, len(files))
                file = files[number]
                self._db.execute("SAVEPOINT one")
                try:
                    self._take(file)
                    looked.read += 1
                except (OSError, ValueError, OverflowError, RecursionError) as error:
                    # one file that is not to be read, or that no database takes, costs no other
                    self._db.execute("ROLLBACK TO one")
                    looked.failed.append(file.path)
                    if isinstance(error, OSError) and error.strerror:
                        looked.reasons[file.path] = error.strerror
                self._db.execute("RELEASE one")
        return min(done + BATCH, len(files))

    def _forget(self, path: str) -> None:
        row = self._db.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        self._db.execute("DELETE FROM files WHERE path = ?", (path,))
        if row is None or row[0] is None:
            return
        self._db.execute("DELETE FROM sessions WHERE id = ? AND path = ?", (row[0], path))
        self.unsay(row[0])
        self._drop_answers(row[0])

    def _drop_answers(self, session: str) -> None:
        """Forget answers; copies of them have another original now. Within a transaction."""
        self._db.execute(
            "UPDATE answers SET is_original = NULL WHERE session <> ? AND key IN (SELECT key FROM answers WHERE session = ?)",
            (session, session),
        )
        self._db.execute("DELETE FROM answers WHERE session = ?", (session,))

    def unsay(self, session: str) -> None:
        """Forget texts; within a transaction."""
        self._db.execute(
            "DELETE FROM words WHERE rowid IN (SELECT number FROM said WHERE session = ?)", (session,)
        )
        self._db.execute("DELETE FROM said WHERE session = ?", (session,))

    def _take(self, file: SessionPath) -> None:
        self._forget(file.path)
        path = Path(file.path)
        found = format_of(path) if file.size else None
        identity: str | None = None
        if found is not None:
            identity = found.session
            said = _TextBatch(self, f"{identity}\0{file.path}")
            outline = survey_of(path, found.files, said.add).outline()
            for leaf, title in outline.titles.items():
                self._db.execute("INSERT OR REPLACE INTO titles VALUES (?, ?)", (leaf, title[:SHOWN]))
            if (outline.turns or outline.answers) and self._is_fuller(identity, file.path, outline.turns):
                said.done(identity)
                self._keep(identity, file, found.files.agent, outline)
            else:
                said.drop()
                identity = None
        self._db.execute(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", (file.path, file.changed, file.size, identity)
        )

    def _is_fuller(self, identity: str, path: str, turns: int) -> bool:
        """Tell whether a file has its conversation, and not another one that has more of it; that one is forgotten if not."""
        row = self._db.execute(
            "SELECT path, turns FROM sessions WHERE id = ? AND path <> ?", (identity, path)
        ).fetchone()
        if row is None:
            return True
        if row[1] >= turns:
            return False
        self._drop_answers(identity)
        self.unsay(identity)
        self._db.execute("UPDATE files SET id = NULL WHERE path = ?", (row[0],))
        return True

    def _keep(self, identity: str, file: SessionPath, agent: str, told: ConversationSummary) -> None:
        self._db.execute(
            f"INSERT OR REPLACE INTO sessions VALUES ({', '.join('?' * 20)})",
            (
                identity, file.path, agent, told.folder, None if told.title is None else told.title[:SHOWN],
                None if told.first_prompt is None else told.first_prompt[:SHOWN], told.began,
                told.ended or file.changed / 1e9, told.turns,
                told.cost_usd, told.cost_is_whole, told.other_cost_usd, told.shared_usd, told.git_branch, told.model, told.version,
                file.size, told.leaf, len(told.branches), told.unreadable,
            ),
        )  # fmt: skip
        self._answer(identity, told.answers)

    def _answer(self, session: str, answers: Iterable[Answer]) -> None:
        """Take answers in. Of those that stand elsewhere as well, the original is found later."""
        self._price_again()
        self._db.executemany(
            f"INSERT INTO answers VALUES ({', '.join('?' * 15)}, "
            "CASE WHEN EXISTS (SELECT 1 FROM answers WHERE key = ?2) THEN NULL ELSE 1 END)",
            ((session, *answer, self._estimated(answer)) for answer in map(_possible, answers)),
        )

    def _unsettle(self, turns: Iterable[str]) -> None:
        """Find originals anew in the conversations of turns of a log, which tells who asked for an answer; within a transaction."""
        self._db.executemany(
            "UPDATE answers SET is_original = NULL WHERE session = ? AND EXISTS "
            "(SELECT 1 FROM answers AS copied WHERE copied.key = answers.key AND copied.rowid <> answers.rowid)",
            sorted({(key.split(":")[1].rstrip(),) for key in turns}),
        )

    def _estimated(self, answer: Answer) -> float | None:
        if answer.cost_usd is not None:
            return None
        took = TokenCounts(*answer[3:7], answer.cache_creation_1h_input_tokens)
        return self._prices.estimate(answer.model, took, answer.at)

    def say(self, session: str, said: Iterable[tuple[SearchableText, int | None]]) -> None:
        """Take texts in; within a transaction."""
        (last,) = self._db.execute("SELECT ifnull(max(number), 0) FROM said").fetchone()
        rows = [(number, one, seq) for number, (one, seq) in enumerate(said, last + 1)]
        self._db.executemany(
            "INSERT INTO said VALUES (?, ?, ?, ?, ?)",
            [(number, session, one.message, seq, one.kind) for number, one, seq in rows],
        )
        self._db.executemany(
            "INSERT INTO words (rowid, text) VALUES (?, ?)",
            [(number, one.text[:LONGEST]) for number, one, _ in rows],
        )

    def name_said(self, name: str, session: str) -> None:
        """Call texts the session's that were taken in under another name; within a transaction."""
        self._db.execute("UPDATE said SET session = ? WHERE session = ?", (session, name))

    def logged(self, session: str, epoch: str) -> int:
        """Return the number of the newest indexed event of a turnwire session; 0 if the log has another epoch."""
        with self._reading():
            row = self._db.execute("SELECT epoch, seq FROM logs WHERE session = ?", (session,)).fetchone()
        return row[1] if row is not None and row[0] == epoch else 0

    def log(self, session: str, piece: "LogPiece") -> None:
        """Take in what was journaled of one of turnwire's sessions, unless others have meanwhile. Raises HistoryError."""
        identity, listed = f"{LIVE}:{session}", piece.listed
        try:
            with self._writing():
                known = self._db.execute(
                    "SELECT epoch, seq FROM logs WHERE session = ?", (session,)
                ).fetchone()
                if known is not None and known[0] == piece.epoch and known[1] != piece.after:
                    return
                if known is not None and known[0] != piece.epoch:
                    self.unsay(identity)
                    self._drop_answers(identity)
                self.say(identity, piece.said)
                (ended,) = self._db.execute(
                    "SELECT max(at) FROM answers WHERE session = ?", (identity,)
                ).fetchone()
                self._answer(
                    identity,
                    (one if one.began is not None else one._replace(began=ended) for one in piece.answers),
                )
                self._unsettle(one.key for one in piece.answers)
                (unknown,) = self._db.execute(
                    "SELECT count(*) FROM answers WHERE session = ? AND cost_usd IS NULL", (identity,)
                ).fetchone()
                self._db.execute(
                    "INSERT OR REPLACE INTO logs VALUES (?, ?, ?)", (session, piece.epoch, piece.seq)
                )
                self._db.execute(
                    f"INSERT OR REPLACE INTO sessions VALUES ({', '.join('?' * 20)})",
                    (
                        identity, listed.path, listed.agent, listed.folder, listed.title, listed.first_prompt, listed.began,
                        listed.ended, listed.turns, amount(listed.cost_usd), listed.cost_is_whole and not unknown, 0.0, 0.0, listed.git_branch,
                        listed.model, listed.version, listed.size, None, 0, 0,
                    ),
                )  # fmt: skip
        except sqlite3.Error as error:
            raise _unwritable(error) from error

    def forget_log(self, session: str) -> None:
        """Forget one of turnwire's sessions."""
        identity = f"{LIVE}:{session}"
        with self._writing():
            self.unsay(identity)
            turns = self._db.execute("SELECT key FROM answers WHERE session = ?", (identity,)).fetchall()
            self._unsettle(key for (key,) in turns)
            for statement in (
                "DELETE FROM answers WHERE session = ?",
                "DELETE FROM sessions WHERE id = ?",
                "DELETE FROM names WHERE id = ?",
            ):
                self._db.execute(statement, (identity,))
            self._db.execute("DELETE FROM logs WHERE session = ?", (session,))

    def newest(
        self,
        *,
        limit: int,
        agent: str | Collection[str] | None = None,
        folder: str | None = None,
        before: tuple[float, str] | None = None,
        within: VisibleConversations | None = None,
    ) -> list[ListedConversation]:
        """Return conversations of an agent or of several, the newest first; `before` is the end and the id of the last one seen."""
        conditions, values = _wanted(agent, folder)
        if within is not None:
            condition, seen = within.condition("id", "folder")
            conditions.append(condition)
            values += seen
        if before is not None:
            conditions.append("(ifnull(ended, 0), id) < (?, ?)")
            values += before
        return self._listed(
            f"WHERE {' AND '.join(conditions)} ORDER BY ifnull(ended, 0) DESC, id DESC LIMIT ?",
            (*values, limit),
        )

    def newest_in(self, agent: str, folder: str) -> ListedConversation | None:
        """Return the conversation of an agent that went on last in a folder, and not below it."""
        rest = "WHERE agent = ? AND folder = ? AND id NOT LIKE 'live:%' ORDER BY ifnull(ended, 0) DESC, id DESC LIMIT 1"
        return next(iter(self._listed(rest, (agent, folder))), None)

    def in_file(self, path: str) -> ListedConversation | None:
        """Return the conversation of a file."""
        return next(iter(self._listed("WHERE path = ? AND id NOT LIKE 'live:%'", (path,))), None)

    def find(self, identity: str) -> ListedConversation | None:
        """Return a conversation by its id; None for one that is not in the index."""
        return next(iter(self._listed("WHERE id = ?", (identity,))), None)

    def starting_with(self, start: str) -> list[ListedConversation]:
        """Return the conversations whose ids begin so."""
        return self._listed("WHERE id LIKE ? ESCAPE '\\' LIMIT 10", (f"{_escaped(start)}%",))

    def _listed(self, rest: str, values: Sequence[object]) -> list[ListedConversation]:
        with self._reading():
            self._settle()
            rows = self._db.execute(
                "SELECT id, path, agent, folder, coalesce((SELECT title FROM names WHERE names.id = sessions.id), title, "
                "(SELECT title FROM titles WHERE titles.leaf = sessions.leaf)), first_prompt, began, ended, turns, cost_usd, "
                f"cost_is_whole, git_branch, model, version, size, branches, shared_usd FROM sessions {rest}",
                values,
            ).fetchall()
            listed = [ListedConversation._make((*row[:10], bool(row[10]), *row[11:])) for row in rows]
            listed = [one if one.cost_is_whole else self._with_estimate(one) for one in listed]
            return [self._with_journal(one) for one in listed]

    def _with_journal(self, one: ListedConversation) -> ListedConversation:
        """Add what only turnwire's own log knows of a conversation; while reading."""
        found = None if one.agent != _TOTALS_OF else self._unfiled(one.id)
        if found is None or not found.cost_usd:
            return one
        return one._replace(cost_usd=round((one.cost_usd or 0.0) + found.cost_usd, 10))

    def _unfiled(self, identity: str) -> Unfiled | None:
        """Return what turnwire's own logs know of a conversation and its file does not; while reading."""
        turns = self._journaled(identity)
        if not turns:
            return None
        (other,) = self._db.execute("SELECT other_usd FROM sessions WHERE id = ?", (identity,)).fetchone()
        answers = self._db.execute(
            f"SELECT {_ANSWER} FROM answers WHERE session = ? AND is_original", (identity,)
        )
        return unfiled(turns, map(Answer._make, answers), other, self._prices.estimate)

    def _journaled(self, identity: str) -> list[JournaledTurn]:
        key = f"{LIVE}:{identity:36}:"
        rows = self._db.execute(
            "SELECT since, at, cost_usd, input, output, cache_read, cache_creation FROM answers "
            "WHERE key >= ? AND key < ? AND since IS NOT NULL AND cost_usd IS NOT NULL",
            (key, f"{key[:-1]};"),
        )
        return [JournaledTurn(since, at, cost, tuple(tokens)) for since, at, cost, *tokens in rows]

    def journaled(self, identity: str) -> list[JournaledTurn]:
        """Return the turns of a conversation in turnwire's own logs whose cost the CLI reported."""
        with self._reading():
            return self._journaled(identity)

    def copied(self, identity: str) -> frozenset[str]:
        """Return the keys of a conversation's answers that an earlier conversation has and counts."""
        with self._reading():
            self._settle()
            rows = self._db.execute(
                "SELECT key FROM answers WHERE session = ? AND NOT is_original", (identity,)
            )
            return frozenset(key for (key,) in rows)

    def _all_unfiled(self) -> str:
        """Return what only turnwire's own logs know, of all conversations, as a JSON array; while reading."""
        rows = self._db.execute(
            "SELECT id FROM sessions WHERE agent = ? AND id IN ("
            "SELECT rtrim(substr(key, 6, instr(substr(key, 6), ':') - 1)) FROM answers WHERE key >= 'live:' AND key < 'live;')",
            (_TOTALS_OF,),
        ).fetchall()
        found = ((identity, self._unfiled(identity)) for (identity,) in rows)
        return json.dumps([[identity, one.at, *one.tokens, one.cost_usd] for identity, one in found if one])

    def _with_estimate(self, one: ListedConversation) -> ListedConversation:
        """Add what the answers may have cost whose cost the agent does not tell, but for those that are another's copies; while reading."""
        statement = """
            SELECT sum(estimate), count(*), count(estimate) FROM answers
            WHERE session = ? AND cost_usd IS NULL AND NOT is_copy AND is_original
        """
        dollars, unknown, estimated = self._db.execute(statement, (one.id,)).fetchone()
        if not estimated:
            return one
        return one._replace(
            cost_usd=round((one.cost_usd or 0.0) + dollars, 10),
            cost_is_whole=estimated == unknown,
            estimated_usd=round(one.estimated_usd + dollars, 10),
        )

    def count(self, agent: str | Collection[str] | None = None, folder: str | None = None) -> int:
        """Return how many conversations there are, of an agent or of several and in a folder and below it."""
        conditions, values = _wanted(agent, folder)
        with self._reading():
            (count,) = self._db.execute(
                f"SELECT count(*) FROM sessions WHERE {' AND '.join(conditions)}", values
            ).fetchone()
        return int(count)

    def rename(self, identity: str, title: str | None) -> None:
        """Call a conversation otherwise; None takes that back."""
        with self._writing():
            if title is None:
                self._db.execute("DELETE FROM names WHERE id = ?", (identity,))
            else:
                self._db.execute("INSERT OR REPLACE INTO names VALUES (?, ?)", (identity, title[:SHOWN]))

    def search(
        self,
        text: str,
        *,
        limit: int,
        agent: str | None = None,
        folder: str | None = None,
        within: VisibleConversations | None = None,
    ) -> list[SearchHit]:
        """Return where all the words stand, the best first; words are no syntax, but one in quotes is a phrase.

        Raises HistoryError where there is no word to look for.
        """
        query = query_of(text)
        if not query:
            raise HistoryError("the search has no word; give letters or digits")
        # A conversation that is also one of turnwire's own sessions is found there, where it is open.
        conditions = [
            "words MATCH ?",
            "NOT EXISTS (SELECT 1 FROM sessions AS own WHERE own.path = said.session AND own.id LIKE 'live:%')",
        ]
        values: list[object] = [query]
        if within is not None:
            condition, seen = within.condition("sessions.id", "sessions.folder")
            conditions.append(condition)
            values += seen
        if agent is not None:
            conditions.append("sessions.agent = ?")
            values.append(agent)
        if folder is not None:
            conditions.append("(sessions.folder = ? OR sessions.folder LIKE ? ESCAPE '\\')")
            values += [folder, f"{_escaped(folder.rstrip('/'))}/%"]
        statement = (
            "SELECT said.session, said.message, said.seq, said.kind, snippet(words, 0, char(2), char(3), '…', 16), "
            "coalesce((SELECT title FROM names WHERE names.id = said.session), sessions.title, "
            "(SELECT title FROM titles WHERE titles.leaf = sessions.leaf), sessions.first_prompt), sessions.folder, "
            "sessions.ended FROM words JOIN said ON said.number = words.rowid JOIN sessions ON sessions.id = said.session "
            f"WHERE {' AND '.join(conditions)} ORDER BY words.rank LIMIT ?"
        )
        try:
            with self._reading():
                rows = self._db.execute(statement, (*values, limit)).fetchall()
        except sqlite3.Error as error:
            raise HistoryError(f"the search failed ({error}); use plain words") from error
        return [*self._named(text, limit, within), *(SearchHit(*row) for row in rows)][:limit]

    def _named(self, text: str, limit: int, within: VisibleConversations | None) -> list[SearchHit]:
        """Return conversations that a human has given a name with all the words."""
        words = [word.casefold() for word in text.replace('"', " ").split()]
        with self._reading():
            rows = self._db.execute(
                "SELECT names.id, names.title, sessions.folder, sessions.ended FROM names JOIN sessions USING (id)"
            ).fetchall()
        found = [
            row
            for row in rows
            if all(word in row[1].casefold() for word in words)
            and (within is None or within.has(row[0], row[2]))
        ]
        return [SearchHit(row[0], "", None, "title", row[1], row[1], row[2], row[3]) for row in found[:limit]]

    def usage(
        self,
        groups: Sequence[Group],
        *,
        since: float | None = None,
        until: float | None = None,
        folder: str | None = None,
        within: VisibleConversations | None = None,
    ) -> list[UsageSum]:
        """Return what was used, each answer once, by groups; times are seconds since 1970.

        A sum's `group` has local times, of a `week` its Monday, of a `block` when it began, and as `project` the folder.
        """
        columns = {
            "day": "strftime('%Y-%m-%d', at, 'unixepoch', 'localtime')",
            "week": "strftime('%Y-%m-%d', at, 'unixepoch', 'localtime', 'weekday 0', '-6 days')",
            "month": "strftime('%Y-%m', at, 'unixepoch', 'localtime')",
            "block": "strftime('%Y-%m-%d %H:%M', block(at), 'unixepoch', 'localtime')",
            # a copy whose original is gone is still that conversation's
            "session": "coalesce(origin, session)",
            "project": "folder",
            "model": "model",
            "agent": "agent",
        }
        chosen = [columns[group] for group in groups]
        conditions, values = ["1"], list[object]()
        if since is not None:
            conditions.append("at >= ?")
            values.append(since)
        if until is not None:
            conditions.append("at < ?")
            values.append(until)
        if folder is not None:
            conditions.append("(folder = ? OR folder LIKE ? ESCAPE '\\')")
            values += [folder, f"{_escaped(folder.rstrip('/'))}/%"]
        kept, kept_values = "1", list[object]()
        if within is not None:
            condition, seen = within.condition("session", "folder")
            conditions.append(condition)
            values += seen
            # a file that may not be seen counts nothing: the log does
            kept, seen = within.condition("kept.id", "kept.folder")
            kept_values += seen
        by = ", ".join(str(number + 1) for number in range(len(chosen)))
        # A session of turnwire's own that left a file as well is counted by the file.
        statement = f"""
            WITH once AS (
              SELECT answers.*, CASE WHEN is_share THEN NULL ELSE cost_usd END AS told,
                     CASE WHEN is_share THEN cost_usd ELSE estimate END AS guess
              FROM answers WHERE is_original
            ), spent AS (
              SELECT sessions.id AS session, once.at AS at, folder, once.model AS model, agent, 1 AS answers, input, output, cache_read,
                     cache_creation, once.told AS cost, once.guess AS estimate,
                     once.told IS NULL AND once.guess IS NULL AS unknown, origin
              FROM once JOIN sessions ON sessions.id = once.session
              WHERE once.session NOT LIKE 'live:%'
                 OR NOT EXISTS (SELECT 1 FROM sessions AS kept WHERE kept.id = rtrim(substr(once.key, 6, instr(substr(once.key, 6), ':') - 1)) AND {kept})
              UNION ALL
              SELECT id, ended, folder, '(other)', agent, 0, 0, 0, 0, 0, other_usd, NULL, 0, NULL FROM sessions WHERE other_usd > 0
              UNION ALL
              SELECT sessions.id, json_extract(value, '$[1]'), folder, '(other)', agent, 0, json_extract(value, '$[2]'),
                     json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]'),
                     json_extract(value, '$[6]'), NULL, 0, NULL FROM json_each(?)
                     JOIN sessions ON sessions.id = json_extract(value, '$[0]')
            )
            SELECT {"".join(f"{column}, " for column in chosen)} sum(answers), sum(input), sum(output), sum(cache_read),
                   sum(cache_creation), sum(cost), sum(estimate), max(unknown)
            FROM spent WHERE {" AND ".join(conditions)} {f"GROUP BY {by} ORDER BY {by}" if chosen else ""}
        """
        with self._reading():
            self._settle()
            if "block" in groups:
                begun = _blocks(
                    at
                    for (at,) in self._db.execute("SELECT at FROM answers WHERE at IS NOT NULL ORDER BY at")
                )
                self._db.create_function("block", 1, partial(_block_of, begun))
            rows = self._db.execute(statement, [*kept_values, self._all_unfiled(), *values]).fetchall()
        spent = []
        for row in rows:
            of, (answers, sent, written, read, created, cost, estimate, unknown) = (
                row[: len(chosen)],
                row[len(chosen) :],
            )
            if answers is None:
                continue
            group = dict(zip(map(str, groups), of, strict=True))
            estimated = round(estimate or 0.0, 10)
            dollars = None if cost is None and estimate is None else round((cost or 0.0) + estimated, 10)
            spent.append(
                UsageSum(
                    group=group,
                    answers=answers,
                    input_tokens=sent,
                    output_tokens=written,
                    cache_read_input_tokens=read,
                    cache_creation_input_tokens=created,
                    cost_usd=dollars,
                    estimated_usd=estimated,
                    cost_is_whole=not unknown,
                )
            )
        return spent


def _unwritable(error: sqlite3.Error) -> HistoryError:
    return HistoryError(f"the index of conversations cannot be written ({error}); is the disk full?")


def _possible(answer: Answer) -> Answer:
    """Return an answer with numbers that the tables can hold: earlier versions journaled whatever an agent told."""
    input_tokens, output_tokens, read, created = (count(tokens) or 0 for tokens in answer[3:7])
    return answer._replace(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cache_read_input_tokens=read,
        cache_creation_input_tokens=created,
        cache_creation_1h_input_tokens=count(answer.cache_creation_1h_input_tokens) or 0,
        cost_usd=amount(answer.cost_usd),
    )


def _blocks(times: Iterable[float]) -> list[float]:
    """Return when blocks begin, of the times of all answers in order: one ends when its time is over, or nothing comes for so long."""
    begun: list[float] = []
    last = 0.0
    for at in times:
        if not begun or at - begun[-1] > BLOCK_S or at - last > BLOCK_S:
            begun.append(at - at % 3600)
        last = at
    return begun


def _block_of(begun: Sequence[float], at: float | None) -> float | None:
    place = 0 if at is None else bisect_right(begun, at)
    return begun[place - 1] if place else None


class _TextBatch:
    """Gathers what a file says. Of a long file it is written some at a time, under a name of its own."""

    def __init__(self, index: Index, name: str) -> None:
        self._index = index
        self._name = name
        self._held: list[SearchableText] = []
        self._written = False

    def add(self, said: Sequence[SearchableText]) -> None:
        """Take texts in."""
        self._held += said
        if len(self._held) >= HELD:
            self._index.say(self._name, zip(self._held, repeat(None)))
            self._held.clear()
            self._written = True

    def done(self, session: str) -> None:
        """Write the rest, all of it as the conversation's."""
        if self._written:
            self._index.name_said(self._name, session)
        self._index.say(session, zip(self._held, repeat(None)))

    def drop(self) -> None:
        """Keep nothing of it."""
        if self._written:
            self._index.unsay(self._name)


def query_of(text: str) -> str:
    """Return words as a query: all of them, whatever they consist of; a part in quotes is a phrase. The last may go on."""
    parts: list[str] = []
    for number, part in enumerate(text.split('"')):
        if number % 2:
            parts.append(part)
        else:
            parts += part.split()
    phrases = [f'"{part}"' for part in parts if any(character.isalnum() for character in part)]
    if phrases and text and text[-1].isalnum():
        phrases[-1] += " *"
    return " ".join(phrases)


def _wanted(agent: str | Collection[str] | None, folder: str | None) -> tuple[list[str], list[object]]:
    """Return the conditions for conversations of agents and in a folder, with their values."""
    conditions, values = ["id NOT LIKE 'live:%'"], list[object]()
    if agent is not None:
        agents = [agent] if isinstance(agent, str) else sorted(agent)
        conditions.append(f"agent IN ({', '.join('?' * len(agents))})")
        values += agents
    if folder is not None:
        conditions.append("(folder = ? OR folder LIKE ? ESCAPE '\\')")
        values += [folder, f"{_escaped(folder.rstrip('/'))}/%"]
    return conditions, values


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
