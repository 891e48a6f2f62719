"""Tool results: a call's payload and its answer -> the same payload with output, and how it ended.

`tool_use_result` is looked at first, the text second: 1.0 and 2.0, and subagents of every version, have text only.
Never raises, whatever the types of the structured result are.
"""

from typing import Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

from turnwire.normalize.claude.results import answer as results_answer
from turnwire.normalize.claude.results import plan as results_plan
from turnwire.normalize.claude.results import work as results_work
from turnwire.normalize.claude.results.answer import PermissionOutcome, Reason, ToolAnswer
from turnwire.normalize.claude.results.edit import modify
from turnwire.normalize.claude.results.read import read
from turnwire.normalize.claude.results.search import search
from turnwire.normalize.claude.results.shell import shell
from turnwire.normalize.payloads import (
    AskUserPayload,
    CodeSearchPayload,
    CreateTaskPayload,
    GenericPayload,
    HttpRequestPayload,
    ManageTodosPayload,
    McpToolPayload,
    MiscPayload,
    ModifyFilePayload,
    NormalizedPayload,
    ReadFilePayload,
    ShellExecPayload,
    ShowPlanPayload,
    SubagentTaskPayload,
)
from turnwire.protocol.claude.blocks import ToolResultBlock
from turnwire.protocol.json_values import Json


class CallResult(Struct, gc=False):
    """What a result changes in its call."""

    payload: NormalizedPayload
    """The call's payload with its output."""
    status: Literal["complete", "error"]
    """`error` if the CLI marks the result as one."""
    error: str | None
    """Why it failed."""
    reason: Reason | None
    """The kind of failure."""
    background: bool
    """True if the work continues after this result."""


def enrich(
    payload: NormalizedPayload,
    block: ToolResultBlock,
    tool_use_result: Json | None,
    *,
    permission_outcome: PermissionOutcome | None = None,
) -> CallResult:
    """Return the payload with its output. `leave`: what is known about the call's permission."""
    answer = results_answer.read(block, tool_use_result, permission_outcome=permission_outcome)
    if answer.reason == "failed" and answer.ran and isinstance(payload, ShowPlanPayload | AskUserPayload):
        # These two only ask; when nothing is wrong with the question, a failure is a human's no.
        answer = replace(answer, reason="denied")
    enriched = _with_output(payload, answer)
    return CallResult(
        payload=enriched,
        status="complete" if answer.reason is None else "error",
        error=answer.error,
        reason=answer.reason,
        background=answer.reason is None and _goes_on(enriched, answer),
    )


def _with_output(payload: NormalizedPayload, answer: ToolAnswer) -> NormalizedPayload:
    match payload:
        case ShellExecPayload(shell_exec=body):
            return ShellExecPayload(shell_exec=shell(body, answer))
        case ReadFilePayload(read_file=body):
            return ReadFilePayload(read_file=read(body, answer))
        case ModifyFilePayload(modify_file=body):
            return ModifyFilePayload(modify_file=modify(body, answer))
        case CodeSearchPayload(code_search=body):
            return CodeSearchPayload(code_search=search(body, answer))
        case HttpRequestPayload(http_request=body):
            return HttpRequestPayload(http_request=results_work.http(body, answer))
        case SubagentTaskPayload(subagent_task=body):
            return SubagentTaskPayload(subagent_task=results_work.subagent(body, answer))
        case CreateTaskPayload(create_task=body):
            return CreateTaskPayload(create_task=results_plan.create_task(body, answer))
        case ManageTodosPayload(manage_todos=body):
            return ManageTodosPayload(manage_todos=results_plan.manage_todos(body, answer))
        case ShowPlanPayload(show_plan=body):
            return ShowPlanPayload(show_plan=results_plan.show_plan(body, answer))
        case AskUserPayload(ask_user=body):
            return AskUserPayload(ask_user=results_plan.ask_user(body, answer))
        case McpToolPayload(mcp_tool=body):
            return McpToolPayload(mcp_tool=results_work.mcp(body, answer))
        case GenericPayload(generic=body):
            return GenericPayload(generic=results_work.generic(body, answer))
        case MiscPayload(misc=body):
            return MiscPayload(misc=results_work.misc(body, answer))
    assert_never(payload)


def _goes_on(payload: NormalizedPayload, answer: ToolAnswer) -> bool:
    """Tell whether the work was moved to the background: commands, subagents, workflows."""
    match payload:
        case ShellExecPayload(shell_exec=body):
            return body.operation is None and body.output is not None and body.output.task_id is not None
        case SubagentTaskPayload(subagent_task=body):
            return body.output is not None and (body.output.status or "").endswith("_launched")
        case _:
            status = answer.fields.get("status")
            return isinstance(status, str) and status.endswith("_launched")
