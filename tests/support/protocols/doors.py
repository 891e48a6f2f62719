"""A prompt at each web door and at the MCP server of one hub, and what they say to it."""

import asyncio

import mcp
from hub_harness import HubHarness

from agui_harness import AguiHarness
from turnwire.frontends.agui.app import create_app as create_agui
from turnwire.frontends.ai_sdk.app import create_app as create_ai_sdk
from turnwire.frontends.mcp.server import create_server, to_hub


async def said_at_doors(hub: HubHarness, session: str, prompt: str) -> dict[str, str]:
    """Send a prompt at each door; return the whole answers, by door."""
    agui = AguiHarness(create_agui(hub.base), hub)
    ai_sdk = AguiHarness(create_ai_sdk(hub.base), hub)
    message = {"id": "x", "role": "user", "parts": [{"type": "text", "text": prompt}]}
    chat = {"id": session, "trigger": "submit-message", "messages": [message]}
    try:
        answers = {
            "AG-UI": await agui.run(session, said=prompt),
            "useChat": await ai_sdk.call("/ai", chat),
        }
        found = {
            door: b"".join([chunk async for chunk in answer.chunks()]).decode()
            for door, answer in answers.items()
        }
    finally:
        for call in (*agui.calls, *ai_sdk.calls):
            call.cancel()
        await asyncio.gather(*agui.calls, *ai_sdk.calls, return_exceptions=True)
    async with mcp.Client(create_server(to_hub(hub.base, hub.token), decides=False)) as client:
        result = await client.call_tool("prompt", {"session": session, "text": prompt})
        found["MCP"] = str(result.content)
    return found
