"""A small agent of the Agent Client Protocol, for tests: `python acp_agent.py [WAY …]`; what a prompt says, it does.

Ways of beginning: `mute` (answers nothing), `login` (wants one), `v9` (speaks another version), `v2` (speaks version 2), `v1-alone` (refuses to hear of another),
`repeats` (the version that it is offered, and speaks version 1), `bare` (can do nothing
beyond a prompt), `begins-loose` (in a mode that asks nothing), `refuse-load`, `resumes` (can without telling again), `options` (has an option to choose), `nameless` (opens a conversation without its id), `lists` (its
conversations, in two pages, some of them odd), `lists-endlessly`. Words of a prompt, each done in turn: see `_WORDS`. Uses the standard library alone.
"""

import json
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

WAYS = frozenset(sys.argv[1:])
SESSION = next((way.removeprefix("session=") for way in WAYS if "=" in way), "agent-session-1")

_ids = count()
_answers: dict[object, Any] = {}
_answered = threading.Condition()
_cancelled = threading.Event()
_opened: dict[str, Any] = {}
"""What the conversation was opened with."""
_writing = threading.Lock()


def say(message: object) -> None:
    line = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()  # type: ignore[dict-item]
    with _writing:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()


def update(what: str, **fields: object) -> None:
    say(
        {
            "method": "session/update",
            "params": {"sessionId": SESSION, "update": {"sessionUpdate": what, **fields}},
        }
    )


def text(words: str) -> None:
    update("agent_message_chunk", content={"type": "text", "text": words})


def ask(method: str, params: dict[str, object], number: object = None) -> Any:
    """Ask the client and wait for its answer."""
    number = next(_ids) if number is None else number
    say({"id": number, "method": method, "params": {"sessionId": SESSION, **params}})
    return answer_to(number)


def answer_to(number: object) -> Any:
    with _answered:
        _answered.wait_for(lambda: number in _answers)
        return _answers.pop(number)


