"""The rules: each takes the raw facts and what is shown, and yields a sentence for every violation."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any

from tests.checker.raw import Call, Facts, Turn
from tests.checker.shown import Shown

JsonObject = dict[str, Any]
Check = Callable[[Facts, Shown], Iterator[str]]

FINAL = ("complete", "error")


def every_text_and_call_once_and_in_order(facts: Facts, shown: Shown) -> Iterator[str]:
    """Assistant text, thinking and tool calls of each thread, as the raw lines have them."""
    for parent in facts.threads.keys() | shown.threads.keys():
        expected = [(item.kind, item.value) for item in facts.threads.get(parent, [])]
        actual = []
        for item in shown.thread(parent):
            if item.source == "result":
                continue
            if item.source == "local_command" and (item.kind, item.value) not in expected:
                continue
            actual.append((item.kind, item.value))
        for number, (wanted, got) in enumerate(zip_longest(expected, actual)):
            if wanted != got and not _half_a_character(wanted, got):
                yield f"thread {parent}, item {number}: the lines say {wanted!r:.200}, the events {got!r:.200}"
                break


def _half_a_character(wanted: tuple[str, str] | None, got: tuple[str, str] | None) -> bool:
    """A text that was cut off within a character may end before or behind its replacement."""
    return bool(
        wanted and got and wanted[0] == got[0] and wanted[1].rstrip("\ufffd") == got[1].rstrip("\ufffd")
    )


def local_output_is_shown(facts: Facts, shown: Shown) -> Iterator[str]:
    """What slash commands printed is text of source local_command."""
    expected = []
    for message in facts.messages:
        if message.get("type") == "user" and not message.get("parent_tool_use_id"):
            content = message["message"].get("content")
            texts = [content] if isinstance(content, str) else [b.get("text", "") for b in content or []]
            expected += [
                output
                for text in texts
                for output in re.findall(
                    r"<local-command-std(?:out|err)>(.*?)</local-command-std", text or "", re.DOTALL
                )
                if output
            ]
    got = [i.value for i in shown.thread(None) if i.source == "local_command"]
    for output in expected:
        if output not in got:
            yield f"output of a command is not shown: {output!r:.100}"
        else:
            got.remove(output)


def result_text_only_when_nothing_was_said(facts: Facts, shown: Shown) -> Iterator[str]:
    """`result.result` repeats the last text; it is shown only where it is the only carrier."""
    expected = []
    for turn in facts.turns:
        text = _result_text(turn)
        if text and not turn.said and text not in turn.local:
            expected.append(text)
    got = [item.value for item in shown.thread(None) if item.source == "result"]
    if got != expected:
        yield f"text of results: expected {expected!r:.300}, shown {got!r:.300}"


def _result_text(turn: Turn) -> str:
    result = (turn.result or {}).get("result")
    if isinstance(result, dict):
        result = result.get("text")
    return result or ""


def turns_balance(facts: Facts, shown: Shown) -> Iterator[str]:
    """One complete for every turn_started, nested nowhere, with the same id; as many as the lines have."""
    open_turn: str | None = None
    completes = 0
    for event in shown.events:
        if event["type"] == "turn_started":
            if open_turn is not None:
                yield f"{event['operation_id']} starts within {open_turn}"
            open_turn = event["operation_id"]
        elif event["type"] == "complete":
            completes += 1
            if event.get("operation_id") != open_turn:
                yield f"{event.get('operation_id')} completes while {open_turn} is open"
            open_turn = None
    if open_turn is not None:
        yield f"{open_turn} is never completed"
    if completes < len(facts.turns):
        yield f"{len(facts.turns)} turns in the lines, {completes} completed"
    if not shown.of("user_message") and completes != len(facts.turns):
        yield f"{len(facts.turns)} turns in the lines, {completes} completed"


def _pairs(facts: Facts, shown: Shown) -> Iterator[tuple[Turn, JsonObject]]:
    """Turns of the lines and their `complete`; prompts that got no line at all have one more."""
    completes = shown.of("complete")
    silent = len(completes) - len(facts.turns)
    yield from zip(facts.turns, completes if silent >= 0 else [], strict=False)


def calls_and_updates_balance(facts: Facts, shown: Shown) -> Iterator[str]:
    """One tool_call and one final tool_update a tool_use, the update behind the call and within its turn."""
    calls, finals = Counter[str](), Counter[str]()
    completes = 0
    called_in: dict[str, int] = {}
    for event in shown.events:
        completes += event["type"] == "complete"
        if event["type"] == "tool_call":
            calls[event["tool_call_id"]] += 1
            called_in[event["tool_call_id"]] = completes
            call = facts.calls.get(event["tool_call_id"])
            if call is None:
                yield f"no line has the call {event['tool_call_id']}"
            elif (call.name, call.parent) != (event["tool_name"], event.get("parent_tool_call_id")):
                yield f"{call.id} is {call.name} of {call.parent}, not {event['tool_name']}"
        elif event["type"] == "tool_update" and event["tool_status"] in FINAL:
            call_id = event["tool_call_id"]
            finals[call_id] += 1
            if call_id in facts.calls and call_id not in called_in:
                yield f"{call_id} ends before it is called"
            elif call_id in facts.calls and called_in[call_id] != completes and not _outlives(facts, call_id):
                yield f"{call_id} ends after its turn"
    for call_id in facts.calls:
        if (calls[call_id], finals[call_id]) != (1, 1):
            yield f"{call_id}: {calls[call_id]} calls, {finals[call_id]} final updates"


def _outlives(facts: Facts, call_id: str) -> bool:
    """The call belongs to a subagent in the background, or to one of those."""
    call: Call | None = facts.calls.get(call_id)
    while call is not None and call.parent is not None:
        if call.parent in facts.background:
            return True
        call = facts.calls.get(call.parent)
    return False


def statuses_agree_with_the_results(facts: Facts, shown: Shown) -> Iterator[str]:
    """complete or error as the tool_result says; where there is none, as the turn; exit codes as the text has them."""
    succeeded = {e["operation_id"] for e in shown.of("complete") if e["data"]["outcome"] == "completed"}
    for event in shown.of("tool_update"):
        call = facts.calls.get(event["tool_call_id"])
        if call is None or event["tool_status"] not in FINAL:
            continue
        if call.result is None:
            expected = "complete" if event.get("operation_id") in succeeded else "error"
            if event["tool_status"] != expected or not event.get("reason"):
                yield f"{call.id} has no result, yet is {event['tool_status']} for {event.get('reason')}"
            continue
        content = call.result.get("content")
        api_failed = isinstance(content, dict) and str(content.get("type")).endswith("_error")
        failed = bool(call.result.get("is_error")) or api_failed
        if (event["tool_status"] == "error") != failed:
            yield f"{call.id} is {event['tool_status']}, is_error is {call.result.get('is_error')}"
        yield from _exit_code(call, event)


def _exit_code(call: Call, event: JsonObject) -> Iterator[str]:
    shell = event["normalized"].get("shell_exec") or {}
    if call.name != "Bash" or call.result is None:
        return
    content = call.result.get("content")
    text = content if isinstance(content, str) else ""
    said = re.match(r"(?:<error>)?Exit code (\d+)", text)
    code = (shell.get("output") or {}).get("exit_code")
    in_background = isinstance(call.structured, dict) and bool(call.structured.get("backgroundTaskId"))
    interrupted = isinstance(call.structured, dict) and bool(call.structured.get("interrupted"))
    if said and call.result.get("is_error") and code != int(said[1]):
        yield f"{call.id} says exit code {said[1]}, shown is {code}"
    if not call.result.get("is_error") and not in_background and not interrupted and code not in (0, None):
        interpreted = isinstance(call.structured, dict) and call.structured.get("returnCodeInterpretation")
        if not interpreted:
            yield f"{call.id} succeeded, shown is exit code {code}"


def figures_agree_with_the_results(facts: Facts, shown: Shown) -> Iterator[str]:
    """Cost, tokens, durations and the rest of `complete` against its result."""
    before: JsonObject = {}
    for turn, event in _pairs(facts, shown):
        result, data = turn.result, event["data"]
        if result is None:
            if data["outcome"] not in ("completed", "process_exited", "interrupted"):
                yield f"{event['operation_id']} has no result, yet its outcome is {data['outcome']}"
            continue
        usage = result.get("usage") or {}
        if "total_tokens" in usage:  # Qwen Code counts the session
            session, usage = usage, {name: count - before.get(name, 0) for name, count in usage.items()}
            before = session
        for name, expected in (
            ("total_cost_usd", result.get("total_cost_usd")),
            ("duration_ms", result.get("duration_ms")),
            ("num_turns", result.get("num_turns")),
            ("input_tokens", usage.get("input_tokens")),
            ("output_tokens", usage.get("output_tokens")),
            ("cache_read_input_tokens", usage.get("cache_read_input_tokens")),
            ("structured_output", result.get("structured_output")),
            ("api_error_status", result.get("api_error_status")),
            ("permission_denials", result.get("permission_denials") or None),
        ):
            if data.get(name) != expected:
                yield f"{event['operation_id']}: {name} is {data.get(name)}, the result says {expected}"
        if data["outcome"] == "interrupted" and data["is_error"]:
            yield f"{event['operation_id']} was interrupted and is an error"
        if result.get("is_error") and not data["is_error"] and data["outcome"] != "interrupted":
            yield f"{event['operation_id']} is no error, the result says it is"
        if not result.get("is_error") and data["is_error"] and not result["subtype"].startswith("error"):
            yield f"{event['operation_id']} is an error, the result says it is none"


def shares_add_up(facts: Facts, shown: Shown) -> Iterator[str]:
    """The costs of the turns add up to the process's total, unless that begins anew or with a past."""
    completes = shown.of("complete")
    totals = [e["data"]["total_cost_usd"] for e in completes if e["data"].get("total_cost_usd") is not None]
    if not totals or totals != sorted(totals):
        return
    shares = [
        event["data"].get("cost_usd")
        for event in completes
        if event["data"].get("total_cost_usd") is not None
    ]
    if any(share is None or share < 0 for share in shares):
        yield f"shares {shares}"
        return
    past = totals[0] - (shares[0] or 0)
    resumed = any(message.get("model_usage_since_last_result") for message in facts.messages)
    if abs(sum(share or 0 for share in shares) + (past if resumed else 0) - totals[-1]) > 1e-9:
        yield f"the turns cost {shares}, the process {totals[-1]}"


