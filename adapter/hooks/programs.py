"""Run hooks of the configuration: a command with JSON on stdin, or a POST to loopback; both bounded in time and size.

A command answers as hooks of the CLI's own do: exit 0 with JSON (or nothing) on stdout, exit 2 to block with the reason on
stderr. Everything else is a failure, and what that means is decided by adapter/hooks/hook_answers.py, never here.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from turnwire.adapter.hooks.settings import HookSetting
from turnwire.adapter.process import suspend_aware
from turnwire.adapter.process.program import run_program
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.json_lines import line_of
from turnwire.protocol.json_values import JsonObject, text_at
from turnwire.protocol.parsing import depth

MAX_ANSWER = 1024 * 1024
"""Bytes that a hook may answer."""

BLOCKED = 2
"""The exit code by which a command blocks."""


class HookFailed(TurnwireError):
    """A hook gave no answer. The text says why."""


async def run_hook(
    hook: HookSetting, payload: JsonObject, *, workspace: Path, environment: Mapping[str, str]
) -> JsonObject:
    """Run a hook and return its answer; raises HookFailed."""
    try:
        async with suspend_aware.timeout(hook.timeout):
            if hook.url is not None:
                return await asyncio.to_thread(_post, hook.url, line_of(payload), hook.timeout)
            return await _run_command(hook, payload, workspace, environment)
    except TimeoutError:
        raise HookFailed(f"no answer within {hook.timeout:g} s") from None


async def _run_command(
    hook: HookSetting, payload: JsonObject, workspace: Path, environment: Mapping[str, str]
) -> JsonObject:
    try:
        done = await run_program(
            hook.command,
            body=line_of(payload),
            workspace=workspace,
            environment=environment,
            most=MAX_ANSWER,
        )
    except OSError as error:
        raise HookFailed(f"cannot run {hook.command[0]}: {error.strerror}") from None
    complaint = done.stderr.decode("utf-8", "replace").strip()
    if done.code == BLOCKED:
        return _block(text_at(payload, "hook_event_name"), complaint or f"{hook.name} blocks this")
    if done.code != 0:
        raise HookFailed(f"exit code {done.code}: {complaint[-500:]}")
    return _read(done.stdout)


def _block(event: str, reason: str) -> JsonObject:
    return {"decision": "deny" if event == "PreToolUse" else "block", "reason": reason}


def _read(body: bytes) -> JsonObject:
    if len(body) > MAX_ANSWER:
        raise HookFailed(f"the answer is larger than {MAX_ANSWER} bytes")
    if not body.strip():
        return {}
    try:
        answer = depth.parse(body)
    except ValueError:
        raise HookFailed("the answer is not JSON") from None
    except RecursionError as error:
        raise HookFailed(f"the answer is {error}") from None
    if not isinstance(answer, dict):
        raise HookFailed("the answer is not a JSON object")
    return answer


def _post(url: str, body: bytes, timeout: float) -> JsonObject:
    import http.client  # noqa: PLC0415 - few hooks are servers

    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
    try:
        target = parts.path or "/"
        connection.request(
            "POST",
            f"{target}?{parts.query}" if parts.query else target,
            body,
            {"content-type": "application/json"},
        )
        response = connection.getresponse()
        answer = response.read(MAX_ANSWER + 1)
    except (OSError, http.client.HTTPException) as error:
        raise HookFailed(f"cannot reach {url}: {error}") from None
    finally:
        connection.close()
    if response.status not in (200, 204):
        raise HookFailed(f"{url} answered with status {response.status}")
    return _read(answer)
