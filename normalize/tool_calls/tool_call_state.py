"""The state of one tool call: all its updates merged, independent of each agent's spelling.

Names, parents, terminals, structured results and exit codes are in `_meta`, in `rawInput`, in `rawOutput` or in the
text, depending on the agent. Users of this class need not know where.
"""

import re
from base64 import b64decode
from typing import Any

from msgspec import Struct, field

from turnwire.normalize.payloads.fields import fields, parsed, text, whole
from turnwire.normalize.tool_calls.call_quirks import CallQuirks
from turnwire.protocol.acp.content import AnyShown, Diff, Location, ShownContent, TextContent
from turnwire.protocol.acp.updates import ToolCall, ToolCallUpdate
from turnwire.protocol.json_values import Json, JsonObject

MAX_OUTPUT = 64 * 1024 * 1024
"""Most characters of a terminal that are kept for a call."""

_CLAUDE_EXIT = re.compile(r"\A(?:Error: )?Exit code (-?\d{1,10})(?:\n|\Z)")
_COPILOT_EXIT = re.compile(
    r"\n?<(?:shellId: \S{1,80} )?(?:completed|exited)? ?with exit code (-?\d{1,10})>\s*\Z"
)
_DEEPAGENTS_EXIT = re.compile(r"\n?\[Command (?:failed|succeeded) with exit code (-?\d{1,10})\]\s*\Z")
"""How deepagents-acp, which gives no name, ends the output of a command."""
_SAID_EXIT = re.compile(
    r"(?i)(?:exit(?:ed)?|failed|completed|finished)(?: with)?(?: an?)?(?: exit)?[ _](?:code|status)[\s:=>]{0,5}(-?\d{1,10})\b"
)
_END = 300
"""Characters at either end of an output in which an exit code is looked for."""

_PLACE = re.compile(r"\[current working directory ([^\]]{1,1000})\]")
_NAME = re.compile(r"\A[a-z][a-z0-9_-]{2,}\Z")
_WORD = re.compile(r"\A[A-Za-z][A-Za-z0-9_-]*\Z")
_LONGEST_NAME = 64
_KINDS = {
    **dict.fromkeys(("bash", "shell", "runshellcommand", "execcommand", "runcommand", "terminal"), "execute"),
    **dict.fromkeys(("read", "readfile", "readmanyfiles", "view"), "read"),
    **dict.fromkeys(
        (
            "edit",
            "write",
            "writefile",
            "strreplacefile",
            "replace",
            "multiedit",
            "applypatch",
            "patch",
            "create",
        ),
        "edit",
    ),
    **dict.fromkeys(
        ("grep", "glob", "ls", "list", "grepsearch", "listdirectory", "searchfilecontent"), "search"
    ),
    **dict.fromkeys(("webfetch", "fetch", "fetchurl", "websearch", "searchweb"), "fetch"),
}
"""Well-known tool names -> kind, for agents that report no kind."""

_FENCE = re.compile(r"\A(`{3,})[^\n`]*\n(.*?)\n?\1\s*\Z", re.DOTALL)
_TEXTS = ("output", "aggregated_output", "formatted_output", "stdout", "content", "text", "result", "message")
"""Members of a result that may be its text. The first one present counts."""