def errors_are_said_once(facts: Facts, shown: Shown) -> Iterator[str]:
    """A failed turn has one error behind its complete; no other turn has one there."""
    for number, event in enumerate(shown.events):
        if event["type"] != "complete":
            continue
        behind = 0
        for later in shown.events[number + 1 :]:
            if later["type"] != "error" or later.get("operation_id") != event["operation_id"]:
                break
            behind += 1
        expected = int(event["data"]["is_error"])
        if behind != expected:
            yield f"{event['operation_id']} has {behind} errors behind it instead of {expected}"


def context_agrees_with_the_usage(facts: Facts, shown: Shown) -> Iterator[str]:
    """Before each complete: tokens of the last answer of the main thread, window of the main model."""
    window: JsonObject | None = None
    turns = iter(facts.turns)
    for event in shown.events:
        if event["type"] == "context_window":
            window = event
            size, used = event.get("context_window_size"), event["context_window_used"]
            remaining, share = event.get("context_window_remaining"), event.get("context_efficiency")
            if size is None:
                if (remaining, share) != (None, None):
                    yield f"remaining is {remaining} and efficiency {share} of an unknown size"
                continue
            if used > size:
                yield f"{used} tokens are used of {size}"
            if remaining != size - used:
                yield f"remaining is {remaining} of {size} with {used} used"
            if abs(share - 100 * used / size) > 1e-9:
                yield f"efficiency is {share}"
        elif event["type"] == "complete":
            turn = next(turns, None)
            if turn is None or turn.result is None:
                continue
            used = 0 if window is None else window["context_window_used"]
            if used != turn.usage:
                yield f"{event['operation_id']}: {used} tokens used, the last answer says {turn.usage}"
            size = _window(turn)
            if size and window is not None and window.get("context_window_size") != size:
                yield f"{event['operation_id']}: window of {window.get('context_window_size')}, the result says {size}"


