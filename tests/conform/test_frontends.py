"""The kit plays to frontends: both clients hold all of it, and what a careless one does is named."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from recordings import ROOT
from turnwire_process import environment

pytestmark = [pytest.mark.long, pytest.mark.node]

CARELESS = """
import asyncio, hashlib, json, os
from turnwire.client import BEGINNING, connect
from turnwire.client.events import Notice
from turnwire.client.frames import EventFrame

async def main():
    delivered, count = hashlib.sha256(), 0
    while True:
        # each connection from the beginning, as if nothing had been seen before
        async with connect(os.environ["TURNWIRE_URL"]) as client:
            acknowledged = 0
            async for frame in client.follow("conform", BEGINNING):
                if isinstance(frame, EventFrame):
                    count += 1
                    delivered.update(b"%d\\n" % frame.seq)
                    if isinstance(frame.event, Notice) and frame.event.kind == "conform" and count >= {skip}:
                        text = json.dumps({{"events": count, "digest": delivered.hexdigest()}})
                        await client.prompt("conform", text)
                        acknowledged += 1
                        if acknowledged == 2:
                            break

asyncio.run(main())
"""


async def conform(folder: Path, *program: str | Path) -> tuple[int | None, list[dict[str, Any]]]:
    """What `turnwire conform frontend --json` says of a program, and its exit code."""
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "turnwire",
            "conform",
            "frontend",
            "--json",
            "--timeout",
            "30",
            "--",
            *program,
        ),
        cwd=folder,
        env={**environment(folder / "home"), "PYTHONPATH": f"{ROOT}:{ROOT / 'clients' / 'python'}"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(300):
        said, complained = await process.communicate()
    assert said, complained.decode()
    return process.returncode, json.loads(said)


@pytest.mark.parametrize("client", ["python", "typescript"])
async def test_both_clients_hold_the_whole_play(client: str, tmp_path: Path) -> None:
    python = (sys.executable, ROOT / "examples" / "conforming.py")
    typescript = ("node", ROOT / "clients" / "typescript" / "test" / "conforming.mjs")
    code, findings = await conform(tmp_path, *(python if client == "python" else typescript))
    assert [one["verdict"] for one in findings] == ["held"] * 7, findings
    assert code == 0


async def test_a_frontend_that_begins_again_at_each_connection_is_found_out(tmp_path: Path) -> None:
    program = tmp_path / "careless.py"
    program.write_text(CARELESS.format(skip=0))
    code, findings = await conform(tmp_path, sys.executable, program)
    assert code == 1
    broken = [one for one in findings if one["verdict"] == "broken"]
    assert [one["check"] for one in broken] == [
        "The frontend reconnects after the hub was gone, and continues at its cursor"
    ]
    assert "it delivered" in broken[0]["detail"]
    assert [one["verdict"] for one in findings[3:]] == ["not tried"] * 4


async def test_a_frontend_that_is_no_frontend_is_named(tmp_path: Path) -> None:
    code, findings = await conform(tmp_path, "sleep", "600")
    assert code == 1
    assert "0 frontends are connected" in findings[0]["detail"]
