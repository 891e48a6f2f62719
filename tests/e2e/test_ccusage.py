"""ccusage counts the same tokens and dollars in session files as `turnwire usage` does.

What it is known to count otherwise (20.0.24), so the files here avoid it or the test says it:

- A fork's copied answers count again for the fork, where no request id tells them.
- Writes to the cache are what `cache_creation` says; a file whose breakdown is zero though the sum is not has none for it.
- What a session cost beside its answers (summaries of a compaction, titles) is not in it.
- Offline it knows no price of the newest models (claude-opus-5-5) and counts them as free.
- A part of a prompt above 200,000 tokens of Sonnet 4.5 costs double; by the prices of CLI 2.1.330 it does not.
- Lines of JSON with a space behind the colon are not read.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from kept_files import KEPT as KEPT_BY_OTHERS
from kept_sessions import Kept, all_kept, kept
from real_agents import AGENTS

from turnwire_process import environment, lines_of

HOUR_WRITES = [
    ("claude-sonnet-4-5-20250929", 0),
    ("claude-sonnet-4-5-20250929", 3_000),
    ("claude-opus-4-5-20251101", 1_000),
    ("claude-haiku-4-5-20251001", 3_000),
    ("claude-opus-4-8", 2_000),
]
"""Models, and how many of 3,000 tokens written to the cache are for an hour."""

KNOWN_PRICES = [one for one in all_kept() if one.version in ("1.0.120", "2.0.14") and len(one.files) == 1]
"""Sessions of models whose prices it knows, with writes to the cache that have no breakdown."""

UNKNOWN_PRICES = [one for one in all_kept() if one.version == "2.1.330" and len(one.files) == 1]


class Used(NamedTuple):
    """Tokens sent, written, read from the cache and written to the cache, and dollars."""

    sent: int
    written: int
    cache_read: int
    cache_created: int
    dollars: float


async def of_turnwire(folder: Path, env: dict[str, str], by: str) -> dict[str, Used]:
    """What turnwire says, by session or day."""
    lines = await lines_of(folder, env, "usage", "--by", f"{by},model", "--json")
    return {
        one["group"][by]: Used(
            one["input_tokens"], one["output_tokens"], one["cache_read_input_tokens"],
            one["cache_creation_input_tokens"], one["cost_usd"] or 0,
        )
        for one in map(json.loads, lines)
        if one["group"]["model"] != "(other)"
    }  # fmt: skip


def of_ccusage(folder: Path, env: dict[str, str], agent: str, report: str, by: str) -> dict[str, Used]:
    """What ccusage says, by its own prices alone."""
    program = folder / "ccusage"
    shutil.copy(AGENTS / "@ccusage" / "ccusage-linux-x64" / "bin" / "ccusage", program)
    program.chmod(0o700)  # its package has it without the right to run
    command = [str(program), agent, report, "--offline", "--json"]
    done = subprocess.run(command, env=env, cwd=folder, check=True, capture_output=True)
    rows: list[dict[str, Any]] = json.loads(done.stdout)["daily" if report == "daily" else "sessions"]
    return {
        row[by]: Used(
            row["inputTokens"], row["outputTokens"], row["cacheReadTokens"], row["cacheCreationTokens"],
            row["totalCost"] if "totalCost" in row else row["costUSD"],
        )
        for row in rows
    }  # fmt: skip


def with_hour_writes(projects: Path) -> None:
    """Sessions of one answer each, in the shape of 2.1.330, on one day."""
    projects.mkdir(parents=True)
    for number, (model, hour) in enumerate(HOUR_WRITES):
        session = f"{number}5e55101-0000-4000-8000-000000000000"
        usage = {
            "input_tokens": 1_000,
            "output_tokens": 200,
            "cache_read_input_tokens": 5_000,
            "cache_creation_input_tokens": 3_000,
            "cache_creation": {"ephemeral_1h_input_tokens": hour, "ephemeral_5m_input_tokens": 3_000 - hour},
        }
        message = {"id": f"m{number}", "model": model, "role": "assistant", "usage": usage, "content": []}
        lines = (
            {"type": "user", "uuid": f"p{number}", "message": {"role": "user", "content": "go"}},
            {
                "type": "assistant", "uuid": f"a{number}", "parentUuid": f"p{number}", "requestId": f"r{number}",
                "message": message,
            },
        )  # fmt: skip
        of_each = {
            "sessionId": session,
            "timestamp": f"2026-11-0{number + 1}T12:00:00.000Z",
            "cwd": "/w",
            "version": "2.1.330",
        }
        (projects / f"{session}.jsonl").write_text(
            "".join(json.dumps({**line, **of_each}, separators=(",", ":")) + "\n" for line in lines)
        )


def same(found: dict[str, Used], other: dict[str, Used]) -> None:
    """Hold two sets of figures to each other."""
    assert found.keys() == other.keys()
    for key, used in found.items():
        assert used == pytest.approx(other[key], abs=1e-7), key


@pytest.mark.long
@pytest.mark.node
async def test_sessions_and_days_have_the_same_tokens_and_dollars(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    with_hour_writes(tmp_path / "home" / ".claude" / "projects" / "-w")
    for report, group, by in (("session", "session", "sessionId"), ("daily", "day", "date")):
        told = await of_turnwire(tmp_path, env, group)
        assert len(told) == len(HOUR_WRITES)
        same(told, of_ccusage(tmp_path, env, "claude", report, by))


@pytest.mark.long
@pytest.mark.node
async def test_sessions_of_the_cli_have_the_same_tokens_and_dollars(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    for one in KNOWN_PRICES:
        shutil.copytree(
            one.folder / "projects", tmp_path / "home" / ".claude" / "projects", dirs_exist_ok=True
        )
    told = await of_turnwire(tmp_path, env, "session")
    assert len(told) == len(KNOWN_PRICES)
    same(told, of_ccusage(tmp_path, env, "claude", "session", "sessionId"))


@pytest.mark.long
@pytest.mark.node
async def test_sessions_of_models_without_a_price_have_the_same_tokens(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    for one in UNKNOWN_PRICES:
        shutil.copytree(
            one.folder / "projects", tmp_path / "home" / ".claude" / "projects", dirs_exist_ok=True
        )
    told = await of_turnwire(tmp_path, env, "session")
    counted = of_ccusage(tmp_path, env, "claude", "session", "sessionId")
    assert len(told) == len(UNKNOWN_PRICES)
    assert {used.dollars for used in counted.values()} == {0}
    assert {key: used[:3] for key, used in told.items()} == {key: used[:3] for key, used in counted.items()}


@pytest.mark.long
@pytest.mark.node
async def test_a_fork_s_copies_count_twice_for_it_and_once_for_us(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    one: Kept = kept("2.0.14", "resume-and-rewind")
    shutil.copytree(one.folder / "projects", tmp_path / "home" / ".claude" / "projects")
    told = await of_turnwire(tmp_path, env, "session")
    counted = of_ccusage(tmp_path, env, "claude", "session", "sessionId")
    assert sorted(used.sent for used in told.values()) == [100, 300]
    assert sorted(used.sent for used in counted.values()) == [300, 400]


@pytest.mark.long
@pytest.mark.node
@pytest.mark.parametrize(
    ("agent", "place"),
    [("codex", ".codex/sessions"), ("gemini", ".gemini/tmp"), ("qwen", ".qwen/projects")],
)
async def test_sessions_of_other_agents_have_the_same_tokens(tmp_path: Path, agent: str, place: str) -> None:
    env = environment(tmp_path / "home")
    (folder,) = KEPT_BY_OTHERS.glob(f"{agent}-*")
    shutil.copytree(folder, tmp_path / "home" / place)
    (told,) = (await of_turnwire(tmp_path, env, "session")).values()
    (counted,) = of_ccusage(tmp_path, env, agent, "session", "sessionId").values()
    assert told[:4] == counted[:4]
    assert told.dollars == pytest.approx(counted.dollars)
