"""Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl`, as of 0.169.0.

A line is {timestamp, type, payload}. `response_item`s hold what the model received and answered. Some facts are only in
`event_msg`s: the outcome of a command or file change, tokens, and where turns begin and end. Older versions have no
`item_completed`; there the result of a call is the text for the model. In code mode one call `exec` runs a program, and each
command of the program has an item of its own.

The file of a fork or a subagent begins with a copy of its origin's records, stamped with the time of the copy. A newer fork
only names its origin.
"""

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256

import msgspec

from turnwire.normalize.acp.session_files.files import ConversationFiles, record_of
from turnwire.normalize.acp.session_files.steps import (
    Answered,
    Change,
    Compacted,
    ContinuesFrom,
    ConversationNamed,
    Failed,
    Prompted,
    Record,
    Thought,
    Titled,
    TokensUsed,
    ToolCalled,
    ToolReturned,
    TurnEnded,
)
from turnwire.normalize.common.command_line import command_line
from turnwire.normalize.payloads.fields import fields, objects, text, whole
from turnwire.protocol.json_values import Json, JsonObject

_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "world_state", "compacted"})
_HARNESS = re.compile(
    r"\s*<(?:environment_context|user_instructions|permissions|skills_instructions|turn_aborted|recommended_plugins|subagent_notification|user_shell_command|INSTRUCTIONS)\b"
    r"|\s*# AGENTS\.md instructions"
)
"""Prefixes of texts that Codex itself sends to the model in the user's name."""
_REQUEST = re.compile(r"\A\s*# .*?\n## My request for Codex:\s*(?=\S)", re.DOTALL)
"""Matches what an editor writes above a prompt: its open files and what is selected."""
_PROGRAM_COMMAND = re.compile(
    r"""tools\.(?:exec_command|shell_command|shell|local_shell)\(\s*\{[^{}]*?["']?\b(?:cmd|command)["']?\s*:\s*"""
    r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)"""
)
"""Matches a command that a program of code mode runs, as a literal."""
_PROGRAM_CALL = re.compile(r"\btools\.\w+\(")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_PROGRAM_EXIT = re.compile(r'"exit_code\\?":\s*(-?\d{1,10})\b|(?m:^Process exited with code (-?\d{1,10})$)')
_EXIT = re.compile(r"(?m)^(?:Process exited with code|Exit code:) (-?\d{1,10})$")
_OUTPUT = re.compile(r"\n(?:Total output lines: \d+\n)?Output:\n")
_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$")
_HEAD = re.compile(r"\A---[^\n]*\n\+\+\+[^\n]*\n")
"""Matches the file names above the hunks of a diff."""
_SHELLS = frozenset({"exec_command", "shell", "shell_command", "local_shell", "container.exec"})
_KINDS = {"apply_patch": "edit", "web_search": "fetch", "view_image": "read", "update_plan": "think"}


class CodexRecords:
    """Reads the records of one file."""

    def __init__(self) -> None:
        self._session = ""
        self._model = "unknown"
        self._count = 0
        self._origin = ""
        """The conversation that the records were written for first: a copy names it after its own head."""
        self._forked: str | None = None
        """The origin of a fork, until a record shows whether the file has a copy of it."""
        self._turn: str | None = None
        self._prompt = ""
        """The last prompt's digest."""
        self._asked = False
        """The open turn has its prompt."""
        self._said: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        """Messages of the open turn that only records, or only items, have told so far."""
        self._program: tuple[str, str] | None = None
        """The open call of code mode that runs one known command, and the command."""
        self._ran: set[str] = set()
        """Ids of calls that were told by their items alone."""
        self._patches: dict[str, Sequence[Change]] = {}
        self._told: dict[str, ToolReturned] = {}
        """Call id -> outcome from its `item_completed`."""
        self._called: set[str] = set()
        """Ids of calls with items of their own. A code-mode program runs calls without items."""
        self._total: tuple[int, ...] = ()

    def read(self, record: JsonObject) -> Sequence[Record]:
        """Return the meaning of a record."""
        payload = fields(record.get("payload"))
        kind = record.get("type")
        found = self._record(kind, payload)
        if self._forked is None or kind == "session_meta":
            return found
        begun = Record(None, [ContinuesFrom(self._forked)])
        self._forked = None
        return [begun, *found]

    def _record(self, kind: Json, payload: JsonObject) -> Sequence[Record]:
        match kind:
            case "session_meta":
                git = fields(payload.get("git"))
                named = text(payload, "id", "session_id") or ""
                self._session = self._session or named
                self._origin = named or self._origin
                # the head of another conversation: its records follow
                self._forked = text(payload, "forked_from_id") if named == self._session else None
                about = ConversationNamed(
                    text(payload, "id", "session_id"), text(payload, "cwd"), text(payload, "cli_version"), None,
                    text(git, "branch"),
                )  # fmt: skip
                return [Record(None, [about])]
            case "turn_context":
                self._model = text(payload, "model") or self._model
                self._turn = text(payload, "turn_id") or self._turn
                return [
                    Record(
                        None, [ConversationNamed(folder=text(payload, "cwd"), model=text(payload, "model"))]
                    )
                ]
            case "response_item":
                return self._item(payload)
            case "event_msg":
                return self._event(payload)
            case "compacted":
                return [Record(self._named(None), [Compacted()])]
            case _:
                return ()

    def _named(self, name: str | None) -> str:
        self._count += 1
        return name or f"record-{self._count}"

    def _item(self, item: JsonObject) -> Sequence[Record]:
        name = self._named(text(item, "id"))
        call = text(item, "call_id", "id") or name
        match item.get("type"):
            case "message":
                return self._message(name, item)
            case "reasoning":
                said = [text(part, "text") or "" for part in objects(item, "summary")]
                return [Record(name, [Thought("\n\n".join(said))])] if any(said) else ()
            case "function_call" | "custom_tool_call" if call not in self._ran:
                tool = text(item, "name") or "tool"
                return [Record(name, [self._call(call, tool, item.get("arguments", item.get("input")))])]
            case "local_shell_call":
                return [Record(name, [self._call(call, "local_shell", fields(item.get("action")))])]
            case "web_search_call":
                return [Record(name, [_on_the_web(call, fields(item.get("action"))), ToolReturned(call, "")])]
            case "function_call_output" | "custom_tool_call_output" if call not in self._ran:
                return [Record(name, [self._result(call, item.get("output"))])]
            case _:
                return ()

    def _message(self, name: str, item: JsonObject) -> Sequence[Record]:
        parts = [text(part, "text") for part in objects(item, "content")]
        said = [part for part in parts if part]
        if item.get("role") == "assistant":
            answer = "".join(said)
            return [Record(name, [Answered(answer)])] if self._is_new(answer) else ()
        if item.get("role") != "user" or not self._is_new("\n".join(said)):
            return ()
        return self._prompted(name, said)

    def _prompted(self, name: str, said: Sequence[str]) -> Sequence[Record]:
        asked = _REQUEST.sub("", "\n".join(part for part in said if not _HARNESS.match(part)))
        if not asked.strip():
            return ()
        self._asked, self._prompt = True, sha256(asked.encode("utf-8", "replace")).hexdigest()[:12]
        return [Record(name, [Prompted(asked)])]

    def _is_new(self, said: str, *, is_item: bool = False) -> bool:
        """Tell whether a message was not told before: newer versions have a record and an item of each, in any order."""
        own, other = self._said[is_item], self._said[not is_item]
        if other[said]:
            other[said] -= 1
            return False
        own[said] += 1
        return True

    def _message_item(self, name: str, item: JsonObject) -> Sequence[Record]:
        said = [part for part in (text(each, "text") for each in objects(item, "content")) if part]
        if item.get("type") == "AgentMessage":
            answer = "".join(said)
            return [Record(name, [Answered(answer)])] if self._is_new(answer, is_item=True) else ()
        # the record of a prompt comes first, and may have other words beside an image
        if self._asked or not self._is_new("\n".join(said), is_item=True):
            return ()
        return self._prompted(name, said)

    def _call(self, call: str, tool: str, given: Json) -> ToolCalled:
        self._called.add(call)
        arguments: JsonObject = fields(given)
        if isinstance(given, str):
            arguments = {"input": given}
            if given.startswith("{"):
                arguments = record_of(given.encode("utf-8", "replace")) or arguments
        if tool == "exec" and (commands := _commands_of(program := text(arguments, "input", "code") or "")):
            if len(commands) > 1 or len(_PROGRAM_CALL.findall(program)) > 1:
                return ToolCalled(call, tool, "other", "; ".join(commands), arguments)
            self._program = (call, commands[0])
            return ToolCalled(call, tool, "execute", commands[0], arguments | {"command": commands[0]})
        command = command_line(arguments.get("cmd", arguments.get("command")))
        patch = text(arguments, "input") if tool == "apply_patch" else None
        if patch is None and command is not None and "*** Begin Patch" in command:
            patch = command[command.index("*** Begin Patch") :]
        if patch is not None:
            changes = self._patches[call] = changes_of(patch)
            path = changes[0].path if changes else ""
            return ToolCalled(call, "apply_patch", "edit", f"Edit {path}".strip(), {"file_path": path})
        if tool in _SHELLS and command is not None:
            place = text(arguments, "workdir", "working_directory")
            given_to_shell: JsonObject = {"command": command} | ({"cwd": place} if place else {})
            return ToolCalled(call, tool, "execute", command, given_to_shell)
        return ToolCalled(call, tool, _KINDS.get(tool, "other"), tool, arguments)

    def _result(self, call: str, given: Json) -> ToolReturned:
        told, changes = self._told.pop(call, None), self._patches.pop(call, ())
        is_program = self._program is not None and self._program[0] == call
        self._program = None if is_program else self._program
        if told is not None:
            return told._replace(changes=told.changes or changes)
        output = given if isinstance(given, str) else "\n".join(
            text(part, "text") or "" for part in given if isinstance(part, dict)
        ) if isinstance(given, list) else text(fields(given), "content", "output") or ""  # fmt: skip
        code: int | None = None
        if output.startswith("{") and (whole_output := record_of(output.encode("utf-8", "replace"))):
            code = whole(fields(whole_output.get("metadata")), "exit_code")
            output = text(whole_output, "output") or output
        if is_program and (ended := _PROGRAM_EXIT.search(output)) is not None:
            code = int(ended[1] or ended[2])
        head, found, rest = output[:2000], _OUTPUT.search(output[:2000]), output
        if code is None and (exited := _EXIT.search(head)) is not None:
            code = int(exited[1])
        if found is not None and head.startswith(("Chunk ID:", "Exit code:", "Wall time:")):
            rest = output[found.end() :]
        failed = bool(code)
        return ToolReturned(call, rest, failed, code, () if failed else changes)

    def _event(self, event: JsonObject) -> Sequence[Record]:
        match event.get("type"):
            case "item_completed":
                return self._learn(fields(event.get("item")))
            case "task_started":
                self._turn, self._asked = text(event, "turn_id"), False
                self._said = (Counter(), Counter())
            case "exec_command_end" | "patch_apply_end":
                return self._ended(event)
            case "token_count":
                return self._tokens(fields(event.get("info")))
            case "task_complete":
                return [Record(None, [TurnEnded()])]
            case "turn_aborted":
                return [Record(None, [TurnEnded("cancelled")])]
            case "thread_rolled_back":
                return [Record(back_by=whole(event, "num_turns") or 0)]
            case "thread_name_updated":
                title = text(event, "thread_name")
                return [Record(None, [Titled(title)])] if title else ()
            case "error" | "stream_error":
                words = text(event, "message")
                return [Record(None, [Failed(words)])] if words else ()
            case _:
                pass
        return ()

    def _ended(self, event: JsonObject) -> Sequence[Record]:
        """Handle the end of a command or a file change, of a call with an item or within code mode."""
        call = text(event, "call_id")
        if call is None:
            return ()
        if event.get("type") == "exec_command_end":
            code, command = whole(event, "exit_code"), command_line(event.get("command")) or ""
            output = text(event, "aggregated_output") or "".join(
                text(event, name) or "" for name in ("stdout", "stderr")
            )
            returned = ToolReturned(call, output, bool(code), code)
            place = text(event, "cwd")
            given: JsonObject = {"command": command} | ({"cwd": place} if place else {})
            called = ToolCalled(call, "exec_command", "execute", command, given)
        else:
            failed = event.get("success") is False
            changes = _changes(event)
            output = text(event, "stderr" if failed else "stdout") or ""
            returned = ToolReturned(call, output, failed, None, () if failed else changes)
            path = changes[0].path if changes else ""
            called = ToolCalled(call, "apply_patch", "edit", f"Edit {path}".strip(), {"file_path": path})
        return self._ran_as(called, returned)

    def _ran_as(self, called: ToolCalled, returned: ToolReturned) -> Sequence[Record]:
        """Store a call's outcome until its result arrives, which repeats it in words for the model.

        A call without a record of its own was made by a program of code mode. If the program's call shows that command, the
        outcome is that call's.
        """
        call = called.call
        if call in self._called:
            self._told[call] = returned
            return ()
        if self._program is not None and self._program[1] == called.title:
            program, self._program = self._program[0], None
            self._told[program] = returned._replace(call=program)
            return ()
        self._called.add(call)
        self._ran.add(call)
        return [Record(self._named(None), [called, returned])]

    def _learn(self, item: JsonObject) -> Sequence[Record]:
        """Handle an item: what a call really did, or a message that may have no record of its own."""
        call = text(item, "id")
        if call is None:
            return ()
        failed = item.get("status") in ("failed", "declined")
        match item.get("type"):
            case "CommandExecution":
                code, command = whole(item, "exit_code"), command_line(item.get("command")) or ""
                output = text(item, "aggregated_output") or ""
                returned = ToolReturned(call, output, failed or bool(code), code)
                place = text(item, "cwd")
                given: JsonObject = {"command": command} | ({"cwd": place} if place else {})
                return self._ran_as(ToolCalled(call, "exec_command", "execute", command, given), returned)
            case "FileChange":
                changes = _changes(item)
                output = text(item, "stderr" if failed else "stdout") or ""
                returned = ToolReturned(call, output, failed, None, () if failed else changes)
                path = changes[0].path if changes else ""
                called = ToolCalled(call, "apply_patch", "edit", f"Edit {path}".strip(), {"file_path": path})
                return self._ran_as(called, returned)
            case "AgentMessage" | "UserMessage":
                return self._message_item(call, item)
            case _:
                return ()

    def _tokens(self, info: JsonObject) -> Sequence[Record]:
        """Handle the tokens of the model's last call. Codex repeats them if there was no further call."""
        last, total = fields(info.get("last_token_usage")), fields(info.get("total_token_usage"))
        names = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")
        now = tuple(whole(total, name) or 0 for name in names)
        if not last or now == self._total:
            return ()
        self._total = now
        sent, written, read, created = (whole(last, name) or 0 for name in names)
        self._count += 1
        place = self._turn or f"{self._origin}:{self._prompt}"
        key = f"{place}:{':'.join(map(str, now))}"
        context, window = whole(last, "total_tokens"), whole(info, "model_context_window")
        took = TokensUsed(
            key, self._model, max(sent - read - created, 0), written, read, created, context, window
        )
        return [Record(None, [took])]


