"""A frontend of its own: `turnwire titles URL` prints the titles of a turn's tool calls, and how it ended."""

import asyncio
from typing import Annotated

import typer

from turnwire.client import Cursor, connect
from turnwire.client.events import Complete, ToolCall
from turnwire.client.frames import EventFrame
from turnwire.frontends.plugins import FrontendPlugin


async def print_titles(url: str, prompt: str) -> None:
    """Send a prompt; print what its turn does."""
    async with connect(url) as client:
        welcome = await client.connected()
        session = client.known_sessions[0]
        following = client.follow(session.session, Cursor(welcome.epoch, session.last_seq))
        await client.prompt(session.session, prompt)
        async for frame in following:
            match frame:
                case EventFrame(event=ToolCall(tool_title=title)):
                    print(title)
                case EventFrame(event=Complete(data=data)):
                    print(data.outcome)
                    return
                case _:
                    pass


def titles(
    url: Annotated[str, typer.Argument(help="The URL that `turnwire run` prints.")],
    prompt: Annotated[str, typer.Argument(help="What to ask.")],
) -> None:
    """Print the title of each tool call of a turn."""
    asyncio.run(print_titles(url, prompt))


TITLES = FrontendPlugin(
    summary="Print the titles of tool calls.",
    command=titles,
    examples=("turnwire titles URL 'List the files'",),
)
