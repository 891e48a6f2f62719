"""To callers of the official SDKs `turnwire stdio` is the CLI itself: in each scenario they see and send the same."""

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from real_agents import AGENTS, node
from sdk_both_ways import comparable, prepared
from sdk_scenarios import JSON, SCENARIOS

from recordings import ROOT
from turnwire_process import environment

AT_ONCE = 6
"""Scenarios side by side; most of their time is the SDKs' patience with a CLI that is slow to end."""

SUPPORT = ROOT / "tests" / "support" / "agents"


def command(sdk: str) -> list[str]:
    """What plays jobs through an SDK."""
    if sdk == "python":
        return [sys.executable, "-W", "ignore", str(SUPPORT / "sdk_python.py")]
    return [str(node()), str(SUPPORT / "sdk_typescript.mjs"), str(AGENTS)]


@pytest.mark.long
@pytest.mark.parametrize("sdk", ["python", "typescript"])
async def test_a_caller_of_an_sdk_sees_the_same_in_all_scenarios(tmp_path: Path, sdk: str) -> None:
    chosen = [one for one in SCENARIOS if sdk in one.sdks]
    env = environment(tmp_path / "home")
    ways = [prepared(tmp_path / str(number), one) for number, one in enumerate(chosen)]
    # all say that their conversation is the same one, so each has a HOME of its own
    jobs = [
        {
            "scenario": asdict(one),
            "cli": str(way),
            "env": environment(tmp_path / "homes" / f"{number}-{name}"),
        }
        for number, (one, both) in enumerate(zip(chosen, ways, strict=True))
        for name, way in both.items()
    ]
    work = tmp_path / "jobs.json"
    work.write_text(json.dumps({"jobs": jobs, "at_once": AT_ONCE}))
    process = await asyncio.create_subprocess_exec(
        *command(sdk),
        str(work),
        cwd=tmp_path,
        env=env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, stderr = await process.communicate()
    assert process.returncode == 0, stderr.decode()[-4000:]
    told: list[JSON] = json.loads(printed)
    assert len(told) == 2 * len(chosen)
    differing = []
    for number, (one, both) in enumerate(zip(chosen, ways, strict=True)):
        direct, over = (
            comparable(way, one, seen)
            for way, seen in zip(both.values(), told[2 * number :][:2], strict=True)
        )
        assert direct["heard"] or direct["error"], one.name
        assert not direct["error"].startswith("TimeoutError"), one.name
        differing += [
            f"{one.name}: {key}: {json.dumps(direct[key])[:1000]} but over turnwire {json.dumps(over[key])[:1000]}"
            for key in direct
            if direct[key] != over[key]
        ]
    assert not differing, "\n".join(differing)
