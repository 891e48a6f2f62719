"""A prompt turn: the script's steps as updates, the requests between them, and the reply that ends the turn."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

import msgspec

from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.scripted_agent import faults, script
from turnwire.scripted_agent.acp import calls
from turnwire.scripted_agent.acp.acp_session import AcpSession
from turnwire.scripted_agent.acp.client_tools import Done, by_client, run_by_client
from turnwire.scripted_agent.acp.connection import AUTH_REQUIRED, INTERNAL_ERROR, RpcError
from turnwire.scripted_agent.acp.permissions import Verdict, chosen, permitted
from turnwire.scripted_agent.claude.answers import fill
from turnwire.scripted_agent.claude.written_lines import Usage, tokens
from turnwire.scripted_agent.running import passed

_UPDATES = ("available_commands_update", "config_option_update", "current_mode_update", "session_info_update", "usage_update")  # fmt: skip
"""The updates that a `system` step can be; ACP has nothing for the others."""

_PLAN_OPTIONS: list[JsonObject] = [
    {"optionId": "accept-edits", "name": "Yes, and accept edits", "kind": "allow_always"},
    {"optionId": "default", "name": "Yes, and ask before edits", "kind": "allow_once"},
    {"optionId": "plan", "name": "No, keep planning", "kind": "reject_once"},
]

_BREATH = 256
"""Chunks of a flood between two looks at stdin."""


class TurnStops(TurnwireError):
    """The turn ends here with this stop reason."""


@dataclass
class Call:
    """A call that was announced, or is about to be."""

    tool: script.Tool
    fields: JsonObject
    """`toolCallId` and the other fields that announce the call."""
    told: bool = False

    @property
    def id(self) -> str:
        """Its id."""
        return text_at(self.fields, "toolCallId")


class TurnPlayer:
    """Plays one turn. A `past` turn, from before this process, sends no requests and takes no time."""

    def __init__(
        self, session: AcpSession, prompt: str, content: Sequence[JsonObject], *, past: bool = False
    ) -> None:
        self._session = session
        self._acp = session.script.acp
        self._prompt = prompt
        self._content = content
        self._past = past
        self._usage = Usage()
        self._open: dict[str, Call] = {}
        self._message_id = ""
        self._parent: str | None = None

    async def run(self) -> JsonObject:
        """Play the whole turn. Returns the reply to the prompt; raises RpcError if the reply is an error."""
        session = self._session
        session.cancelling = False
        self._hear()
        reason = "end_turn"
        try:
            steps = session.answers.turn_for(self._prompt).steps
            await self.play(steps)
        except TurnStops as stop:
            reason = str(stop)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not session.cancelling or task is None:
                raise
            task.uncancel()
            reason = "cancelled"
        finally:
            session.cancelling = False
        self._end_open_calls()
        return self._reply(reason)

    async def replay(self, steps: Sequence[script.AnyStep]) -> None:
        """Play the steps of a past turn, so that the session has its conversation."""
        self._session.remembering = True
        self._hear()
        await self.play(steps)
        self._session.remembering = False

    def _hear(self) -> None:
        session = self._session
        session.title = session.title or self._prompt[:60]
        for block in self._content:
            # whoever prompts knows what he said
            session.said.append({"sessionUpdate": "user_message_chunk", "content": block})

    def _end_open_calls(self) -> None:
        if self._acp.call_at_cancel == "open":
            return
        for call in self._open.values():
            if call.told:
                self._say("tool_call_update", toolCallId=call.id, status=self._acp.call_at_cancel)

    def _reply(self, reason: str) -> JsonObject:
        session, usage = self._session, self._usage
        session.usage.add(usage)
        session.cost += session.script.cost_per_turn
        session.tell_usage()
        if self._acp.usage == "none":
            return {"stopReason": reason}
        total = usage.input_tokens + usage.output_tokens
        told = {
            "totalTokens": total, "inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens,
        }  # fmt: skip
        return {"stopReason": reason, "usage": told}

    def _say(self, kind: str, /, **fields: Json) -> None:
        if self._parent is not None:
            if self._acp.subagents == "hidden":
                return
            fields["_meta"] = {**fields.get("_meta", {}), "claudeCode": {"parentToolUseId": self._parent}}
        self._session.say(kind, **fields)

    async def play(self, steps: Sequence[script.AnyStep]) -> None:
        """Play steps."""
        for step in steps:
            await self._step(step)

    async def _step(self, step: script.AnyStep) -> None:
        match step:
            case script.Text():
                await self._chunks(
                    "agent_message_chunk", fill(step.text, self._prompt), step.chunk, step.pace
                )
            case script.Thinking():
                await self._chunks(
                    "agent_thought_chunk", fill(step.thinking, self._prompt), step.chunk, step.pace
                )
            case script.Tool():
                await self._calls([step])
            case script.Parallel():
                await self._calls(step.parallel)
            case script.Plan():
                await self._plan(step)
            case script.Todos():
                self._todos(step)
            case script.Ask():
                await self._ask(step)
            case script.Wait():
                await self._pass(step.wait, step.until)
            case script.System():
                if step.system in _UPDATES:
                    self._session.update(step.system, **step.fields)
            case script.Rate() | script.Retry():
                pass  # nothing of ACP says it
            case script.Compact():
                await self._chunks("agent_message_chunk", "The conversation was compacted.", 40, 0)
            case script.Raw():
                faults.raw(self._session.connection.put, step)
            case script.Huge():
                await self._chunks("agent_message_chunk", faults.huge_text(step.huge), step.huge, 0)
            case script.Flood():
                await self._flood(step)
            case script.Request():
                await self._request(step)
            case script.Stderr():
                print(step.stderr, file=sys.stderr, flush=True)
            case script.Fail(fail="error_max_turns"):
                raise TurnStops("max_turn_requests")
            case script.Fail():
                raise RpcError(
                    INTERNAL_ERROR, "Internal error", {"details": " ".join(step.errors) or step.fail}
                )
            case script.End():
                raise TurnStops("end_turn")
            case script.Stop():
                raise TurnStops(step.stop)
            case script.ApiError():
                await self._api_error(step)
            case script.Crash():
                faults.crash(step)
            case script.Hang():
                await asyncio.Event().wait()
            case _:
                assert_never(step)

    async def _pass(self, seconds: float, until: str = "") -> None:
        if not self._past:
            await passed(seconds, until)

    # what is said

    def _chunk(self, kind: str, piece: str) -> None:
        fields: JsonObject = {"content": {"type": "text", "text": piece}}
        if self._acp.message_ids:
            if not self._message_id:
                self._message_id = self._session.new_id()
                self._usage.add(Usage(input_tokens=120))
            fields["messageId"] = self._message_id
        self._usage.add(Usage(output_tokens=tokens(piece)))
        self._say(kind, **fields)

    async def _chunks(self, kind: str, text: str, size: int, pace: float) -> None:
        size = max(1, size)
        for at in range(0, len(text), size):
            self._chunk(kind, text[at : at + size])
            if pace:
                await self._pass(pace)

    async def _flood(self, step: script.Flood) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number in range(step.flood):
            self._chunk("agent_message_chunk", f"{number} ".ljust(step.size, "."))
            if step.rate:
                await self._pass(max(0.0, began + (number + 1) / step.rate - loop.time()))
            elif number % _BREATH == 0:
                await asyncio.sleep(0)

    async def _api_error(self, step: script.ApiError) -> None:
        if self._acp.api_errors == "text":
            await self._chunks("agent_message_chunk", step.message, 80, 0)
            raise TurnStops("end_turn")
        code = AUTH_REQUIRED if step.api_error == "authentication_failed" else INTERNAL_ERROR
        raise RpcError(code, step.message, {"errorKind": step.api_error, "status": step.status})

    def _todos(self, step: script.Todos) -> None:
        entries = [
            {
                "content": text_at(todo, "content"),
                "priority": "medium",
                "status": text_at(todo, "status") or "pending",
            }
            for todo in step.todos
        ]
        self._say("plan", entries=entries)

    # tool calls

    async def _calls(self, tools: Sequence[script.Tool]) -> None:
        self._message_id = ""
        announced = [self._announce(tool) for tool in tools]
        self._session.tell_usage()
        for call in announced:
            await self._run(call)

    def _announce(self, tool: script.Tool, fields: JsonObject | None = None) -> Call:
        arguments = fill(tool.input, self._prompt)
        self._usage.add(Usage(output_tokens=tokens(msgspec.json.encode(arguments).decode())))
        told = {"toolCallId": self._session.new_id(), **calls.announcement(tool, arguments), **(fields or {})}
        call = Call(tool, told)
        self._open[call.id] = call
        if self._acp.announces or not tool.permission or self._past:
            self._tell(call)
        return call

    def _tell(self, call: Call) -> None:
        if not call.told:
            call.told = True
            self._say("tool_call", **call.fields, status="pending")

    async def _run(self, call: Call) -> None:
        verdict = Verdict.ALLOWED
        if not self._past:
            verdict = await permitted(self._session, call.tool, {**call.fields, "status": "pending"})
        match verdict:
            case Verdict.ALLOWED:
                self._tell(call)
                self._say("tool_call_update", toolCallId=call.id, status="in_progress")
                await self._do(call)
            case Verdict.REJECTED:
                await self._rejected(call, "Rejected by the user.")
            case Verdict.CANCELLED:
                raise TurnStops("cancelled")
            case _:
                assert_never(verdict)

    async def _rejected(self, call: Call, why: str) -> None:
        self._open.pop(call.id, None)
        if call.told:
            self._say("tool_call_update", toolCallId=call.id, status="failed", content=calls.contents(why))
        await self.play(call.tool.on_deny)
        if self._acp.reject != "goes_on":
            raise TurnStops("end_turn" if self._acp.reject == "ends_turn" else "cancelled")

    async def _do(self, call: Call) -> None:
        tool, arguments = call.tool, call.fields["rawInput"]
        if tool.steps:
            outer, self._parent = self._parent, call.id
            await self.play(tool.steps)
            self._parent, self._message_id = outer, ""
        way = None if self._past else by_client(self._session, tool)
        if way is not None:
            self._finish(call, await run_by_client(self._session, way, call.id, arguments))
            return
        await self._pass(tool.seconds, tool.until)
        result = fill(tool.result, self._prompt, arguments)
        structured = fill(tool.structured, self._prompt, arguments)
        failed = tool.error
        content = [*calls.diffs(arguments), *calls.contents(result)] if not failed else calls.contents(result)
        self._close(call, content, result if structured is None else structured, failed=failed)

    def _finish(self, call: Call, done: Done) -> None:
        content = [*calls.diffs(call.fields["rawInput"]), *calls.contents(done.text)]
        self._close(call, content, done.raw or done.text, failed=done.failed)

    def _close(self, call: Call, content: list[JsonObject], raw: Json, *, failed: bool) -> None:
        self._open.pop(call.id, None)
        status = "failed" if failed else "completed"
        self._say("tool_call_update", toolCallId=call.id, status=status, content=content, rawOutput=raw)

    async def _plan(self, step: script.Plan) -> None:
        self._message_id = ""
        arguments: JsonObject = {"plan": step.plan}
        tool = script.Tool(tool="ExitPlanMode", input=arguments, permission=True, on_deny=step.on_deny)
        call = self._announce(tool, {"title": "Ready to code?", "content": calls.contents(step.plan)})
        answer: JsonObject | None = _PLAN_OPTIONS[1]
        if not self._past:
            asked = {**call.fields, "status": "pending"}
            answer = await chosen(self._session, asked, _PLAN_OPTIONS)
        self._tell(call)
        if answer is None:
            raise TurnStops("cancelled")
        if text_at(answer, "kind") not in ("allow_once", "allow_always"):
            await self._rejected(call, "The plan was rejected.")
            return
        self._close(call, calls.contents("The plan was approved."), {"plan": step.plan}, failed=False)
        self._session.mode_changed("acceptEdits" if answer["kind"] == "allow_always" else "default")

    # what the client is asked

    async def _ask(self, step: script.Ask) -> None:
        """Ask with a form if the client supports forms. Otherwise ask in text; the human then answers with a prompt."""
        forms = (self._session.client.get("elicitation") or {}).get("form")
        if forms is None or self._past:
            for question in step.ask:
                await self._chunks("agent_message_chunk", text_at(question, "question"), 40, 0)
            return
        properties: JsonObject = {}
        for number, question in enumerate(step.ask):
            choices = [
                {"const": text_at(option, "label"), "title": text_at(option, "label")}
                for option in question.get("options") or []
            ]
            described: JsonObject = {
                "title": text_at(question, "header"),
                "description": text_at(question, "question"),
            }
            if question.get("multiSelect"):
                properties[f"q{number}"] = {**described, "type": "array", "items": {"anyOf": choices}}
            else:
                properties[f"q{number}"] = {**described, "type": "string", "oneOf": choices}
        asked = {
            "sessionId": self._session.id,
            "mode": "form",
            "message": " ".join(text_at(question, "question") for question in step.ask),
            "requestedSchema": {"type": "object", "properties": properties, "required": list(properties)},
        }
        try:
            answer = await self._session.connection.request("elicitation/create", asked)
        except RpcError as error:
            answer = {"action": f"failed: {error}"}
        content = answer.get("content") if isinstance(answer, dict) else None
        said = ", ".join(
            f'"{text_at(question, "question")}"="{(content or {}).get(f"q{number}")}"'
            for number, question in enumerate(step.ask)
        )
        heard = f"Answered: {said}." if content else f"Not answered: {text_at(answer, 'action')}."
        await self._chunks("agent_message_chunk", heard, 80, 0)

    async def _request(self, step: script.Request) -> None:
        """Send any request. Skips requests of the stream-json control protocol: ACP has none."""
        request: JsonObject = fill(step.request, self._prompt)
        method = text_at(request, "method")
        if not method or self._past:
            return
        params: JsonObject = {"sessionId": self._session.id, **(request.get("params") or {})}
        try:
            await self._session.connection.request(method, params)
        except RpcError as error:
            await self._chunks("agent_message_chunk", f"{method} failed: {error.code} {error}", 80, 0)
