"""The suites for journals and families of others: imported as docs/extending.md shows, they find what is broken."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from recordings import ROOT

PAGE = (ROOT / "docs/extending.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)

BROKEN = """
class Forgetful(Journal_):
    async def read_after(self, session, cursor, **limits):
        page = await super().read_after(session, cursor, **limits)
        return Page(None, page.envelopes, page.cursor, page.last)


class TestForgetful(TestMyJournal):
    @pytest.fixture
    def opener(self):
        return MyOpener(Forgetful)


class Hasty(EchoCore):
    def handle(self, happened):
        events = super().handle(happened)
        return [event for event in events if event.type != "complete"]


class TestHasty(TestEchoCore):
    def new_core(self, **given):
        return Hasty(**given)
"""


def run(folder: Path) -> tuple[set[str], str]:
    """Run pytest as somebody elsewhere would, and return what failed."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=line", folder],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return set(re.findall(r"^FAILED \S+?::(\S+)", ran.stdout, re.MULTILINE)), ran.stdout + ran.stderr


@pytest.mark.long
def test_the_examples_pass_the_types_that_turnwire_is_held_to(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("\n".join(EXAMPLES))
    checked = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--config-file",
            ROOT / "pyproject.toml",
            "--cache-dir",
            tmp_path,
            file,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout


@pytest.mark.long
def test_the_suites_pass_what_keeps_the_contract_and_name_what_does_not(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("\n".join(EXAMPLES) + BROKEN)
    failed, said = run(tmp_path)
    assert " passed" in said, said
    assert not {name for name in failed if name.startswith(("TestMyJournal", "TestEchoCore"))}, said
    assert "TestForgetful::test_a_cursor_of_another_epoch_starts_over_after_a_gap" in failed
    assert "TestForgetful::test_retention_by_count_leaves_a_gap_that_says_so" in failed
    assert "TestForgetful::test_numbers_are_contiguous_from_one_within_each_session" not in failed
    assert "TestHasty::test_the_same_lines_give_the_same_events" in failed
    assert "never complete" in said
