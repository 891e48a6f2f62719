"""The lock of a conversation: who holds it, what ends it, and where there can be none."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recordings import ROOT
from turnwire.adapter.options import ConversationInUse
from turnwire.adapter.process.conversation_lock import ConversationLock

HOLDS = """
import sys
from turnwire.adapter.process.conversation_lock import ConversationLock
lock = ConversationLock("claude", {"HOME": sys.argv[1]}, "s-other")
lock.take(sys.argv[2])
print("held", flush=True)
sys.stdin.read()
"""


def lock(home: Path, session: str = "s-1", *, family: str = "claude", **more: bool) -> ConversationLock:
    return ConversationLock(family, {"HOME": str(home)}, session, **more)


def test_one_agent_has_a_conversation_and_the_next_one_once_it_has_let_go(tmp_path: Path) -> None:
    first, second = lock(tmp_path), lock(tmp_path, "s-2", family="auto")
    first.take("c")
    first.take("c")
    with pytest.raises(
        ConversationInUse, match=f"resume: the conversation c is open in the session s-1 .* {os.getpid()};"
    ):
        second.take("c")
    lock(tmp_path, family="codex").take("c")
    second.take("d")
    first.take("e")  # after which it has nothing to do with the other one
    second.take("c")
    with pytest.raises(ConversationInUse, match="s-2"):
        first.take("c")
    for one in (first, second, second):
        one.close()
    lock(tmp_path).take("c")


def test_a_caller_that_judges_its_own_sessions_hears_of_other_processes_alone(tmp_path: Path) -> None:
    first, second = lock(tmp_path), lock(tmp_path, "s-2", against_others=True)
    first.take("c")
    second.take("c")
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path), "d"],
        env={"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(ConversationInUse, match=f"s-other of the turnwire process {child.pid};"):
            second.take("d")
        child.send_signal(signal.SIGKILL)
        child.wait()
        second.take("d")


@pytest.mark.parametrize("name", ["../../x", "a/b", "", "ä", "\udc80", "x" * 5000, "a\nb", "."])
def test_any_id_has_a_lock_below_home(name: str, tmp_path: Path) -> None:
    first = lock(tmp_path)
    first.take(name)
    with pytest.raises(ConversationInUse):
        lock(tmp_path).take(name)
    (file,) = (tmp_path / ".local" / "state" / "turnwire" / "conversations").iterdir()
    assert file.stat().st_mode & 0o077 == file.parent.stat().st_mode & 0o077 == 0
    first.close()
    assert not file.exists()


def test_a_file_that_is_removed_or_left_behind_fools_nobody(tmp_path: Path) -> None:
    first, second = lock(tmp_path), lock(tmp_path, "s-2")
    first.take("c")
    (file,) = (tmp_path / ".local" / "state" / "turnwire" / "conversations").iterdir()
    file.write_text("")
    with pytest.raises(ConversationInUse, match="is open in another turnwire process;"):
        second.take("c")
    first.close()
    file.write_text("12345 s-dead\n")
    second.take("c")
    with pytest.raises(ConversationInUse, match="s-2"):
        first.take("c")


def test_without_a_place_for_it_agents_run_unlocked(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ConversationLock("claude", {}, "s-1").take("c")
    (tmp_path / ".local").write_text("no folder")
    lock(tmp_path).take("c")
    lock(tmp_path).take("c")
    assert [one.message for one in caplog.records] == [
        "a conversation is not locked against other processes"
    ] * 2
