"""The walks of docs/architecture.md: how many calls a line and an answer take, counted on a live session."""

import asyncio
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from host_harness import SOMEBODY, host_harness

from hub.wire import frames
from journal.sqlite.journal import SqliteJournal
from normalize import events as ev
from recordings import ROOT

PAGE = (ROOT / "docs/architecture.md").read_text()
HOUSE = ("adapter", "hub", "journal", "normalize", "protocol", "sidecar")

APART = {
    "protocol/dialects/recognise.py",  # the agent here is not known by its name
    "protocol/claude/encode.py",  # as many as the reply has values
    "journal/reading/tail.py",  # when it is committed
}
"""What the page counts beside the walks."""

SLACK = 2
"""By how many calls the page may be off with a line, which is counted as a share of many."""
LINES = 1500
NEARLY = 0.02
"""Of a line's calls: few lines are alone in their slice or batch, whose calls are not counted among a line's."""


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count the calls of the house's own functions in this thread, by function."""
    calls, before = Counter[str](), sys.getprofile()

    def count(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            name = frame.f_code.co_filename.removeprefix(f"{ROOT}/")
            committed = frame.f_code.co_qualname.startswith("SqliteJournal.committed")
            if name.startswith(HOUSE) and name not in APART and not committed:
                calls[f"{name}:{frame.f_code.co_qualname}"] += 1

    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def told(heading: str) -> tuple[int, int]:
    """Return what the page says that a walk takes, and the sum of its table."""
    text = PAGE[PAGE.index(f"### {heading}") :]
    total = re.search(r"That is (\d+) calls", text)
    assert total is not None
    rows = re.findall(r"\| (\d+) \|$", text[: total.start()], re.MULTILINE)
    return int(total[1]), sum(map(int, rows))


async def flood(folder: Path, monkeypatch: pytest.MonkeyPatch, lines: int) -> Counter[str]:
    journal = await SqliteJournal.open(folder / f"{lines}.db")
    async with host_harness(folder, monkeypatch, journal=journal) as here:
        (folder / "echo.yaml").write_text(f"fallback: {{steps: [{{flood: {lines}}}]}}")
        session = await here.create()
        written = asyncio.Event()
        journal.watch(lambda _, last: written.set() if last > lines else None)
        with counted() as calls:
            await here.do("prompt", session, text="go")
            async with asyncio.timeout(60):
                await written.wait()
    await journal.close()
    return calls


async def test_a_line_takes_as_many_calls_as_the_page_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = [await flood(tmp_path, monkeypatch, lines) for lines in (500, 500 + LINES)]
    calls, rows = told("The walk of a line")
    assert calls == rows
    each = {function: (count - few[function]) / LINES for function, count in many.items()}
    assert sum(int(count + NEARLY) for count in each.values()) == pytest.approx(calls, abs=SLACK), each


async def test_an_answer_takes_as_many_calls_as_the_page_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = await SqliteJournal.open(tmp_path / "journal.db")
    async with host_harness(tmp_path, monkeypatch, journal=journal) as here:
        (tmp_path / "echo.yaml").write_text("fallback: {steps: [{tool: Bash, input: {command: touch a}}]}")
        session = await here.create(policy="supervised")
        await here.do("prompt", session, text="go")
        seen = await here.until(session, ev.PermissionRequest)
        (asked,) = [event for event in seen if isinstance(event, ev.PermissionRequest)]
        command = frames.commands.validate_python(
            {
                "type": "permission.respond",
                "id": "1",
                "session": session,
                "pending_id": asked.pending_id,
                "option_id": asked.permission_options[0].option_id,
            }
        )
        with counted() as counts:
            await here.host.execute(command, SOMEBODY)
    await journal.close()
    calls, rows = told("The walk of a permission answer")
    assert calls == rows
    assert sum(counts.values()) == calls, counts