def _window(turn: Turn) -> int | None:
    for name, usage in ((turn.result or {}).get("modelUsage") or {}).items():
        if turn.model and name.removesuffix("[1m]") == turn.model.removesuffix("[1m]"):
            size: int | None = usage.get("contextWindow")
            return size
    return None


def uuids_agree_with_the_lines(facts: Facts, shown: Shown) -> Iterator[str]:
    """The last message of the main thread, and a token that its version's --resume-session-at takes."""
    for turn, event in _pairs(facts, shown):
        if turn.result is None:
            continue
        data = event["data"]
        if (
            data.get("last_message_uuid") != turn.last_uuid
            or event.get("last_message_uuid") != turn.last_uuid
        ):
            yield f"{event['operation_id']}: last is {data.get('last_message_uuid')}, the lines say {turn.last_uuid}"
        uuid, message_id = turn.safe or (None, None)
        numbers = [int(number) for number in (facts.version or "9").split(".")]
        token = uuid if numbers >= [2, 0, 76] else message_id if numbers >= [2] else None
        if data.get("resume_token") != token:
            yield f"{event['operation_id']}: token is {data.get('resume_token')}, the lines give {token}"


def requests_end_once(facts: Facts, shown: Shown) -> Iterator[str]:
    """Each question to a human is published once, and is resolved or void once."""
    asked = Counter(
        e["pending_id"] for e in shown.events if e["type"] in ("permission_request", "question_request")
    )
    over = Counter(
        e["pending_id"] for e in shown.events if e["type"] in ("permission_resolved", "permission_cancelled")
    )
    for message in facts.asked:
        request_id = message["request_id"]
        if (asked[request_id], over[request_id]) != (1, 1):
            yield f"{request_id} is asked {asked[request_id]} times and ends {over[request_id]} times"


def nested_events_name_their_parent(facts: Facts, shown: Shown) -> Iterator[str]:
    """A parent is a tool call that was published before its children."""
    called = set[str]()
    for event in shown.events:
        parent = event.get("parent_tool_call_id")
        if parent is not None and parent not in called and parent in facts.calls:
            yield f"{event['type']} belongs to {parent}, which was not called before"
        if event["type"] == "tool_call":
            called.add(event["tool_call_id"])


CHECKS: tuple[Check, ...] = (
    every_text_and_call_once_and_in_order,
    local_output_is_shown,
    result_text_only_when_nothing_was_said,
    turns_balance,
    calls_and_updates_balance,
    statuses_agree_with_the_results,
    figures_agree_with_the_results,
    shares_add_up,
    errors_are_said_once,
    context_agrees_with_the_usage,
    uuids_agree_with_the_lines,
    requests_end_once,
    nested_events_name_their_parent,
)


def violations(facts: Facts, events: list[JsonObject]) -> list[str]:
    """Return all that is wrong, one sentence each, named by its rule."""
    shown = Shown(events)
    return [f"{check.__name__}: {sentence}" for check in CHECKS for sentence in check(facts, shown)]
