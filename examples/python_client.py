"""Send a prompt, print what happens, answer what is asked; ends with the turn.

    python examples/python_client.py 'http://127.0.0.1:8790/#session=…&token=…' 'What is in this folder?' [--yes]

The URL is the one that `turnwire run` prints. With --yes every call is allowed once and every first answer to a
question chosen; without, you are asked.
"""

import argparse
import asyncio
import sys

from turnwire.client import Answer, Client, Cursor, connect
from turnwire.client.events import (
    AgentEvent,
    Complete,
    MessageChunk,
    PermissionRequest,
    QuestionRequest,
    ToolCall,
    ToolUpdate,
)
from turnwire.client.frames import EventFrame


async def choose(question: str, choices: list[str], *, always_first: bool) -> int:
    """Ask on the terminal; returns the index of the choice."""
    print(f"\n? {question}")
    for number, choice in enumerate(choices, 1):
        print(f"  {number}. {choice}")
    if always_first:
        return 0
    return int(await asyncio.to_thread(input, "  number: ")) - 1


async def react(client: Client, session: str, event: AgentEvent, *, always_first: bool) -> bool:
    """Print an event, answer it if it asks; True when the turn is over."""
    match event:
        case MessageChunk(text=text, parent_tool_call_id=None):
            print(text, end="", flush=True)
        case ToolCall(tool_title=title):
            print(f"\n> {title}")
        case ToolUpdate(tool_status="error", error=error):
            print(f"\n! {error}")
        case PermissionRequest(pending_id=pending, permission_title=title) as asked:
            if always_first:
                print(f"\n? {title}: allowed once")
                await client.respond(session, pending, asked.allow_once())
            else:
                options = asked.permission_options
                chosen = await choose(title, [option.label() for option in options], always_first=False)
                await client.respond(session, pending, options[chosen].option_id)
        case QuestionRequest(pending_id=pending, questions=questions):
            answers = {}
            for question in questions or []:
                labels = [option.label for option in question.options]
                chosen = await choose(question.question, labels, always_first=always_first)
                answers[question.question] = labels[chosen]
            await client.answer(session, pending, Answer(answers=answers))
        case Complete(data=data):
            print(f"\n[{data.outcome}, {data.duration_ms} ms, {data.output_tokens} tokens]")
            return True
        case _:
            pass  # some thirty kinds of events; an example shows a few
    return False


async def main(url: str, prompt: str, *, always_first: bool) -> None:
    """Follow the session that the URL names, else the newest, until the prompt's turn is over."""
    async with connect(url, name="python example") as client:
        welcome = await client.connected()
        sessions = {summary.session: summary for summary in client.known_sessions}
        wanted = client.named_session or next(reversed(sessions), None)
        summary = sessions.get(wanted or "")
        if summary is None:
            sys.exit(f"there is no session {wanted or 'to follow'}")
        following = client.follow(summary.session, Cursor(welcome.epoch, summary.last_seq))
        await client.prompt(summary.session, prompt)
        async for frame in following:
            # the other frames tell how the delivery goes: caught_up, lag, gap
            if isinstance(frame, EventFrame) and await react(
                client, summary.session, frame.event, always_first=always_first
            ):
                return


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url")
    parser.add_argument("prompt")
    parser.add_argument(
        "--yes", action="store_true", help="allow every call once, and take every first answer"
    )
    given = parser.parse_args()
    asyncio.run(main(given.url, given.prompt, always_first=given.yes))
