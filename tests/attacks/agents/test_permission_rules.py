"""An agent that means to get past the rules of the configuration: spellings of commands, and links."""

import json
from pathlib import Path

import pytest

from live import running, scripted_setup
from shell_spellings import CERTAIN, DOUBTFUL
from turnwire.client.events import Complete, PermissionRequest, ToolUpdate

pytestmark = pytest.mark.long

RULES = """
[[rules]]
action = "deny"
tool = "Bash"
input = { command = "rm *" }

[[rules]]
action = "allow"
tool = "Write"
input = { file_path = "src/*" }

[[rules]]
action = "allow"
tool = "Bash"
input = { command = "git status*" }
"""


def script(folder: Path, calls: list[tuple[str, dict[str, str]]]) -> str:
    """An agent that asks for one call after another."""
    steps = [
        {"tool": tool, "input": arguments, "permission": True, "result": "done", "on_deny": [{"text": "."}]}
        for tool, arguments in calls
    ]
    return json.dumps({"fallback": {"steps": [*steps, {"text": "That is all."}]}})


async def decisions(folder: Path, calls: list[tuple[str, dict[str, str]]]) -> list[str]:
    """What becomes of each call, with a human who rejects: deny by the rule, allow by it, or asked."""
    (folder / "rules.toml").write_text(RULES)
    setup = scripted_setup(folder, "2.1.330", script(folder, calls))
    verdicts: dict[str, str] = {}
    asked: set[str] = set()
    async with running(folder, setup, "--rules", str(folder / "rules.toml")) as (frontend, _):
        await frontend.prompt("begin")
        while True:
            event = await frontend.next()
            match event:
                case PermissionRequest() as request:
                    asked.add(request.tool_call_id or "")
                    await frontend.respond(request, "reject_once", message="no")
                case ToolUpdate(tool_status="complete" | "error") as update:
                    ended = "allow" if update.tool_status == "complete" else "deny"
                    verdicts[update.tool_call_id] = "asked" if update.tool_call_id in asked else ended
                case Complete():
                    break
                case _:
                    pass
    assert len(verdicts) == len(calls)
    return list(verdicts.values())


async def test_no_spelling_of_a_denied_command_runs(tmp_path: Path) -> None:
    lines = [line for line in (*CERTAIN, *DOUBTFUL) if len(line) < 1000 and "\0" not in line]
    verdicts = await decisions(tmp_path, [("Bash", {"command": line}) for line in lines])
    assert "allow" not in verdicts
    assert [
        line for line, verdict in zip(lines, verdicts, strict=True) if verdict != "deny" and line in CERTAIN
    ] == []


async def test_what_is_allowed_takes_nothing_else_along(tmp_path: Path) -> None:
    glues = ("; ", "\n", " && ", " & ", " | ", " $(", " `", " > ", " <(")
    lines = ["git status", "git status --short", *(f"git status{glue}touch x" for glue in glues)]
    verdicts = await decisions(tmp_path, [("Bash", {"command": line}) for line in lines])
    assert verdicts == ["allow", "allow", *["asked"] * len(glues)]


async def test_a_link_in_an_allowed_folder_leads_nowhere_else(tmp_path: Path) -> None:
    source = tmp_path / "project" / "src"
    source.mkdir(parents=True)
    (source / "out").symlink_to("/etc")
    (source / "file").symlink_to("/etc/passwd")
    paths = ["src/new", "src/out/passwd", "src/file", "src/../../x", "src/out/../out/new"]
    calls = [("Write", {"file_path": str(source.parent / path), "content": "x"}) for path in paths]
    assert await decisions(tmp_path, calls) == ["allow", *["asked"] * 4]
