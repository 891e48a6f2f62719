"""Results of commands, and of reading and stopping background commands.

Only 2.1 separates stdout and stderr, and only for commands that succeed. The result of a failed command is text: "Exit code N",
then both
streams joined. 1.0 and 2.0 leave the code out, so it stays unknown.
"""

import re

from msgspec.structs import replace

from turnwire.normalize.claude.results.answer import ToolAnswer, exit_code, is_its_own
from turnwire.normalize.model import JsonObject
from turnwire.normalize.payloads.fields import fields, flag, parsed, text, whole
from turnwire.normalize.payloads.work import ShellExec, ShellOutput

_INTERRUPTED = re.compile(r"\A\[Request interrupted by user(?: for tool use)?\](?:\n|\Z)")
_ABORTED = re.compile(r"\n?<error>Command was aborted before completion</error>\s*\Z")
_TIMED_OUT = re.compile(r"\ACommand timed out after [^\n]*(?:\n|\Z)")
_BACKGROUND = re.compile(r"\ACommand .*\bbackground\b.*\bID: ([\w-]+)")
_AS_ASKED = "Command running in background with ID"
"""The CLI's text for a command that was started in the background."""
_PERSISTED = re.compile(
    r"\A<persisted-output>\n[^\n]*Full output saved to: ([^\n]*)\n(?:\nPreview [^\n]*\n)?(.*?)(?:\n\.\.\.)?\n?</persisted-output>\Z",
    re.DOTALL,
)
_CUT = re.compile(r"\.\.\. \[\d+ (?:lines|characters) truncated\] \.\.\.")
_NO_OUTPUT = "(Bash completed with no output)"
_NO_MESSAGE = "Error"
"""The whole text of 1.0 and 2.0 for a command that failed silently. A command that printed just this looks the same."""
_FORGIVEN = {"grep", "egrep", "fgrep", "rg", "find", "diff", "test", "["}
"""Commands whose exit code 1 is no error for the CLI. The last command of a line decides."""
_NOTE_LENGTH = 2000
"""Longer last lines are a command's own output, not the CLI's note that it went to the background."""


def shell(body: ShellExec, answer: ToolAnswer) -> ShellExec:
    """Return a command with its output."""
    if not answer.ran:
        return body
    match body.operation:
        case "read":
            return _read(body, answer)
        case "stop":
            return _stopped(body, answer)
        case _:
            if _says_nothing(answer):
                output = ShellOutput(interrupted=True) if answer.reason == "interrupted" else None
                return replace(body, output=output)
            if (report := _report(body.command, answer)) is not None:
                return replace(body, output=report)
            output = _structured(body, answer) if "stdout" in answer.fields else _plain(body, answer)
            task_id = output.task_id or text(answer.fields, "taskId")
            if task_id is None:
                return replace(body, output=output)
            started = {"task_id": task_id, "status": "running", "exit_code": None}
            return replace(body, background=True, output=replace(output, **started))


def _says_nothing(answer: ToolAnswer) -> bool:
    """Return whether a failure's text is the CLI's own. In versions with structured results, a command's failure has a code."""
    return isinstance(answer.structured, str) and exit_code(answer.text)[0] is None


def _report(command: str, answer: ToolAnswer) -> ShellOutput | None:
    """Read the report that Qwen Code 0.24 writes for a command that failed, or that printed nothing; None for other texts."""
    before = f"Command: {command}\nDirectory: "
    if not answer.text.startswith(before):
        return None
    _, _, said = answer.text[len(before) :].partition("\nOutput: ")
    said, _, ending = said.rpartition("\nExit Code: ")
    output, errors, _ = said.rpartition("\nError: ")
    if not errors:
        return None
    code = ending.partition("\n")[0]
    return ShellOutput(
        exit_code=whole({"code": code}, "code"),
        stdout="" if output == "(empty)" else output,
        interrupted=answer.reason == "interrupted" or None,
        truncated=_cut(output),
        parts=answer.images,
    )


