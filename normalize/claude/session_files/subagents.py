"""Find the call that started a subagent. Its records are in the main file or in a file of their own."""

import re
from collections.abc import Collection

import msgspec

from turnwire.protocol.claude.session_lines import WORKFLOW, LineHead, SessionLine

_RUN = re.compile(rb"\b" + WORKFLOW.encode() + rb"[\w-]+")


class Subagents:
    """Subagents and their calls, from every record that names them: progress, results, prompts, the CLI's own notes."""

    def __init__(self) -> None:
        self._tasks: dict[str, list[str]] = {}
        """Calls that wait for their subagent's first line, by the prompt they gave it."""
        self._agents: dict[str, str] = {}
        """The call that started each subagent with an id."""
        self._runs: dict[str, str] = {}
        """The call that started each run of a workflow."""
        self._workflows: list[str] = []
        """All calls that started one."""
        self._threads: dict[str, str] = {}
        """The call that started a subagent, by the first record of a thread in the main file."""
        self._called: dict[str, tuple[str, ...]] = {}
        """The records of the main thread that have a call: more than one where a past was copied."""
        self._within: dict[str, str] = {}
        """For a call inside a subagent: the call that started that subagent."""

    def started(self, agent: str, call: str) -> None:
        """Note the call that started a subagent, or the workflow's run that did."""
        self._agents.setdefault(agent, call)

    def named(self) -> Collection[str]:
        """Return the subagents seen so far."""
        return list(self._agents)

    def note(self, line: LineHead) -> None:
        """Take a main-thread record: note its calls and the subagents that it names."""
        match line.type:
            case "progress" if line.data is not None and line.data.agent_id and line.parent_tool_use_id:
                self.started(line.data.agent_id, line.parent_tool_use_id)
            case "assistant":
                for block in line.message.calls:
                    if block.id and line.uuid:
                        self._called[block.id] = (*self._called.get(block.id, ()), line.uuid)
                        if block.name == "Workflow":
                            self._workflows.append(block.id)
                        prompt = block.input.get("prompt") if isinstance(block.input, dict) else None
                        if isinstance(prompt, str):
                            self._tasks.setdefault(prompt, []).append(block.id)
            case "user" if line.tool_use_result:
                agent = _agent_of(line)
                call = next((block.tool_use_id for block in line.message.blocks if block.tool_use_id), None)
                if agent is not None and call is not None:
                    self.started(agent, call)
                if call is not None and call in self._workflows:
                    for run in _RUN.findall(bytes(line.tool_use_result)):
                        self._runs.setdefault(run.decode(), call)
            case _:
                pass

    def note_own(self, line: LineHead, text: str, agent: str | None) -> None:
        """Take a subagent's record: note its call, if no name tells it, and its title."""
        if line.uuid is None:
            return
        known = agent or line.agent_id
        thread = self._threads.get(line.parent_uuid or "")
        if thread is None and (waiting := self._tasks.get(text)):
            thread = waiting[0] if len(waiting) == 1 else waiting.pop(0)
            if known is not None:
                self.started(known, thread)
        if thread is not None:
            self._threads[line.uuid] = thread
        if line.type == "assistant" and (above := self.call_of(line, agent)) is not None:
            for block in line.message.calls:
                if block.id:
                    self._within.setdefault(block.id, above)

    def call_of(self, line: SessionLine | LineHead, agent: str | None) -> str | None:
        """Return the call that started the subagent a record belongs to."""
        known = agent or line.agent_id
        if known is not None and (call := self._agents.get(known)) is not None:
            return self._call_of_run(call) if call.startswith(WORKFLOW) else call
        return self._threads.get(line.uuid or "") or self._threads.get(line.parent_uuid or "")

    def _call_of_run(self, run: str) -> str | None:
        """Return the call that started a workflow's run: by its result, or because there is no other."""
        only = self._workflows[0] if len(self._workflows) == 1 else None
        return self._runs.get(run, only)

    def records_of(self, call: str) -> tuple[str, ...]:
        """Return the main-thread records that contain a call, or the call whose subagent made it."""
        passed: set[str] = set()
        while call not in self._called and call in self._within and call not in passed:
            passed.add(call)
            call = self._within[call]
        return self._called.get(call, ())


class _WithAgent(msgspec.Struct):
    agent_id: str | None = msgspec.field(default=None, name="agentId")


_decode_with_agent = msgspec.json.Decoder(_WithAgent).decode


def _agent_of(line: LineHead) -> str | None:
    """Return the subagent that a result names."""
    result = bytes(line.tool_use_result)
    if b'"agentId"' not in result:
        return None
    try:
        return _decode_with_agent(result).agent_id
    except (msgspec.MsgspecError, RecursionError):
        return None