class ToolCallState(Struct, gc=False):
    """Everything an agent reported about a call."""

    kind: str | None = None
    name: str | None = None
    title: str = ""
    raw_input: Json = None
    raw_output: Json = None
    has_arguments: bool = False
    """The call reports its arguments, or will."""
    content: list[AnyShown] = field(default_factory=list)
    diffs: list[Diff] = field(default_factory=list)
    """The last diffs that it showed. At its end it may show text only."""
    locations: list[Location] = field(default_factory=list)
    parent: str | None = None
    mcp_server: str | None = None
    is_mcp: bool = False
    response: Json = None
    """The structured result of Claude's tools."""
    terminal: list[str] = field(default_factory=list)
    """Pieces of a terminal's output."""
    terminal_size: int = 0
    exit_code: int | None = None
    signal: str | None = None
    work_dir: str | None = None
    command: str | None = None
    """The command of a terminal."""
    was_refused: bool = False
    """The agent itself reports the refusal."""
    streamed_arguments: bool = False
    """Content that the call shows while it begins is its arguments."""
    shows_question: bool = False
    """The call shows the content of its permission request."""

    def merge(self, update: ToolCallUpdate, quirks: CallQuirks, *, asks: bool = False) -> bool:
        """Merge an update, or a permission request (`asks`). Returns whether anything but the output may have changed."""
        changed = False
        if update.content is not None and (asks or update.content != self.content):
            self.shows_question = asks
        if update.kind is not None and update.kind != self.kind:
            self.kind, changed = update.kind, True
        if update.title and update.title != self.title:
            self.title, changed = update.title, True
        if update.raw_input is not None and update.raw_input not in ({}, self.raw_input):
            self.raw_input, changed = update.raw_input, True
        if update.content is not None and update.content != self.content:
            self.content, changed = update.content, True
            self.diffs = [block for block in update.content if isinstance(block, Diff)] or self.diffs
            self._learn_place()
            # what it shows once it runs is its output
            self.command = self.command or quirks.shown_command(self)
        if update.locations:
            changed = changed or update.locations != self.locations
            self.locations = update.locations
        self.has_arguments = self.has_arguments or update.raw_input is not None
        if update.raw_output is not None:
            self.raw_output = update.raw_output
        name = update.name or text(fields(update.raw_input), "_toolName")  # as Cursor tells it
        if name and name != self.name:
            self.name, changed = name, True
        if isinstance(update.meta, dict):
            changed = self._learn_meta(update.meta) or changed
        if isinstance(update, ToolCall) and self.name is None:
            self.name = _named(update)
        if self.name is None and (name := quirks.tool_name(update)) is not None:
            self.name, changed = name, True
        self._learn_streamed(update)
        return changed

    def _learn_meta(self, meta: JsonObject) -> bool:
        before = (self.name, self.parent, self.mcp_server, self.work_dir, self.response is None)
        claude = fields(meta.get("claudeCode"))
        self.name = (
            self.name
            or text(claude, "toolName")
            or text(meta, "toolName", "tool_name")
            or text(fields(meta.get("x.ai/tool")), "name")
        )
        self.parent = (
            self.parent
            or text(claude, "parentToolUseId")
            or text(meta, "parentToolCallId", "parentToolUseId", "parent_tool_call_id", "parent_tool_use_id")
        )
        self.mcp_server = self.mcp_server or text(fields(claude.get("mcpServer")), "name")
        self.is_mcp = self.is_mcp or meta.get("is_mcp_tool_call") is True
        if claude.get("toolResponse") is not None:
            self.response = claude["toolResponse"]
        self.was_refused = self.was_refused or text(claude, "nonExecutionKind") == "permission-rule"
        info = fields(meta.get("terminal_info"))
        self.work_dir = text(info, "cwd") or self.work_dir
        for name in ("terminal_output_delta", "terminal_output"):
            told = fields(meta.get(name))
            if isinstance(told.get("data"), str):
                self.show(told["data"])
        ended = fields(meta.get("terminal_exit"))
        if ended:
            self.exited(whole(ended, "exit_code", "exitCode"), text(ended, "signal"))
            self.was_refused = self.was_refused or ("exit_code" in ended and self.exit_code is None)
        return before != (self.name, self.parent, self.mcp_server, self.work_dir, self.response is None)

    def _learn_place(self) -> None:
        """Learn the folder of a command from Gemini's title, the only place where it is."""
        if self.work_dir is None and self.kind == "execute":
            found = _PLACE.search(self.shown_text()[:1200])
            self.work_dir = found[1] if found else None

    def _learn_streamed(self, update: ToolCallUpdate) -> None:
        """Learn arguments that are streamed as content (Kimi). They may be repeated when the call starts to run."""
        self.streamed_arguments = False
        if update.status in ("completed", "failed"):
            return
        shown = self.shown_text()
        if not shown.startswith("{"):
            return
        if self.raw_input not in (None, {}):
            self.streamed_arguments = update.raw_input is not None and _parsed(shown) == self.raw_input
            return
        self.streamed_arguments = True
        self.raw_input = _parsed(shown) or self.raw_input

    def show(self, piece: str) -> None:
        """A terminal showed more."""
        room = MAX_OUTPUT - self.terminal_size
        if room > 0 and piece:
            self.terminal.append(piece[:room])
            self.terminal_size += min(len(piece), room)

    def show_bytes(self, data: str) -> None:
        """A terminal showed more, base64 encoded."""
        try:
            self.show(b64decode(data).decode("utf-8", "replace"))
        except ValueError:
            self.show(data)

    def exited(self, code: int | None, signal: str | None) -> None:
        """A command in a terminal has ended."""
        self.exit_code = self.exit_code if code is None else code
        self.signal = self.signal or signal

    def as_update(self, call_id: str) -> ToolCallUpdate:
        """Return the call as it was before it ran, as one update."""
        return ToolCallUpdate(
            tool_call_id=call_id,
            title=self.title,
            kind=self.kind,
            content=[*self.content, *(block for block in self.diffs if block not in self.content)],
            locations=self.locations,
            raw_input=self.raw_input,
            name=self.name,
        )

    @property
    def does(self) -> str | None:
        """The call's kind or, if that says nothing, the kind of tools with its name."""
        if self.kind not in (None, "other", "think"):
            return self.kind
        return _KINDS.get(_plain(self.name or ""), self.kind)

    @property
    def arguments(self) -> JsonObject:
        """The tool's arguments if they are an object; otherwise empty."""
        return fields(self.raw_input)

    def shown_text(self) -> str:
        """Return the text that the call shows, the fences around it taken away."""
        found = [
            block.content.text
            for block in self.content
            if isinstance(block, ShownContent) and isinstance(block.content, TextContent)
        ]
        return unfenced("\n".join(found)) if found else ""

    def result_text(self) -> str:
        """Return the text of the result, in whatever place the agent has put it."""
        if self.terminal:
            if len(self.terminal) > 1:
                self.terminal = ["".join(self.terminal)]
            return self.terminal[0]
        told = self.raw_output
        if isinstance(told, str):
            return told
        if isinstance(told, list):
            return "\n".join(
                item["text"] for item in told if isinstance(item, dict) and isinstance(item.get("text"), str)
            )
        found = text(fields(told), *_TEXTS) or text(fields(fields(told).get("result")), *_TEXTS)
        if not found and self.shows_question and told is not None:
            return ""  # an output that is empty; codex-acp 0.16 goes on showing what it asked
        if found is None or (not found and self.content):
            return self.shown_text()
        return found

    def exit_of(self, output: str, quirks: CallQuirks, *, failed: bool) -> tuple[int | None, str]:
        """Return the exit code, as reported or from the text, and the output without the words for it.

        Output of a command that succeeded may mention any exit code, so it is not searched.
        """
        told = quirks.exit_of(output)
        if told is not None:
            self.exit_code, output = told
            return self.exit_code, output
        claude = _CLAUDE_EXIT.match(output)
        if claude is not None and (self.exit_code is None or int(claude[1]) == self.exit_code):
            self.exit_code = int(claude[1])
            output = output[claude.end() :]
        for last_line in (_COPILOT_EXIT, _DEEPAGENTS_EXIT):
            found = last_line.search(output, max(len(output) - _END, 0))
            if found is not None:
                self.exit_code = int(found[1]) if self.exit_code is None else self.exit_code
                output = output[: found.start()]
        if self.exit_code is None:
            self.exit_code = _exit_in(self.raw_output)
        if self.exit_code is None and failed:
            shown = self.shown_text()
            ends = (output[:_END], output[-_END:], shown[:_END], shown[-_END:])
            found = next((match for end in ends if (match := _last_line(end))), None)
            self.exit_code = int(found[1]) if found else None
        return self.exit_code, output