def _structured(body: ShellExec, answer: ToolAnswer) -> ShellOutput:
    result = answer.fields
    interrupted = result.get("interrupted") is True or answer.reason == "interrupted"
    stdout = None if result.get("isImage") is True else text(result, "stdout")
    stderr = result.get("stderr")
    persisted = text(result, "persistedOutputPath")
    task_id = text(result, "backgroundTaskId")
    timed_out = "timedOutAfterMs" in result
    if task_id is not None and not timed_out:
        chosen = flag(result, "backgroundedByUser", "assistantAutoBackgrounded") or body.background
        timed_out = not chosen
    return ShellOutput(
        exit_code=None if interrupted or timed_out else _code(result, answer),
        stdout=stdout,
        stderr=stderr if stderr and isinstance(stderr, str) else None,
        interrupted=interrupted or None,
        timed_out=timed_out or None,
        task_id=task_id,
        persisted_path=persisted,
        truncated=persisted is not None or _cut(stdout),
        parts=answer.images,
    )


def _code(result: JsonObject, answer: ToolAnswer) -> int | None:
    if answer.reason is not None:
        return None
    # It is there for a forgiven exit code alone, and says what the code means.
    return 1 if text(result, "returnCodeInterpretation") else 0


def _plain(body: ShellExec, answer: ToolAnswer) -> ShellOutput:
    rest = answer.text
    code = 0 if answer.reason is None and not _is_forgiven(body.command) else None
    silence = _NO_OUTPUT
    interrupted = timed_out = aborted = 0
    task_id = persisted = None
    if answer.reason is not None:
        code, rest = exit_code(rest)
        silence = _NO_MESSAGE if code is None else ""
        if not is_its_own(code):
            rest, interrupted = _INTERRUPTED.subn("", rest)
            rest, timed_out = _TIMED_OUT.subn("", rest)
    else:
        task_id, rest = _launched(rest, asked=bool(body.background))
        timed_out = task_id is not None and not body.background
    if "</error>" in rest and not is_its_own(code or None):
        rest, aborted = _ABORTED.subn("", rest)
    if saved := _PERSISTED.match(rest):
        persisted, rest = saved[1], saved[2]
    return ShellOutput(
        exit_code=None if aborted else code,
        stdout="" if rest == silence else rest,
        interrupted=bool(interrupted or aborted) or None,
        timed_out=bool(timed_out) or None,
        task_id=task_id,
        persisted_path=persisted,
        truncated=persisted is not None or _cut(rest),
        parts=answer.images,
    )


def _is_forgiven(command: str) -> bool:
    words = re.split(r"[;|&\n]", command.rstrip())[-1].split(maxsplit=1)
    return bool(words) and words[0] in _FORGIVEN


def _launched(said: str, *, asked: bool) -> tuple[str | None, str]:
    """Return the id of the background task that a command became, and its output until then."""
    before, _, note = said.rpartition("\n")
    if note.startswith(_AS_ASKED) and not asked:
        return None, said
    found = _BACKGROUND.match(note) if len(note) < _NOTE_LENGTH else None
    return (None, said) if found is None else (found[1], before)


def _cut(stdout: str | None) -> bool | None:
    return True if stdout and " truncated] ..." in stdout and _CUT.search(stdout) else None


def _read(body: ShellExec, answer: ToolAnswer) -> ShellExec:
    result = fields(answer.fields.get("task")) or answer.fields
    status = text(result, "status") or _tagged(answer.text, "status")
    stdout = text(result, "stdout", "output", "result")
    if stdout is None:
        stdout = _tagged(answer.text, "stdout") or _tagged(answer.text, "output")
    if stdout is None and status is None and answer.reason is None:
        stdout = answer.text
    code = whole(result, "exitCode", "exit_code")
    output = ShellOutput(
        exit_code=whole({"code": _tagged(answer.text, "exit_code")}, "code") if code is None else code,
        stdout=stdout,
        stderr=text(result, "stderr") or _tagged(answer.text, "stderr"),
        task_id=text(result, "task_id", "shellId", "agentId") or body.task_id,
        status=status,
        truncated=_cut(stdout),
    )
    return replace(body, command=text(result, "command") or body.command, output=output)


def _tagged(said: str, name: str) -> str | None:
    """Return the text between a tag and the last of its end tags."""
    start, end = said.find(f"<{name}>"), said.rfind(f"</{name}>")
    return None if start < 0 or end < start else said[start + len(name) + 2 : end].removeprefix("\n")


def _stopped(body: ShellExec, answer: ToolAnswer) -> ShellExec:
    result = answer.fields or fields(parsed(answer.text))
    task_id = text(result, "task_id", "shell_id") or body.task_id
    status = None if answer.reason else "killed"
    output = ShellOutput(stdout=text(result, "message") or answer.text, task_id=task_id, status=status)
    return replace(body, command=text(result, "command") or body.command, output=output)
