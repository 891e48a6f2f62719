"""A turn: init, the script's steps, the result, and how an interrupt changes it."""

import asyncio
import sys
from collections.abc import Sequence
from typing import assert_never

from turnwire.protocol.json_values import JsonObject
from turnwire.scripted_agent import faults, script, tools
from turnwire.scripted_agent.claude.claude_session import ClaudeSession, TurnEnds, TurnState
from turnwire.scripted_agent.claude.dialect import BLANK_LINE
from turnwire.scripted_agent.claude.host import Prompt
from turnwire.scripted_agent.claude.permissions import run_hooks
from turnwire.scripted_agent.claude.written_lines import WINDOW
from turnwire.scripted_agent.running import passed
from turnwire.scripted_agent.speech import Speech


class TurnPlayer:
    """Plays one turn."""

    def __init__(self, session: ClaudeSession, prompts: list[Prompt]) -> None:
        self._session = session
        self._wire = session.wire
        self._turn = TurnState(session, session.join(prompts), prompts)
        self._speech = Speech(session.wire, session.options.partial_messages, self._turn.usage)
        self._began = asyncio.get_running_loop().time()

    async def run(self) -> None:
        """Play the whole turn, from init to result."""
        ending: JsonObject = {"subtype": "success"}
        try:
            await self._begin()
            await self.play(self._session.answers.turn_for(self._turn.text).steps)
            await self._answer_folded()
            self._speech.close("end_turn")
        except TurnEnds as end:
            self._speech.close("end_turn")
            ending = end.fields
        except asyncio.CancelledError:
            if not self._session.interrupting:
                raise
            self._session.interrupting = False
            self._interrupted()
            ending = {"subtype": "error_during_execution"}
        self._result(ending)

    async def _begin(self) -> None:
        for prompt in self._turn.prompts:
            if prompt.uuid:
                self._wire.lifecycle(prompt.uuid, "started")
        self._wire.init()
        if self._session.options.replay_user_messages:
            for prompt in self._turn.prompts:
                self._wire.user(prompt.content, uuid=prompt.uuid, isReplay=True)
        for answer in await run_hooks(
            self._session, "UserPromptSubmit", "", {"prompt": self._turn.text}, None
        ):
            if answer.get("decision") == "block" or answer.get("continue") is False:
                reason = answer.get("reason") or answer.get("stopReason") or ""
                raise TurnEnds(
                    "blocked by a hook",
                    {"subtype": "success", "result": f"Operation stopped by hook: {reason}"},
                )

    async def _answer_folded(self) -> None:
        """Write text about the prompts that arrived while tools ran. A steered turn must show its steering."""
        if heard := [prompt.text for prompt in self._turn.folded]:
            joint = BLANK_LINE if self._session.options.dialect.is_foreign else " / "
            await self._speech.say("text", f"Heard while working: {joint.join(heard)}", chunk=40, pace=0)

    def _interrupted(self) -> None:
        self._speech.abort()
        had_calls = bool(self._turn.open_calls)
        for call in list(self._turn.open_calls.values()):
            tools.answer(self._turn, call, tools.REJECTED, None, error=True)
        text = tools.INTERRUPTED_TOOL if had_calls else tools.INTERRUPTED
        self._wire.user([{"type": "text", "text": text}])

    def _result(self, ending: JsonObject) -> None:
        session, usage = self._session, self._turn.usage
        session.usage.add(usage)
        session.cost += session.script.cost_per_turn
        succeeded = ending["subtype"] == "success"
        milliseconds = int((asyncio.get_running_loop().time() - self._began) * 1000)
        fields: JsonObject = {
            "is_error": not succeeded and self._wire.quirks.reports_errors,
            "duration_ms": milliseconds,
            "duration_api_ms": milliseconds,
            "num_turns": self._speech.messages,
            "total_cost_usd": session.cost,
            "usage": usage.wire(),
            "modelUsage": {
                self._wire.model: {
                    "inputTokens": session.usage.input_tokens,
                    "outputTokens": session.usage.output_tokens,
                    "cacheReadInputTokens": 0,
                    "cacheCreationInputTokens": 0,
                    "costUSD": session.cost,
                    "contextWindow": WINDOW,
                }
            },
            "permission_denials": self._turn.denials,
        }
        if succeeded:
            fields["result"] = self._speech.last_text
        elif self._wire.quirks.reports_errors:
            fields["errors"] = []
        session.has_result = True
        self._wire.result({**fields, **ending})
        for prompt in (*self._turn.folded, *self._turn.prompts):
            if prompt.uuid:
                self._wire.lifecycle(prompt.uuid, "completed")

    async def play(self, steps: Sequence[script.AnyStep], parent: str | None = None) -> None:
        """Play steps, in the main thread or in the subagent of the call `parent`."""
        speech = self._speech
        if parent is not None:
            speech = Speech(self._wire, self._session.options.partial_messages, self._turn.usage, parent)
        for step in steps:
            if isinstance(step, script.Wait | script.Hang | script.Request | script.Crash | script.Stderr):
                self._session.options.dialect.pause()
            await self._step(step, speech)

    async def _step(self, step: script.AnyStep, speech: Speech) -> None:
        wire, turn = self._wire, self._turn
        match step:
            case script.Text():
                await speech.say("text", turn.fill(step.text), chunk=step.chunk, pace=step.pace)
            case script.Thinking():
                await speech.say("thinking", turn.fill(step.thinking), chunk=step.chunk, pace=step.pace)
            case script.Tool():
                await tools.call_tools(turn, speech, [step], self.play)
            case script.Parallel():
                await tools.call_tools(turn, speech, step.parallel, self.play)
            case script.Plan():
                await tools.call_tools(turn, speech, [tools.plan_call(step)], self.play)
            case script.Todos():
                await tools.call_tools(turn, speech, [tools.todos_call(step)], self.play)
            case script.Ask():
                await tools.ask_human(turn, speech, step)
            case script.Wait():
                await passed(step.wait, step.until)
            case script.Rate():
                wire.rate_limit(step.rate_limit)
            case script.Retry():
                wire.system("api_retry", **step.api_retry)
            case script.System():
                wire.system(step.system, **step.fields)
            case script.Compact():
                self._compact(step)
            case script.Raw():
                faults.raw(wire.put, step)
            case script.Huge():
                await faults.huge(speech, step.huge)
            case script.Flood():
                await faults.flood(speech, step)
            case script.Request():
                await self._session.host.request(wire.line, turn.fill(step.request))
            case script.Stderr():
                print(step.stderr, file=sys.stderr, flush=True)
            case script.Fail():
                errors: JsonObject = {"errors": step.errors} if wire.quirks.reports_errors else {}
                raise TurnEnds(step.fail, {"subtype": step.fail, **errors})
            case script.End() | script.Stop():
                stopped = {"stop_reason": step.stop} if isinstance(step, script.Stop) else {}
                raise TurnEnds("ended by the script", {"subtype": "success", **stopped})
            case script.ApiError():
                self._api_error(step, speech)
            case script.Crash():
                faults.crash(step)
            case script.Hang():
                await asyncio.Event().wait()
            case _:
                assert_never(step)

    def _compact(self, step: script.Compact) -> None:
        wire = self._wire
        wire.system("status", status="compacting")
        wire.system("status", status=None, compact_result="success")
        wire.system(
            "compact_boundary", compact_metadata={"trigger": step.compact, "pre_tokens": step.pre_tokens}
        )

    def _api_error(self, step: script.ApiError, speech: Speech) -> None:
        speech.close(None)
        block = {"type": "text", "text": step.message}
        self._wire.assistant(self._wire.uuid(), block, None, model="<synthetic>", error=step.api_error)
        status: JsonObject = {} if self._wire.quirks.type_leads_result else {"api_error_status": step.status}
        raise TurnEnds(
            step.api_error, {"subtype": "success", "is_error": True, "result": step.message, **status}
        )
