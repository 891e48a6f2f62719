"""Serve a hub inside an asyncio program: begin a session in it, follow it with the client, and watch it in the browser.

python examples/library/own_hub.py AGENT PROMPT
"""

import asyncio
import sys

import turnwire
from turnwire.client import EventFrame, connect
from turnwire.client.events import Complete, MessageChunk


async def main(agent: str, prompt: str) -> None:
    """Serve a hub for one turn."""
    async with turnwire.open_hub(agent=agent, journal="memory") as hub:
        print(f"watch it at {hub.view_url}")
        async with connect(hub.url, name="example") as client:
            session = await client.create(prompt=prompt)
            async for received in client.follow(session):
                match received:
                    case EventFrame(event=MessageChunk(text=text)):
                        print(text, end="", flush=True)
                    case EventFrame(event=Complete(data=end)):
                        print(f"\n{end.outcome}")
                        return
                    case _:
                        pass


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