def _on_the_web(call: str, action: JsonObject) -> ToolCalled:
    """Return a search, or a page that the model opened or searched."""
    address, pattern = text(action, "url"), text(action, "pattern")
    if address is not None:
        title = f"Open {address}" if pattern is None else f"Find {pattern} in {address}"
        given: JsonObject = {"url": address} | ({} if pattern is None else {"pattern": pattern})
        return ToolCalled(call, "web_search", "fetch", title, given)
    asked = action.get("queries")
    queries = [one for one in asked if isinstance(one, str)] if isinstance(asked, list) else []
    query = text(action, "query") or "; ".join(queries)
    return ToolCalled(call, "web_search", "fetch", f"Search the web: {query}", {"query": query})


def _commands_of(program: str) -> list[str]:
    """Return the commands that stand in a program of code mode as literals."""
    return [_ESCAPE.sub(_unescaped, found[1][1:-1]) for found in _PROGRAM_COMMAND.finditer(program)]


def _unescaped(found: re.Match[str]) -> str:
    escape = found[1]
    if len(escape) > 1:
        return chr(int(escape[1:], 16))
    return _ESCAPED.get(escape, escape)


def _changes(told: JsonObject) -> list[Change]:
    listed = fields(told.get("changes")).items()
    return [change for path, one in listed if (change := _change(path, fields(one))) is not None]


