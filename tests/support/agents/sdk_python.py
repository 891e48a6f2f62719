"""Plays scenarios through the Python SDK, as a program: its argument names a file of jobs, and it prints what their callers saw.

A process of its own: the SDK leaves pipes of processes open that it has killed, which is no affair of a test's.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookContext,
    HookInput,
    HookJSONOutput,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    ToolPermissionContext,
    create_sdk_mcp_server,
    query,
    tool,
)
from sdk_scenarios import JSON, SCENARIOS, Scenario

DEADLINE = 60.0
"""Seconds that a scenario may take."""


async def played(scenario: Scenario, cli: Path, env: dict[str, str]) -> JSON:
    """Play a scenario with a program as the CLI."""
    seen: list[str] = []
    calls: list[str] = []
    stderr: list[str] = []
    options = _options(scenario, calls, env)
    options.cli_path, options.cwd, options.stderr = cli, cli.parent, stderr.append
    error = ""
    try:
        async with asyncio.timeout(DEADLINE):
            if scenario.actions:
                await _session(scenario, options, seen)
            elif isinstance(scenario.prompt, str):
                async for message in query(prompt=scenario.prompt, options=options):
                    seen.append(repr(message))  # noqa: PERF401 - what came before a failure counts
            else:
                async for message in query(prompt=_streamed(scenario.prompt), options=options):
                    seen.append(repr(message))  # noqa: PERF401 - as above
    except Exception as failed:  # noqa: BLE001 - whatever it is, it has to be the same
        error = f"{type(failed).__name__}: {failed}"
    return {"messages": seen, "calls": calls, "stderr": stderr, "error": error}


async def _streamed(contents: list[Any]) -> AsyncIterator[JSON]:
    for content in contents:
        yield {"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": None}


async def _session(scenario: Scenario, options: ClaudeAgentOptions, seen: list[str]) -> None:
    async with ClaudeSDKClient(options) as client:
        messages = client.receive_messages()
        for kind, value in scenario.actions:
            if kind == "say":
                await client.query(_streamed([value]) if isinstance(value, list) else value)
            elif kind == "take":
                seen += [repr(await anext(messages)) for _ in range(value)]
            elif kind == "result":
                while True:
                    message = await anext(messages)
                    seen.append(repr(message))
                    if isinstance(message, ResultMessage):
                        break
            else:
                try:
                    answer = await _asked(client, kind, value)
                except Exception as failed:  # noqa: BLE001 - as above
                    answer = f"{type(failed).__name__}: {failed}"
                seen.append(f"{kind}: {answer}")


NAMES = {"info": "get_server_info", "servers": "get_mcp_status", "rewind": "rewind_files"}
"""What is called otherwise in the SDK."""


async def _asked(client: ClaudeSDKClient, kind: str, value: Any) -> object:
    given = () if kind in ("info", "servers", "interrupt") else (value,)
    answer: object = await getattr(client, NAMES.get(kind, kind))(*given)
    return answer


def _options(scenario: Scenario, calls: list[str], env: dict[str, str]) -> ClaudeAgentOptions:
    async def decide(
        name: str, given: JSON, context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        told = dict(scenario.tool or {})
        calls.append(f"{name} {json.dumps(given)} {context.suggestions}")
        if "raises" in told:
            raise RuntimeError(told["raises"])
        if told["behavior"] == "deny":
            return PermissionResultDeny(message=told["message"], interrupt=told.get("interrupt", False))
        updates = context.suggestions if told.get("remember") else None
        return PermissionResultAllow(updated_input=told.get("updated_input"), updated_permissions=updates)

    def hook(output: Any) -> Any:
        async def called(given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
            calls.append(f"{json.dumps(given)} {tool_use_id}")
            if isinstance(output, str):
                raise RuntimeError(output)  # noqa: TRY004 - what a callback may do
            made: HookJSONOutput = output
            return made

        return called

    @tool("add", "Add two numbers", {"a": int, "b": int})
    async def add(given: JSON) -> JSON:
        return {"content": [{"type": "text", "text": str(given["a"] + given["b"])}]}

    @tool("fail", "Fail", {})
    async def fail(given: JSON) -> JSON:
        raise RuntimeError("broken")

    options = ClaudeAgentOptions(**{**scenario.options, "env": {**env, **scenario.options.get("env", {})}})
    if scenario.tool is not None:
        options.can_use_tool = decide
    if scenario.mcp:
        options.mcp_servers = {"sums": create_sdk_mcp_server("sums", tools=[add, fail])}
    if scenario.hooks:
        options.hooks = {
            event: [HookMatcher(hooks=[hook(output)])]  # type: ignore[misc]  # the names of events are the SDK's
            for event, output in scenario.hooks.items()
        }
    return options


async def _all(jobs: list[JSON], at_once: int) -> list[JSON]:
    scenarios = {one.name: one for one in SCENARIOS}
    places = asyncio.Semaphore(at_once)

    async def one(job: JSON) -> JSON:
        async with places:
            return await played(scenarios[job["scenario"]["name"]], Path(job["cli"]), job["env"])

    return list(await asyncio.gather(*map(one, jobs)))


if __name__ == "__main__":
    work = json.loads(Path(sys.argv[1]).read_text())
    sys.stdout.write(json.dumps(asyncio.run(_all(work["jobs"], work["at_once"]))))
