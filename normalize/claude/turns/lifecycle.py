"""How turns start: by a prompt that we sent, by an `init`, or by output of the model without either."""

from turnwire.normalize.claude import user_lines
from turnwire.normalize.claude.results.answer import parts
from turnwire.normalize.claude.state import ClaudeState
from turnwire.normalize.claude.turns import ending
from turnwire.normalize.claude.turns.prompts import MERGED_SINCE, Prompt
from turnwire.normalize.claude.turns.starting import start
from turnwire.normalize.claude.turns.uuids import numbers
from turnwire.normalize.events import AgentEvent, Queued, UserMessage, Withdrawn
from turnwire.protocol.claude.blocks import TextBlock
from turnwire.protocol.claude.messages import User
from turnwire.protocol.claude.notices import CommandLifecycle
from turnwire.protocol.claude.system import Init


def ensure(state: ClaudeState) -> list[AgentEvent]:
    """The main thread speaks: there is a turn, and it is under way."""
    turn = state.turns.current
    events: list[AgentEvent] = []
    if turn is None:
        turn, started = start(state)
        events.append(started)
    turn.active = True
    return events


def init(state: ClaudeState, message: Init) -> list[AgentEvent]:
    """`init` opens a turn, in every version; an open turn that has spoken since its own is over (2.1.101)."""
    events: list[AgentEvent] = []
    turn = state.turns.current
    if turn is not None and turn.began and turn.active:
        woken = state.task_woke
        # only a background task or an interrupt lets one process begin a turn without the result of the one before
        is_same_process = woken or turn.interrupted or bool(turn.prompts)
        events += ending.withheld(state, turn) if is_same_process else ending.killed(state)
        state.task_woke, turn = woken, None
    if state.session.changes(message.session_id):
        events += state.context.reset(None)
    events += state.session.init(message)
    # neither 1.0.120 nor 2.0.14 says its version; subagents are listed by the latter alone
    state.commit.version(message.version or ("2.0" if message.agents else "1.0"))
    state.costs.version(message.version)
    state.context.model(message.model, is_whole=True)
    state.context.holds(message.largest_context or 0)
    state.calls.work_dir.on_init(message.cwd)
    state.prompts.merged = numbers(message.version or "1.0") >= MERGED_SINCE
    state.requests.hooks_edit = message.version is not None
    if turn is None:
        turn, started = start(state)
        events.append(started)
    turn.began = True
    return events


def prompted(state: ClaudeState, message: User) -> list[AgentEvent]:
    """We sent a prompt: it opens a turn, or waits for the next one."""
    said = message.blocks
    text = "\n\n".join(block.text for block in said if isinstance(block, TextBlock))
    prompt = Prompt(message.uuid, text)
    state.prompts.on_sent(prompt)
    events: list[AgentEvent] = []
    if state.turns.current is None:
        # Prompts that still seem to wait have joined the last turn unseen: waiting ones start within milliseconds.
        state.prompts.take_first(state.prompts.waiting)
        state.task_woke = False
        _, started = state.turns.start("user", [message.uuid] if message.uuid else [])
        events.append(started)
    else:
        position = state.prompts.wait(prompt)
        if position is not None:
            events.append(Queued(**state.place.here, position=position, prompt=message.uuid))
    attachments = [block for block in said if not isinstance(block, TextBlock)]
    events.append(
        UserMessage(**state.place.here, text=text, uuid=message.uuid, parts=parts(attachments) or None)
    )
    return events


def prompt_told(state: ClaudeState, message: CommandLifecycle) -> list[AgentEvent]:
    """Handle a report about a prompt with a uuid (2.1.330)."""
    uuid, turn = message.command_uuid, state.turns.current
    match message.state:
        case "queued" if turn is not None and uuid in turn.prompts:
            turn.unserved.add(uuid)
            return []
        case "queued" if turn is not None:
            position = state.prompts.wait(Prompt(uuid, ""))
            return [] if position is None else [Queued(**state.place.here, position=position, prompt=uuid)]
        case "started" if turn is None:
            state.prompts.starting(uuid)
            return []
        case "started" if turn is not None and uuid in turn.prompts:
            turn.unserved.discard(uuid)
            return []
        case "started" if turn is not None:
            waited = state.prompts.pop(uuid)
            if not turn.active:
                turn.prompts[uuid] = None
                return []
            length = None if waited is None else len(waited.text) or None
            return user_lines.injected(state, turn, uuid, length)
        case "cancelled":
            withdrawn = state.prompts.pop(uuid)
            return [] if withdrawn is None else [Withdrawn(**state.place.here, prompt=uuid)]
        case _:
            return []