def permission_outcome(call: str, command: str) -> dict[str, object]:
    told = {
        "toolCallId": call,
        "title": command,
        "kind": "execute",
        "status": "pending",
        "rawInput": {"command": command},
    }
    about = {"toolCall": told}
    if "v2" in WAYS:
        about = {"title": command, "subject": {"type": "tool_call", "toolCall": told}}  # type: ignore[dict-item]
    return {
        **about,
        "options": [
            {"optionId": "once", "name": "Allow", "kind": "allow_once"},
            {"optionId": "always", "name": "Always", "kind": "allow_always"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ],
    }


def ask_leave(call: str, command: str) -> Any:
    return ask("session/request_permission", permission_outcome(call, command))


def ask_soon(call: str, number: object = None) -> object:
    """Ask for leave, and do not wait; return the request's number."""
    number = next(_ids) if number is None else number
    params = {"sessionId": SESSION, **permission_outcome(call, "x")}
    say({"id": number, "method": "session/request_permission", "params": params})
    return number


def run_tools(*commands: str) -> None:
    """Ask once for leave to run commands, naming the last, and tell what came of them."""
    calls = [f"call-{next(_ids)}" for _ in commands]
    for call, command in zip(calls, commands, strict=True):
        update(
            "tool_call",
            toolCallId=call,
            title=command,
            kind="execute",
            status="pending",
            rawInput={"command": command},
        )
    said = ask_leave(calls[-1], commands[-1])
    chosen = said.get("result", {}).get("outcome", {}).get("optionId")
    for call in calls:
        if chosen in ("once", "always"):
            update(
                "tool_call_update",
                toolCallId=call,
                status="completed",
                content=[{"type": "content", "content": {"type": "text", "text": "done"}}],
            )
        else:
            update("tool_call_update", toolCallId=call, status="failed")
    text(f"[{json.dumps(said, sort_keys=True)}]")


def told(words: list[str]) -> str | None:
    """Do what a prompt says; return the stop reason, None when it is not to be answered."""
    rest = iter(words)
    for word in rest:
        match word:
            case "text":
                text("Hello. ")
            case "tool":
                run_tools("touch made.txt")
            case "both":
                run_tools("touch one", "touch two")
            case "dozen":
                run_tools(*(f"touch {number}" for number in range(12)))
            case "tell-opened":
                text(f"[{json.dumps(_opened, sort_keys=True)}]")
            case "mark":  # for whoever waits for it, in its workspace
                Path("mark").touch()
            case "last-words":
                sys.stderr.write("that was all\n")
            case "leave-open":  # a call that is never ended
                update("tool_call", toolCallId="open-1", title="sleep", kind="execute", status="in_progress")
            case "ask":  # METHOD and its parameters as JSON
                said = ask(next(rest), json.loads(next(rest)))
                text(f"[{json.dumps(said, sort_keys=True)}]")
            case "wait":  # until cancelled
                _cancelled.wait()
                return "cancelled"
            case "until-cancelled":
                _cancelled.wait()
            case "deaf":  # until killed
                threading.Event().wait()
            case "flood":
                for _ in range(20_000):
                    text("x" * 50)
            case "garbage":
                for line in (
                    b"no json",
                    b"[]",
                    b"{}",
                    b"null",
                    b'{"jsonrpc":"2.0"}',
                    b"\xff\xfe",
                    b"[" * 5000,
                ):
                    say(line)
                say({"id": 999, "result": {}})
                say({"method": "session/update", "params": 3})
                say({"method": "session/update"})
                say({"method": "vendor/unknown", "params": {"a": 1}})
            case "unknown-request":
                text(f"[{json.dumps(ask('vendor/question', {}), sort_keys=True)}]")
            case "ask-flood":  # NUMBER requests at once, then all answers
                numbers = [ask_soon(f"flood-{number}") for number in range(int(next(rest)))]
                answers = [answer_to(number) for number in numbers]
                chosen = Counter(
                    answer["result"]["outcome"].get("optionId", "cancelled") for answer in answers
                )
                text(f"[{json.dumps(chosen, sort_keys=True)}]")
            case (
                "wait-flood"
            ):  # NUMBER waits for one terminal that does not end; tells of those that are refused
                ask("terminal/create", {"command": "sleep", "args": ["600"]})
                waits = [next(_ids) for _ in range(int(next(rest)))]
                for number in waits:
                    params = {"sessionId": SESSION, "terminalId": "terminal-1"}
                    say({"id": number, "method": "terminal/wait_for_exit", "params": params})
                while waits:
                    with _answered:
                        _answered.wait_for(lambda: _answers.keys() & waits)  # noqa: B023
                        answered = [number for number in waits if number in _answers]
                        waits = [number for number in waits if number not in answered]
                    for number in answered:
                        text(json.dumps(answer_to(number)))
            case "deep-ask":
                number = next(_ids)
                deep = b'{"a":' * 2000 + b"1" + b"}" * 2000
                say(
                    b'{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":%s}'
                    % (number, deep)
                )
                text(f"[{json.dumps(answer_to(number))}]")
            case "same-id":  # two requests under one id, the second after the first was answered
                for _ in range(2):
                    text(f"[{json.dumps(answer_to(ask_soon('same', number='always-this')), sort_keys=True)}]")
            case "same-id-at-once":
                ask_soon("same", number="this")
                ask_soon("same", number="this")
                for heard in ("first", "second"):
                    answer_to("this")
                    text(heard)
            case "late-ask":
                threading.Timer(0.05, ask_leave, ("late-1", "late")).start()
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "close":
                sys.stdout.close()
                os.close(1)
                threading.Event().wait()
            case "refuse":
                raise Refusal(-32603, "the model is not there")
            case "twice":
                return "twice"
            case "unsaid":
                return None
            case "cursor-task":
                ask("cursor/task", {"toolCallId": "c", "description": "Look", "prompt": "Look around"})
                update("tool_call_update", toolCallId="c", status="completed")
            case _:
                text(f"{word} ")
    return "end_turn"


class Refusal(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def prompt(params: dict[str, Any]) -> object:
    _cancelled.clear()
    if "v2" in WAYS:
        heard = f"message-{next(_ids)}"
        update("user_message", messageId=heard, content=params["prompt"])
        say({"id": params["number"], "result": {"messageId": heard}})
        update("state_update", state="running")
    words: list[str] = []
    for block in params["prompt"]:
        words += block["text"].split() if block["type"] == "text" else [json.dumps(block).replace(" ", "")]
    return told(words)


def opened_by_name() -> dict[str, object]:
    return {} if "nameless" in WAYS else {"sessionId": SESSION}


def new_session(params: dict[str, Any]) -> object:
    _opened.update(params)
    if "login" in WAYS:
        raise Refusal(-32000, "Authentication required")
    opened = opened_by_name()
    if "bare" not in WAYS:
        opened["modes"] = {
            "currentModeId": "code" if "begins-loose" in WAYS else "ask",
            "availableModes": [
                {"id": "ask", "name": "Ask", "description": "Asks before it changes anything"},
                {"id": "plan", "name": "Plan"},
                {"id": "code", "name": "Code"},
            ],
        }
        opened["models"] = {
            "currentModelId": "small",
            "availableModels": [{"modelId": "small", "name": "Small"}, {"modelId": "large", "name": "Large"}],
        }
    if "v2" in WAYS:
        modes = [{"value": value, "name": value.title()} for value in ("ask", "code")]
        option = {"configId": "mode", "category": "mode", "name": "Mode", "type": "select"}
        return {**opened_by_name(), "configOptions": [{**option, "currentValue": "ask", "options": modes}]}
    if "options" in WAYS:
        choices = [{"value": value, "name": value.title()} for value in ("low", "high")]
        option = {"id": "effort", "name": "Effort", "type": "select", "currentValue": "low"}
        opened["configOptions"] = [{**option, "options": choices}]
    return opened


def load(params: dict[str, Any]) -> object:
    if params["sessionId"] != SESSION or "refuse-load" in WAYS:
        raise Refusal(-32002, f"no session {params['sessionId']}")
    update("user_message_chunk", content={"type": "text", "text": "an old prompt"})
    text("an old answer")
    return {name: value for name, value in new_session({}).items() if name != "sessionId"}  # type: ignore[attr-defined]


def initialize(params: dict[str, Any]) -> object:
    if "v1-alone" in WAYS and params["protocolVersion"] != 1:
        raise Refusal(-32602, "there is no such version")
    if "v2" in WAYS:
        session: dict[str, object] = {"prompt": {"image": {}}, "mcp": {"stdio": {}}}
        info = {"name": "tester", "title": "Tester", "version": "1.2.3"}
        return {"protocolVersion": 2, "info": info, "capabilities": {"session": session}, "authMethods": []}
    said: dict[str, object] = {
        "protocolVersion": 9 if "v9" in WAYS else params["protocolVersion"] if "repeats" in WAYS else 1,
        "agentInfo": {
            "name": "@factory/cli" if "droid" in WAYS else "tester",
            "title": "Tester",
            "version": "1.2.3",
        },
    }
    if "bare" not in WAYS:
        said["agentCapabilities"] = {"loadSession": True, "promptCapabilities": {"image": True}}
        said["authMethods"] = [{"id": "key", "name": "A key"}]
        can: dict[str, object] = {
            name: {} for name in ("list", "resume") if any(way.startswith(name) for way in WAYS)
        }
        said["agentCapabilities"] |= {"sessionCapabilities": can}  # type: ignore[operator]
    return said


def listed(params: dict[str, Any]) -> object:
    cursor = params.get("cursor")
    if "lists-endlessly" in WAYS:
        number = int(cursor or 0) + 1
        return {"sessions": [{"sessionId": f"s-{number}", "cwd": "/"}], "nextCursor": str(number)}
    here = {"sessionId": SESSION, "cwd": str(Path.cwd()), "title": "An old one"}
    if cursor == "more":
        old = {"sessionId": "older", "cwd": "/elsewhere", "updatedAt": "no time"}
        return {"sessions": [old, {**here, "title": "once more"}]}
    odd: list[object] = [3, {}, {"sessionId": ""}, {"sessionId": "x" * 1000}, {"sessionId": 4, "title": []}]
    return {"sessions": [{**here, "updatedAt": "2026-11-22T10:00:00.5Z"}, *odd], "nextCursor": "more"}


def resume(params: dict[str, Any]) -> object:
    if params.get("replayFrom") is not None:
        update("user_message", messageId="old-1", content=[{"type": "text", "text": "an old prompt"}])
        update("agent_message_chunk", messageId="old-2", content={"type": "text", "text": "an old answer"})
    return {name: value for name, value in new_session(params).items() if name != "sessionId"}  # type: ignore[attr-defined]


def echo(params: dict[str, Any]) -> object:
    return {"said": params}


_METHODS: dict[str, Callable[[dict[str, Any]], object]] = {
    "initialize": initialize,
    "session/new": new_session,
    "session/load": load,
    "session/list": listed,
    "session/resume": resume,
    "session/prompt": prompt,
    "session/set_mode": lambda _: {},
    "session/set_model": lambda _: {},
    "session/set_config_option": lambda _: {"configOptions": []},
    "_tester/echo": echo,
}


def answer(message: dict[str, Any]) -> None:
    number, method = message["id"], message["method"]
    try:
        if method not in _METHODS:
            raise Refusal(-32601, f"no method {method}")
        number_too = {"number": number} if method == "session/prompt" else {}
        result = _METHODS[method]({**(message.get("params") or {}), **number_too})
    except Refusal as refusal:
        if method == "session/prompt" and "v2" in WAYS:
            error = {"code": refusal.code, "message": str(refusal)}
            update("state_update", state="idle", stopReason="error", error=error)
            return
        say({"id": number, "error": {"code": refusal.code, "message": str(refusal)}})
        return
    if method == "session/prompt" and "v2" in WAYS:
        update("state_update", state="idle", **({"stopReason": result} if result else {}))
    elif method == "session/prompt":
        stops = ["end_turn", "end_turn"] if result == "twice" else [result]
        for stop in stops:
            say({"id": number, "result": {"stopReason": stop}})
    else:
        say({"id": number, "result": result})


def main() -> None:
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "mute" in WAYS:
            continue
        if "method" not in message:
            with _answered:
                _answers[message["id"]] = {
                    name: message[name] for name in ("result", "error") if name in message
                }
                _answered.notify_all()
        elif "id" in message:
            threading.Thread(target=answer, args=(message,), daemon=True).start()
        elif message["method"] == "session/cancel":
            _cancelled.set()


if __name__ == "__main__":
    main()
    os._exit(0)  # whatever its threads still do