def _parsed(shown: str) -> Json:
    """Return the JSON value of a text that may be complete arguments; None while it is incomplete."""
    if not shown.rstrip().endswith("}") or len(shown) > MAX_OUTPUT:
        return None
    return parsed(shown)


def _named(update: ToolCall) -> str | None:
    """Return the tool's name if the first title contains it: as its only word (OpenCode), or before a colon (Kimi)."""
    title = update.title or ""
    word, colon, _ = title[:100].partition(": ")
    if _plain(word) in _KINDS and (colon or update.kind in (None, "other")) and _WORD.match(word):
        return word
    given = fields(update.raw_input).values()
    return (
        title if _NAME.match(title[:100]) and len(title) <= _LONGEST_NAME and title not in [*given] else None
    )


def _plain(name: str) -> str:
    return name[:100].replace("_", "").replace("-", "").lower()


def parent_of(meta: Any) -> str | None:
    """Return the call whose subagent writes, from an agent's `_meta`."""
    known = fields(meta)
    if not known:
        return None
    return text(fields(known.get("claudeCode")), "parentToolUseId") or text(
        known, "parentToolCallId", "parentToolUseId", "parent_tool_call_id", "parent_tool_use_id"
    )


def unfenced(text: str) -> str:
    """Return a text without a Markdown fence around all of it."""
    if not text.startswith("```"):
        return text
    found = _FENCE.match(text)
    return found[2] if found else text


def _last_line(end: str) -> re.Match[str] | None:
    """Find an exit code in the first or the last line of one end of an output."""
    lines = [line for line in end.splitlines() if line.strip()]
    for line in (*lines[-1:], *lines[:1]):
        found = _SAID_EXIT.search(line)
        if found is not None:
            return found
    return None


def _exit_in(told: Json) -> int | None:
    """Find an exit code among the members of a result, one level down at most."""
    result = fields(told)
    code = whole(result, "exit_code", "exitCode")
    for name in ("metadata", "exitStatus"):
        code = whole(fields(result.get(name)), "exit_code", "exitCode", "exit") if code is None else code
    if code is not None:
        return code
    contents = result.get("contents")
    for item in contents[-20:] if isinstance(contents, list) else []:
        code = whole(fields(item), "exitCode", "exit_code")
        if code is not None:
            return code
    return None
