"""Differences between the CLI versions that the agent can imitate. Facts of the real CLI, seen in fixtures/."""

from dataclasses import dataclass, replace

from turnwire.scripted_agent.script import Version


@dataclass(frozen=True)
class Quirks:
    """The differences of one version."""

    version: str
    """As `-v` and `init` say it."""
    structured_results: bool = True
    """Whether tool results carry `tool_use_result`."""
    names_tool_call: bool = True
    """Whether can_use_tool carries tool_use_id and display_name."""
    describes_tool_call: bool = True
    """Whether can_use_tool carries description and requires_user_interaction."""
    bare_allow_denies: bool = True
    """Whether an allow without updatedInput counts as a denial."""
    answers_unknown: bool = True
    """Whether an unknown control request gets an error. Otherwise it gets no answer."""
    mode_answered_twice: bool = False
    """Whether set_permission_mode is answered a second time."""
    interrupt_tells_queue: bool = False
    """Whether interrupt is answered with `still_queued`."""
    set_model_tells_model: bool = False
    """Whether set_model is answered with `model`."""
    aborted_text: bool = False
    """Whether interrupted text is followed by an assistant line with `aborted`."""
    merges_queue: bool = True
    """Whether queued prompts become one turn."""
    type_leads_result: bool = True
    """Whether `type` is the first key of a result."""
    reports_errors: bool = True
    """Whether error results have `errors` and is_error true."""
    dies_on_unknown_type: bool = False
    """Whether a blank line or an unknown type on stdin ends the process."""
    task_tool: str = "Agent"
    """The name of the subagent tool in tool_use blocks."""
    timestamps: bool = True
    """Whether user lines carry `timestamp`."""
    introduces_account: bool = True
    """Whether `initialize` is answered with agents, account and pid, and `init` with version, agents, skills, plugins."""
    tells_lifecycle: bool = False
    """Whether prompts that carry a uuid are followed by command_lifecycle lines."""
    reports_tasks: bool = True
    """Whether subagents are announced by task_started and task_notification."""


_EARLY = Quirks(
    version="1.0.120",
    structured_results=False,
    names_tool_call=False,
    describes_tool_call=False,
    answers_unknown=False,
    mode_answered_twice=True,
    merges_queue=False,
    reports_errors=False,
    dies_on_unknown_type=True,
    task_tool="Task",
    timestamps=False,
    introduces_account=False,
    reports_tasks=False,
)

_QUIRKS: dict[Version, Quirks] = {
    "1.0.120": _EARLY,
    "2.0.14": replace(_EARLY, version="2.0.14"),
    "2.1.101": Quirks(version="2.1.101", describes_tool_call=False),
    "2.1.330": Quirks(
        version="2.1.330",
        bare_allow_denies=False,
        interrupt_tells_queue=True,
        set_model_tells_model=True,
        aborted_text=True,
        tells_lifecycle=True,
        type_leads_result=False,
    ),
}


def quirks(version: Version) -> Quirks:
    """Return the differences of a version."""
    return _QUIRKS[version]
