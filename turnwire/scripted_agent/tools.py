"""Tool calls: announced in one message, permitted, "run", and answered with their results, one after the other."""

from collections.abc import Sequence

from turnwire.protocol.json_values import Json, JsonObject
from turnwire.scripted_agent.claude.claude_session import Call, Play, TurnEnds, TurnState
from turnwire.scripted_agent.claude.permissions import Allowed, Denied, permitted, run_hooks
from turnwire.scripted_agent.running import passed
from turnwire.scripted_agent.script import Ask, Plan, Todos, Tool
from turnwire.scripted_agent.speech import Speech

INTERRUPTED = "[Request interrupted by user]"
INTERRUPTED_TOOL = "[Request interrupted by user for tool use]"
REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP and wait for the user."


async def call_tools(turn: TurnState, speech: Speech, tools: Sequence[Tool], play: Play) -> None:
    """Call tools in one message and bring each to its result."""
    calls = [_announce(turn, speech, tool) for tool in tools]
    speech.close("tool_use")
    for call in calls:
        await _run(turn, call, play)


def _announce(turn: TurnState, speech: Speech, tool: Tool) -> Call:
    wire = turn.session.wire
    call = Call(wire.api_id("toolu"), tool, turn.fill(tool.input), speech.parent)
    speech.call(call.id, wire.quirks.task_tool if tool.steps else tool.tool, call.input)
    turn.open_calls[call.id] = call
    return call


async def _run(turn: TurnState, call: Call, play: Play) -> None:
    tool = call.tool
    verdict = await permitted(turn.session, tool, call.id, call.input)
    match verdict:
        case Denied():
            _deny(turn, call, verdict)
            await play(tool.on_deny, call.parent)
        case Allowed():
            result = turn.fill(tool.result, verdict.input)
            structured = turn.fill(tool.structured, verdict.input)
            if tool.steps:
                await _delegate(turn, call, verdict.input, play)
            await passed(tool.seconds, tool.until)
            answer(turn, call, result, structured, error=tool.error)
            payload = {
                "tool_name": tool.tool,
                "tool_input": verdict.input,
                "tool_response": structured or result,
            }
            await run_hooks(turn.session, "PostToolUse", tool.tool, payload, call.id)
    fold(turn)


def answer(turn: TurnState, call: Call, content: Json, structured: Json, *, error: bool) -> None:
    """Write a call's result."""
    turn.open_calls.pop(call.id, None)
    if error and isinstance(content, str) and structured is None:
        structured = f"Error: {content}"
    turn.session.wire.tool_result(call.id, content, error=error, structured=structured, parent=call.parent)


def _deny(turn: TurnState, call: Call, verdict: Denied) -> None:
    turn.denials.append({"tool_name": call.tool.tool, "tool_use_id": call.id, "tool_input": call.input})
    answer(turn, call, REJECTED if verdict.interrupt else verdict.message, None, error=True)
    if verdict.interrupt:
        turn.session.wire.user([{"type": "text", "text": INTERRUPTED_TOOL}])
        raise TurnEnds("denied with interrupt", {"subtype": "error_during_execution"})


def fold(turn: TurnState) -> None:
    """Add the prompts that arrived while the tool ran to the turn."""
    host, wire = turn.session.host, turn.session.wire
    turn.session.tell_injected(list(host.prompts))
    while host.prompts:
        prompt = host.prompts.popleft()
        turn.folded.append(prompt)
        if prompt.uuid:
            wire.lifecycle(prompt.uuid, "started")
        if turn.session.options.replay_user_messages:
            wire.user(prompt.content, uuid=prompt.uuid, isReplay=True)


async def _delegate(turn: TurnState, call: Call, arguments: JsonObject, play: Play) -> None:
    """Let a subagent play its steps under the call."""
    wire = turn.session.wire
    task = {"task_id": f"a{call.id[-12:].lower()}", "tool_use_id": call.id}
    description = str(arguments.get("description", ""))
    prompt = str(arguments.get("prompt", ""))
    if wire.quirks.reports_tasks:
        wire.system("task_started", **task, description=description, task_type="local_agent", prompt=prompt)
        wire.user([{"type": "text", "text": prompt}], call.id)
    await play(call.tool.steps, call.id)
    if wire.quirks.reports_tasks:
        usage = {"total_tokens": turn.usage.input_tokens, "tool_uses": len(call.tool.steps), "duration_ms": 0}
        wire.system(
            "task_notification", **task, status="completed", summary=description, output_file="", usage=usage
        )


def plan_call(step: Plan) -> Tool:
    """The call of ExitPlanMode that shows a plan."""
    result = f"User has approved your plan. You can now start coding.\n\n## Approved Plan:\n{step.plan}"
    structured = {"plan": step.plan, "isAgent": False}
    return Tool(
        tool="ExitPlanMode",
        input={"plan": step.plan},
        result=result,
        structured=structured,
        on_deny=step.on_deny,
    )


def todos_call(step: Todos) -> Tool:
    """The call of TodoWrite that sets the todo list."""
    structured = {"oldTodos": [], "newTodos": step.todos}
    return Tool(
        tool="TodoWrite",
        input={"todos": step.todos},
        result="Todos have been modified successfully.",
        structured=structured,
    )


async def ask_human(turn: TurnState, speech: Speech, step: Ask) -> None:
    """Ask through AskUserQuestion. The answers come back in the permission's updated input."""
    arguments: JsonObject = {"questions": step.ask}
    tool = Tool(tool="AskUserQuestion", input=arguments)
    call = _announce(turn, speech, tool)
    speech.close("tool_use")
    verdict = await permitted(turn.session, tool, call.id, arguments)
    match verdict:
        case Denied():
            _deny(turn, call, verdict)
        case Allowed(input=updated):
            answers = updated.get("answers") or {}
            said = ", ".join(f'"{question}"="{chosen}"' for question, chosen in answers.items())
            content = (
                f"Your questions have been answered: {said}. You can now continue with these answers in mind."
            )
            answer(turn, call, content, {**arguments, "answers": answers}, error=False)
    fold(turn)
