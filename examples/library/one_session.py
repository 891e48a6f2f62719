"""Run an agent in this process, without a hub: prompt it, allow what it asks for, print what it says.

python examples/library/one_session.py AGENT PROMPT
"""

import asyncio
import sys

import turnwire
from turnwire.events import Complete, MessageChunk, PermissionRequest, QuestionRequest


async def main(agent: str, prompt: str) -> None:
    """Run one turn."""
    async with turnwire.open_session(agent=agent) as session:
        await session.prompt(prompt)
        async for event in session:
            match event:
                case MessageChunk(text=text):
                    print(text, end="", flush=True)
                case PermissionRequest(pending_id=request, permission_title=title) as asked:
                    print(f"\n[allowed once: {title}]")
                    session.answer(request, asked.allow_once())
                case QuestionRequest(pending_id=request):
                    session.answer_question(request, None, message="Decide yourself.")
                case Complete(data=end):
                    print(f"\n{end.outcome}")
                    return
                case _:
                    pass


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
