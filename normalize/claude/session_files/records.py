"""Classify a session file's record: a prompt or command, the model's output, or something else."""

import re
from typing import Literal, TypeAlias

from turnwire.normalize.claude.user_lines import INTERRUPTED, words_of
from turnwire.normalize.recordings.session_files import SearchableText
from turnwire.protocol.claude.session_lines import LineHead, MessageHead, SessionLine

BOOKKEEPING = frozenset(
    {
        "agent-color", "agent-name", "agent-setting", "ai-title", "api-request", "api-request-blob",
        "api-request-resumed", "api-request-shape", "artifact-autoreact-ledger", "artifact-comment-monitor",
        "atis-latch", "attachment", "attribution-snapshot", "bridge-session", "content-replacement",
        "context-collapse-commit", "context-collapse-snapshot", "continued-in", "cost-state", "custom-title",
        "data-flow-incomplete", "data-flow-records", "derived-from", "dev-mods", "ended-by-model",
        "file-history-delta", "file-history-snapshot", "fork-context-ref", "frame-link", "history-suppression",
        "host-row", "hybrid-organization", "isolation-latch", "last-prompt", "marble-origami-commit",
        "marble-origami-snapshot", "memory-mode", "mode", "observer-ref", "permission-mode", "pr-link",
        "progress", "queue-operation", "relocated", "repl-mode", "resume-head-vouch", "session-owner",
        "speculation-accept", "summary", "tag", "task-summary", "tools-used", "worktree-state",
    }
)  # fmt: skip
"""Types of lines for the CLI only, in all versions up to 2.1.330."""

QUIET = BOOKKEEPING - {"ai-title", "attachment", "cost-state", "custom-title", "progress", "summary"}
"""Those that tell a list of conversations nothing but where and in which session they were written."""

_COMMAND = re.compile(r"\s*<command-(?:name|message)>")
_COMMAND_PART = re.compile(r"<command-(name|args)>([^<]*(?:<(?!/command-)[^<]*)*)</command-\1>")
_PRINTED = re.compile(r"<(local-command|bash)-(stdout|stderr)>(.*?)</\1-\2>", re.DOTALL)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""Colours in commands' output of an interactive CLI. Stdout has no colours."""
_SHELL = re.compile(r"\s*<bash-input>(.*?)</bash-input>", re.DOTALL)
_UNKNOWN_COMMAND = re.compile(r"Unknown (?:slash command|skill): (\S{1,200})")
_SUMMARY = "This session is being continued from a previous conversation that ran out of context"
"""Beginning of a compaction's summary. 1.0 does not mark it otherwise."""
_CAVEAT = ("Caveat: The messages below were generated", "<local-command-caveat>")

_SEARCHED = {
    "command": "command",
    "file_path": "path",
    "notebook_path": "path",
    "path": "path",
    "pattern": "command",
    "prompt": "prompt",
    "url": "path",
    "query": "command",
}
"""Arguments of tools that can be searched for."""


RecordKind: TypeAlias = Literal["prompt", "command", "model", "other"]
"""A record's role in the tree of a conversation."""


def kind_of(line: LineHead, text: str) -> RecordKind:
    """Return the kind of a main-thread record that is not the model's. `text`: the text of a user's record."""
    if line.type == "system":
        command = line.subtype == "local_command" and typed_command(line.content or "")
        return "command" if command else "other"
    if line.type != "user" or is_tool_result(line.message) or is_meta(line, text) or is_summary(line, text):
        return "other"
    if typed_command(text) is not None:
        return "command"
    if is_output(text) or text.startswith(INTERRUPTED):
        return "other"
    is_asked = words_of(text) or any(block.type != "text" for block in line.message.blocks)
    return "prompt" if is_asked or not text else "other"


def typed_command(text: str) -> str | None:
    """Return the command that a human typed; None if the text is no command."""
    if text and text[0] not in "<U" and not text[0].isspace():
        return None
    if shell := _SHELL.match(text):
        return f"!{shell[1]}"
    if unknown := _UNKNOWN_COMMAND.fullmatch(text):
        return f"/{unknown[1]}"
    if not _COMMAND.match(text):
        return None
    parts = dict(_COMMAND_PART.findall(text))
    name = parts.get("name", "").strip()
    return f"{name} {parts.get('args', '').strip()}".strip() if name else None


def is_refusal(text: str) -> bool:
    """Tell whether this is the answer to a command that does not exist, which some versions keep in its place."""
    return _UNKNOWN_COMMAND.fullmatch(text) is not None


def is_output(text: str) -> bool:
    """Return whether the text is a command's output."""
    return "-std" in text and _PRINTED.search(text) is not None


def output_of(text: str) -> str:
    """Return a command's output without colours; "" if there is none."""
    return "\n".join(found for _, _, found in _PRINTED.findall(_COLOUR.sub("", text)) if found.strip())


def is_meta(line: SessionLine | LineHead, text: str) -> bool:
    """Return whether the CLI wrote the record for the model only."""
    return bool(line.is_meta) or text.startswith(_CAVEAT)


def is_summary(line: SessionLine | LineHead, text: str) -> bool:
    """Tell whether this is the summary of a compaction."""
    return bool(line.is_compact_summary) or text.startswith(_SUMMARY)


def is_task_end(line: SessionLine | LineHead, text: str) -> bool:
    """Tell whether a prompt that is not a human's says that a task in the background has ended."""
    named = line.origin is not None and line.origin.get("kind") == "task-notification"
    return named or text.lstrip().startswith("<task-notification>")


def is_tool_result(head: MessageHead) -> bool:
    """Tell whether it carries results of tools."""
    if not isinstance(head.content, str):
        for block in head.content:
            if block.type == "tool_result":
                return True
    return False


def searchable(line: LineHead, kind: RecordKind, text: str) -> list[SearchableText]:
    """Return the texts of a record that search finds. `text`: what a human typed in it."""
    uuid = line.uuid or ""
    if line.type in ("custom-title", "ai-title"):
        title = line.custom_title or line.ai_title
        return [SearchableText(uuid, "title", title)] if title else []
    if kind in ("prompt", "command"):
        return [SearchableText(uuid, "prompt", text)] if text else []
    if line.attachment is not None and line.attachment.command_mode == "prompt":
        prompt = line.attachment.prompt
        return [SearchableText(uuid, "prompt", prompt)] if isinstance(prompt, str) else []
    if line.type != "assistant":
        return []
    found = [SearchableText(uuid, "text", text)] if (text := line.message.text) else []
    for block in line.message.calls:
        if isinstance(block.input, dict):
            found += [
                SearchableText(uuid, what, value)
                for key, what in _SEARCHED.items()
                if (value := block.input.get(key)) and isinstance(value, str)
            ]
    return found
