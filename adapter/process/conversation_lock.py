"""One driver for each conversation: a lock that all turnwire processes of a user share.

Two agents that go on with one conversation write one file, and each loses the other's turns. So a process that runs
an agent holds an advisory lock on a small file below the agent's HOME, where the agent keeps its conversations too. State
directories differ between processes, so the file is in none of them. The kernel releases a lock when its holder ends in
any way. A conversation that only its agent can choose is locked once the agent has named it.
Where no lock can be taken, as in a HOME that cannot be written, agents run without it.
"""

import fcntl
import logging
import os
from collections.abc import Mapping
from pathlib import Path

from turnwire._runtime.private_files import make_private, open_private

log = logging.getLogger(__name__)

STATE = (".local", "state", "turnwire")
"""turnwire's folder below an agent's HOME, whatever XDG_STATE_HOME says: processes may have different ones."""

LONGEST = 128
"""Most characters of an id that is the name of a file as it is."""

NAMED = 400
"""Most bytes of a lock file that are read."""


class ConversationLock:
    """Holds the one conversation that an agent goes on with."""

    def __init__(
        self, family: str, environment: Mapping[str, str], session: str, *, against_others: bool = False
    ) -> None:
        """Take no lock yet.

        Args:
            family: the agent's family, by name.
            environment: the agent's.
            session: turnwire's id of the session, which others are told.
            against_others: whether the caller judges its own sessions, so that only other processes count.
        """
        home = environment.get("HOME")
        self._state = Path(home, *STATE) if home else None
        # an agent of unknown dialect is Claude Code, as far as conversations are concerned
        self._family = "claude" if family == "auto" else family
        self._session = session
        self._against_others = against_others
        self._fd = -1
        self._path = Path()
        self._held: str | None = None

    def take(self, conversation: str) -> None:
        """Hold a conversation, and let go of the one before. Raises ConversationInUse if another agent has it.

        Never waits.
        """
        if conversation == self._held or self._state is None:
            return
        path = self._state / "conversations" / f"{self._family}-{_file_name(conversation)}"
        try:
            make_private(path.parent, self._state)
            fd = self._locked(path, conversation)
        except OSError as error:
            log.warning(
                "a conversation is not locked against other processes", extra={"reason": str(error)[:300]}
            )
            return
        if fd is None:
            return
        self.close()
        self._fd, self._path, self._held = fd, path, conversation
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()} {self._session}\n".encode(), 0)

    def _locked(self, path: Path, conversation: str) -> int | None:
        while True:
            fd = open_private(path, os.O_RDWR | os.O_CREAT)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # its holder may have removed the file after we opened it
                if _is_at(fd, path):
                    return fd
            except BlockingIOError:
                process, _, session = os.pread(fd, NAMED, 0).decode(errors="replace").strip().partition(" ")
                os.close(fd)
                if self._against_others and process == str(os.getpid()):
                    return None
                from turnwire.adapter.options import ConversationInUse  # noqa: PLC0415 - a relay needs it for this alone

                raise ConversationInUse(conversation, session, process) from None
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)

    def close(self) -> None:
        """Let go of the conversation, if one is held."""
        if self._fd < 0:
            return
        fd, self._fd, self._held = self._fd, -1, None
        try:
            # while it is locked, so nobody removes a file that another one has locked since
            self._path.unlink(missing_ok=True)
        except OSError:
            pass  # a file that stays blocks nobody
        # closing is not enough: a process that was forked meanwhile may have the descriptor, too
        fcntl.flock(fd, fcntl.LOCK_UN)
        os.close(fd)


def _file_name(conversation: str) -> str:
    """Return a conversation's id, or the digest of an odd one."""
    letters = conversation.replace("-", "").replace("_", "")
    if len(conversation) <= LONGEST and letters.isascii() and letters.isalnum():
        return conversation
    import hashlib  # noqa: PLC0415 - few agents have such ids

    return "~" + hashlib.sha256(conversation.encode(errors="surrogatepass")).hexdigest()


def _is_at(fd: int, path: Path) -> bool:
    try:
        there = path.stat(follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(fd), there)
