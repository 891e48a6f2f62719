"""The commands of a live session, each to the CLI's own words."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from uuid import UUID, uuid4

from pydantic import JsonValue

from turnwire.adapter.permissions.decisions import PermissionAnswer, QuestionAnswer
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import AgentSession, AnswerRefused, RequestFailed, RequestTimeout
from turnwire.adapter.session.attachments import AttachmentRefused, decode_attachment
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.wire import frames
from turnwire.normalize.vocabulary import ALWAYS_MODE, Priority
from turnwire.sessions.frontend_limits import FrontendLimits
from turnwire.sessions.hosted import refuse
from turnwire.sessions.live import LiveSession
from turnwire.sessions.prompt_history import SentPrompt
from turnwire.sessions.trace_context import Caller

UUID_LENGTH = 36

INTERRUPT_DEADLINE_S = 10.0
"""After this a CLI that neither answers an interrupt nor ends its turn is stopped."""


async def execute(
    session: LiveSession,
    cli: AgentSession,
    command: frames.SessionCommand,
    frontend: Frontend,
    limits: FrontendLimits,
) -> JsonValue:
    """Do a command on a running CLI, if frontends may ask for it; raises CommandRefused."""
    with refused():
        match command:
            case frames.Prompt():
                name = prompt_name(command)
                if session.prompt_history.knows(name):
                    return {"prompt": name}
                return await prompt(
                    session,
                    cli,
                    command.text,
                    attachments=command.attachments or (),
                    caller=Caller.of(command),
                    priority=command.priority,
                    name=name,
                )
            case frames.PromptWithdraw():
                return {"withdrawn": await cli.withdraw(command.prompt)}
            case frames.Interrupt():
                return await cli.interrupt(INTERRUPT_DEADLINE_S, escalate_after=INTERRUPT_DEADLINE_S)
            case frames.PermissionRespond():
                cli.answer(command.pending_id, tool_answer(command, limits), by=frontend.name)
            case frames.QuestionAnswer():
                cli.answer(command.pending_id, question_answer(command), by=frontend.name)
            case frames.SetModel():
                await cli.set_model(command.model)
            case frames.SetPermissionMode():
                limits.check_mode(command.mode, "mode")
                await cli.set_permission_mode(command.mode)
            case frames.Control():
                limits.check_control(command.request)
                return await cli.control(command.request)
            case _:
                refuse("not_live", f"{type(command).__name__} is not for a live session", "type")
    return None


def prompt_name(command: frames.Prompt) -> str:
    """Return a prompt's UUID: the command's id if it is one, so that a frontend knows it before the reply."""
    with suppress(ValueError):
        if len(command.id) == UUID_LENGTH:
            return str(UUID(command.id))
    return str(uuid4())


def tool_answer(command: frames.PermissionRespond, limits: FrontendLimits) -> PermissionAnswer:
    """Return an answer that frontends may give; raises CommandRefused for a mode that they may not choose."""
    if command.mode is not None:
        limits.check_mode(command.mode, "mode")
    if command.option_id.startswith(ALWAYS_MODE):
        limits.check_mode(command.option_id.removeprefix(ALWAYS_MODE), "option_id")
    return PermissionAnswer(
        option_id=command.option_id,
        updated_input=command.updated_input,
        message=command.message,
        interrupt=command.interrupt,
        destination=command.destination,
        mode=command.mode,
    )


def question_answer(command: frames.QuestionAnswer) -> QuestionAnswer:
    """Return the answer of a question."""
    return QuestionAnswer(
        answers=command.answers, action=command.action, content=command.content, message=command.message
    )


@contextmanager
def refused() -> Iterator[None]:
    """Raise refusals of an agent or its process as CommandRefused."""
    try:
        yield
    except AnswerRefused as error:
        raise CommandRefused(error.code, error.message, error.field) from error
    except AttachmentRefused as error:
        raise CommandRefused("invalid_params", str(error), "attachments") from error
    except RequestTimeout as error:
        raise CommandRefused("timeout", str(error)) from error
    except RequestFailed as error:
        raise CommandRefused("refused_by_cli", str(error)) from error
    except ProcessGone as error:
        raise CommandRefused("not_running", str(error), "session") from error


async def prompt(
    session: LiveSession,
    cli: AgentSession,
    text: str,
    *,
    attachments: Sequence[frames.Attachment] = (),
    caller: Caller,
    priority: Priority = "next",
    name: str | None = None,
) -> JsonValue:
    """Send a prompt and return its id: `name`, if given. Raises CommandRefused, including the errors of `refused`."""
    files = [decode_attachment(item.base64, item.name) for item in attachments]
    if not text.strip() and not files:
        refuse("invalid_params", "a prompt needs text or an attachment", "text")
    name = name or str(uuid4())
    session.prompt_history.say(name, SentPrompt(text, attachments))
    try:
        trace = await session.trace_prompt(name, caller)
        await cli.prompt(text, attachments=files, priority=priority, uuid=name, trace=trace)
    except BaseException:
        session.prompt_history.unsay(name)
        raise
    return {"prompt": name}
