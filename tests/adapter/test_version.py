import asyncio
import sys
from pathlib import Path

from adapter.claude.version import Version, abilities, detect_version, parse_version


def test_a_version_is_found_in_what_the_cli_says() -> None:
    assert parse_version("2.1.330 (Claude Code)\n") == Version(2, 1, 330)
    assert parse_version("no number") is None
    assert str(Version(1, 0, 120)) == "1.0.120"


def test_old_versions_lack_what_they_lack() -> None:
    assert abilities(Version(1, 0, 60)) == ("nothing", False, True, False, False, False, True)
    assert abilities(Version(1, 0, 120)) == ("nothing", False, True, False, False, False, False)
    assert abilities(Version(2, 0, 14)) == ("api_message_id", True, False, False, False, False, False)
    assert abilities(Version(2, 1, 101)) == ("message_uuid", True, False, True, False, False, False)
    assert not abilities(Version(2, 1, 220)).asks_despite_hooks
    assert abilities(Version(2, 1, 330)).asks_despite_hooks
    assert abilities(None) == abilities(Version(2, 1, 330))._replace(forwards_subagents=False)


def test_subagents_are_forwarded_where_the_option_is_known() -> None:
    known = [abilities(Version(2, 1, patch)).forwards_subagents for patch in (210, 211, 330)]
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


async def test_a_cli_that_leaves_its_output_to_a_daemon_has_said_its_version(tmp_path: Path) -> None:
    program = """
import subprocess
print("2.1.200 (A CLI)", flush=True)
subprocess.Popen(["/bin/sleep", "600"], start_new_session=True, env={})
"""
    async with asyncio.timeout(60):
        assert await detect_version([sys.executable, "-c", program], {}, tmp_path) == Version(2, 1, 200)
