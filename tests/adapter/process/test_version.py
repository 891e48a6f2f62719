import asyncio
import sys
from pathlib import Path

from msgspec.structs import replace

from turnwire.adapter.claude.version import capabilities
from turnwire.adapter.process.version import Version, detect_version, parse_version


def test_a_version_is_found_in_what_the_cli_says() -> None:
    assert parse_version("2.1.330 (Claude Code)\n") == Version(2, 1, 330)
    assert parse_version("no number") is None
    assert str(Version(1, 0, 120)) == "1.0.120"


def test_old_versions_lack_what_they_lack() -> None:
    early, old = capabilities(Version(1, 0, 60)), capabilities(Version(1, 0, 120))
    middle, new = capabilities(Version(2, 0, 14)), capabilities(Version(2, 1, 101))
    assert early == replace(old, is_early=True, hooks=False)
    assert (old.resume_at, middle.resume_at, new.resume_at) == ("nothing", "api_message_id", "message_uuid")
    assert (old.keeps_session_id, middle.keeps_session_id) == (False, True)
    assert (old.waits_after_cancel, middle.waits_after_cancel) == (True, False)
    assert (middle.withdraws_prompts, new.withdraws_prompts) == (False, True)
    assert (middle.rewinds_files, new.rewinds_files) == (False, True)
    assert not capabilities(Version(2, 1, 220)).asks_despite_hooks
    assert capabilities(Version(2, 1, 330)).asks_despite_hooks
    assert capabilities(None) == replace(capabilities(Version(2, 1, 330)), forwards_subagents=False)


def test_subagents_are_forwarded_where_the_option_is_known() -> None:
    known = [capabilities(Version(2, 1, patch)).forwards_subagents for patch in (210, 211, 330)]
    assert known == [False, True, True]


async def test_a_cli_is_asked_once(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    script = tmp_path / "cli"
    script.write_text(f"#!{sys.executable}\nopen({str(asked)!r}, 'a').write('x')\nprint('2.0.14 (A CLI)')\n")
    script.chmod(0o755)
    for _ in range(2):
        assert await detect_version([str(script)], {}, tmp_path) == Version(2, 0, 14)
    assert asked.read_text() == "x"


async def test_a_cli_that_says_no_version_has_none(tmp_path: Path) -> None:
    assert await detect_version([sys.executable, "-c", "print('?')"], {}, tmp_path) is None
    assert await detect_version([str(tmp_path / "missing")], {}, tmp_path) is None


async def test_a_cli_that_did_not_answer_in_time_is_asked_again(tmp_path: Path) -> None:
    script, ready = tmp_path / "cli", tmp_path / "ready"
    script.write_text(
        f"#!{sys.executable}\nimport os, time\nif not os.path.exists({str(ready)!r}): time.sleep(600)\nprint('2.1.200')\n"
    )
    script.chmod(0o755)
    assert await detect_version([str(script)], {}, tmp_path, deadline=0.2) is None
    ready.touch()
    assert await detect_version([str(script)], {}, tmp_path, deadline=60) == Version(2, 1, 200)


async def test_a_cli_that_leaves_its_output_to_a_daemon_has_said_its_version(tmp_path: Path) -> None:
    program = """
import subprocess
print("2.1.200 (A CLI)", flush=True)
subprocess.Popen(["/bin/sleep", "600"], start_new_session=True, env={})
"""
    async with asyncio.timeout(60):
        assert await detect_version([sys.executable, "-c", program], {}, tmp_path) == Version(2, 1, 200)
