"""A file system that becomes read-only under a running turnwire, as ext4 does when its disk fails."""

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from enduring import FLOOD, configure
from soaking import TOKEN

from live import Frontend
from turnwire.client import CommandFailed, connect
from turnwire.client.events import Complete
from turnwire_process import DEADLINE, turnwire
from waiting import until

pytestmark = pytest.mark.long

SENTENCE = "The disk fails to read or write the journal"


def mounted(*options: str) -> bool:
    try:
        return subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@contextmanager
def disk(image: Path, folder: Path) -> Iterator[None]:
    """An ext4 of its own; skips the test where none can be mounted."""
    folder.mkdir()
    image.write_bytes(bytes(24 << 20))
    try:
        made = subprocess.run(["mkfs.ext4", "-q", "-F", image], capture_output=True, check=False).returncode
    except FileNotFoundError:
        made = 1
    if made != 0 or not mounted("-o", "loop", str(image), str(folder)):
        pytest.skip("no file system can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


async def test_a_disk_that_becomes_read_only_is_told_and_what_was_seen_can_still_be_read(
    tmp_path: Path,
) -> None:
    env = configure(tmp_path, FLOOD)
    with disk(tmp_path / "image", tmp_path / "state"):
        async with turnwire(tmp_path, "serve", env=env, stdout_lines=1) as served:
            async with connect(served.base, TOKEN, timeout=60) as client:
                session = await client.create(workspace=str(tmp_path / "work"))
                frontend = Frontend(client, session)
                await frontend.turn("first")
                first = frontend.text()
                # what the kernel does by itself when a disk fails: `mount -o remount,ro` waits for those who have files open
                if not mounted("-o", "remount,abort", str(tmp_path / "state")):
                    pytest.skip("this kernel does not give a file system up on demand")
                with pytest.raises(CommandFailed, match=SENTENCE) as refused:
                    await frontend.prompt("more")
                assert refused.value.code == "journal_unavailable"
                await until(lambda: SENTENCE in str(client.known_sessions[0].trouble))
                async with connect(served.base, TOKEN, timeout=60) as newcomer:
                    other = Frontend(newcomer, session)
                    await other.until(Complete)
                    assert other.text() == first
            served.process.terminate()
            async with asyncio.timeout(DEADLINE):
                assert await served.process.wait() != 0
            served.killed = True
