"""What others have written is shown on a terminal: it names no window, clears nothing, writes no clipboard and hides nothing."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from kept_sessions import kept
from pseudo_terminal import DRAWN, on_a_terminal

from turnwire.protocol.visible import ordered, visible
from turnwire_process import DEADLINE, TURNWIRE, environment

ORDERS = (
    "\u202etxt.exe\u202c",
    "\x1b]0;owned\x07",
    "\x1b]52;c;cm0gLXJm\x1b\\",
    "\x1bPq#0;2\x1b\\",
    "\x1b[2J\x1b[H",
    "\x9d0;owned\x9c",
    "\x9b2J",
    "rm -rf /\recho ok",
    "\u2066isolated\u2069",
    *"\u200e\u200f\u061c\xad\u180e\u2800\u3164\x7f\u2028",
    "x\ufe0f",
    "\U000e0041\U000e0042",
    "rm -rf אב / גד # א\u2068",
)
HOSTILE = "".join(ORDERS)
NAME = "a\x1b[2J\u202eb\x9b31m"
"""Of a file or a folder."""


def rows(text: str) -> str:
    """A recording of a CLI in which every text is hostile."""
    call = {"type": "tool_use", "id": "t", "name": f"Bash{text}", "input": {"command": f"echo {text}"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": f"output {text}"}
    said = {"type": "text", "text": f"answer {text}"}
    usage = {"input_tokens": 1, "output_tokens": 1}
    lines = [
        {
            "type": "system",
            "subtype": "init",
            "session_id": "s",
            "cwd": f"/{text}",
            "tools": [],
            "model": text,
        },
        {"type": "user", "message": {"role": "user", "content": f"ask {text}"}},
        {
            "type": "assistant",
            "message": {"id": "m", "model": text, "content": [said, call], "usage": usage},
        },
        {"type": "user", "message": {"role": "user", "content": [result]}},
        {
            "type": "result",
            "subtype": "error",
            "is_error": True,
            "result": f"failed {text}",
            "session_id": "s",
        },
    ]
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


def hostile(value: Any) -> Any:
    """A kept conversation's line with hostile texts."""
    if isinstance(value, list):
        return [hostile(item) for item in value]
    if not isinstance(value, dict):
        return value
    texts = ("text", "content", "thinking", "command", "model", "cwd", "gitBranch", "description", "stdout")
    return {
        key: f"{item}{HOSTILE}" if key in texts and isinstance(item, str) else hostile(item)
        for key, item in value.items()
    }


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a hostile conversation among those that Claude Code keeps, and hostile files."""
    found = tmp_path_factory.mktemp("hostile") / "home"
    project = found / ".claude" / "projects" / "project"
    project.mkdir(parents=True)
    lines = [hostile(json.loads(line)) for line in kept("2.1.330", "denied").file.read_text().splitlines()]
    lines.append({"type": "custom-title", "customTitle": f"titled {HOSTILE}", "sessionId": "hostile"})
    (project / "hostile.jsonl").write_text(
        "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    )
    folder = found / NAME
    folder.mkdir()
    trusted = folder / f"{NAME}\ntrusted"
    trusted.mkdir()
    (trusted / "turnwire.toml").write_text('journal_url = "\\u001b]0;owned\\u0007\\u202e\\u007f"\n')
    (folder / f"{NAME}.jsonl").write_text(rows(HOSTILE))
    (folder / f"{NAME}.rules.toml").write_text('[[rules]]\naction = "allow"\ntool = "mcp__docs*"\n')
    (folder / f"{NAME}.toml").write_text("not = toml =\n")
    return found


RECORDING = f"{NAME}.jsonl"
PROGRESS = re.compile(r"\A(?:\rreading conversations: \d+ of \d+\x1b\[K)*\r\x1b\[K")
"""turnwire's own count of files, on stderr and before all that others have written."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "sessions": ("sessions",),
    "sessions --json": ("sessions", "--json"),
    "search": ("search", "owned"),
    "search --json": ("search", "owned", "--json"),
    "usage": ("usage", "--by", "model,project"),
    "usage --json": ("usage", "--by", "model,project", "--json"),
    "export": ("export", "hostile"),
    "export --redact": ("export", "hostile", "--redact"),
    "export html": ("export", "hostile", "--format", "html"),
    "export of a file": ("export", f"{NAME}/none.jsonl"),
    "redact to the terminal": ("redact", RECORDING, "-"),
    "redact to a file": ("redact", RECORDING, f"{NAME}.copy"),
    "redact of nothing": ("redact", f"{NAME}.none", "-"),
    "translate": ("translate", RECORDING, "--stats"),
    "translate of nothing": ("translate", f"{NAME}.none"),
    "inspect": ("inspect", RECORDING),
    "inspect --json": ("inspect", RECORDING, "--json"),
    "replay": ("replay", RECORDING, "--speed", "0"),
    "doctor": ("doctor", RECORDING, "--port", "0"),
    "doctor --json": ("doctor", RECORDING, "--port", "0", "--json"),
    "agents": ("agents", "--config", f"{NAME}.toml"),
    "trust": ("trust", f"{NAME}\ntrusted"),
    "trust --revoke": ("trust", f"{NAME}\ntrusted", "--revoke"),
    "token of a bad state": ("token", "list", "--state-dir", f"{NAME}.jsonl"),
    "journal": ("journal", "set-aside", "--state-dir", f"{NAME}.none"),
    "translate of two": ("translate", RECORDING, RECORDING),
    "inspect of two": ("inspect", RECORDING, RECORDING),
    "doctor with an option": ("doctor", f"--{NAME}"),
    "no command": (NAME,),
    "rules that are warned of": ("rules", "explain", "--rules", f"{NAME}.rules.toml", "--", f"rm {NAME}"),
    "stdio": ("stdio", "--config", f"{NAME}.toml"),
    "run": ("run", "--config", f"{NAME}.toml"),
}

ORDERED = ("redact to the terminal", "inspect")
"""Commands that show names and code; prose keeps its direction, and JSON its value."""


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_what_others_have_written_is_no_order_to_the_terminal_and_hides_nothing(
    home: Path, name: str
) -> None:
    env = environment(home)
    code, written = on_a_terminal(home / NAME, env, *COMMANDS[name])
    plain = DRAWN.sub("", PROGRESS.sub("", written))
    assert code in (0, 1, 2), written
    assert "Traceback" not in plain
    assert visible(plain) == plain
    if name in ORDERED:
        assert "\u2068אב\u2069 / \u2068גד\u2069" in plain
        assert ordered(plain) == plain
    if name not in ("replay", "usage --json", "agents", "doctor --json"):
        assert "U+202E" in plain or "\\u202e" in plain, plain


@pytest.mark.long
def test_a_file_and_a_pipe_get_a_redacted_recording_byte_for_byte(home: Path) -> None:
    command = [*TURNWIRE, "redact", RECORDING, "-"]
    env = environment(home)
    done = subprocess.run(
        command, cwd=home / NAME, env=env, capture_output=True, timeout=DEADLINE, check=True
    )
    assert done.stdout.decode() == rows(HOSTILE)