def _change(path: str, told: JsonObject) -> Change | None:
    match told.get("type"):
        case "add":
            return Change(path, None, text(told, "content") or "")
        case "delete":
            return Change(path, text(told, "content") or "", None)
        case "update":
            hunks = text(told, "unified_diff") or ""
            kept: list[str] = []
            for line in _lines(_HEAD.sub("", hunks, count=1)):
                if line.startswith("\\") and kept:
                    kept[-1] = kept[-1].removesuffix("\n")  # the file does not end in a newline
                elif not line.startswith(("@@", "\\")):
                    kept.append(line)
            return _changed(path, kept)._replace(hunks=hunks)
        case _:
            return None


def _changed(path: str, lines: Sequence[str]) -> Change:
    before = "".join(line[1:] for line in lines if line[:1] in (" ", "-"))
    after = "".join(line[1:] for line in lines if line[:1] in (" ", "+"))
    return Change(path, before, after)


def changes_of(patch: str) -> list[Change]:
    """Return the changes in a patch of Codex's own form (`*** Begin Patch`)."""
    found: list[Change] = []
    kind, path, lines = "", "", list[str]()

    def close() -> None:
        match kind:
            case "Add":
                found.append(Change(path, None, "".join(line[1:] for line in lines if line[:1] == "+")))
            case "Delete":
                found.append(Change(path, "", None))
            case "Update":
                found.extend(_changed(path, passage) for passage in _passages(lines))
            case _:
                pass

    for line in _lines(patch):
        begun = _FILE.match(line.rstrip("\n"))
        if begun is not None:
            close()
            kind, path, lines = begun[1], begun[2].strip(), []
        elif not line.startswith("***"):
            lines.append(line)
    close()
    return found


def _lines(text: str) -> list[str]:
    r"""Split at "\n" only, as git does. Each line keeps its end."""
    return [f"{line}\n" for line in text.removesuffix("\n").split("\n")] if text else []


def _passages(lines: Sequence[str]) -> list[list[str]]:
    """Split an update where the patch continues elsewhere in the file."""
    found: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("@@"):
            found.append([])
        else:
            found[-1].append(line)
    return [passage for passage in found if passage]


class _Head(msgspec.Struct):
    type: str = ""
    payload: msgspec.Raw = msgspec.Raw()


_decode = msgspec.json.Decoder(_Head).decode


class CodexFiles(ConversationFiles):
    """Conversation files of Codex."""

    agent = "codex"
    program = "codex"
    records = CodexRecords

    def recognises(self, line: bytes) -> bool:
        """Return whether a line belongs to such a file."""
        try:
            head = _decode(line)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            return False
        return head.type in _TYPES and bytes(head.payload).startswith(b"{")

    def session_of(self, line: bytes) -> str | None:
        """Return the conversation's id."""
        if b'"session_meta"' not in line:
            return None
        return text(fields((record_of(line) or {}).get("payload")), "id", "session_id")
