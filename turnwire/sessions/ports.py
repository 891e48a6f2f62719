"""The ports of sandboxes that frontends have opened: one server for each, as long as the session's agent runs."""

from ipaddress import ip_address
from typing import TYPE_CHECKING

from pydantic import JsonValue

from turnwire.adapter.session.agent import AgentSession
from turnwire.hub.host import Frontend
from turnwire.hub.wire import frames
from turnwire.sessions.hosted import refuse

if TYPE_CHECKING:  # few sessions have a sandbox
    from turnwire.adapter.sandbox.sandbox import Sandbox
    from turnwire.hub.server.port_server import PortServer

MOST_PORTS = 16
"""Ports of one session that may be open."""


class OpenPorts:
    """The ports of all sessions that are open."""

    def __init__(self, host: str) -> None:
        """`host`: the address that the hub listens on."""
        self._host = host
        self._open: dict[str, tuple[Sandbox, dict[int, PortServer]]] = {}

    async def execute(
        self, command: frames.PortCommand, agent: AgentSession, frontend: Frontend
    ) -> JsonValue:
        """Do a command about the ports of a session; refuses."""
        from turnwire.adapter.sandbox.ports import NoPort  # noqa: PLC0415 - few sessions have a sandbox

        box = agent.options.box
        if box is None:
            refuse(
                "no_port", "this session has no sandbox; its servers are reached at the machine's own ports"
            )
        try:
            servers = await self._servers(command.session, box)
            match command:
                case frames.PortOpen(port=port):
                    return await self._opened(box, servers, port, frontend)
                case frames.PortClose(port=port):
                    if (server := servers.pop(port, None)) is not None:
                        await server.close()
                    return None
                case _:
                    return {"ports": [{"port": one, "open": one in servers} for one in await box.listening()]}
        except NoPort as error:
            refuse("no_port", str(error))

    async def _servers(self, session: str, box: "Sandbox") -> "dict[int, PortServer]":
        known = self._open.get(session)
        if known is None or known[0] is not box:
            await self.close(session)
            known = self._open[session] = (box, {})
            box.on_close(lambda: self.close(session))
        return known[1]

    async def _opened(
        self, box: "Sandbox", servers: "dict[int, PortServer]", port: int, frontend: Frontend
    ) -> JsonValue:
        from turnwire.hub.server.port_server import PortServer  # noqa: PLC0415 - few sessions have a sandbox

        if port not in servers and frontend.role != "control":
            refuse(
                "no_port", f"port {port} is not open; a frontend with the role control has to open it first"
            )
        (await box.connect(port)).close()
        if port not in servers:
            if len(servers) >= MOST_PORTS:
                refuse("no_port", f"{MOST_PORTS} ports of this session are open, the most allowed; close one")
            server = servers[port] = PortServer(port, lambda: box.connect(port))
            try:
                await server.start(self._host)
            except OSError as error:
                del servers[port]
                refuse("no_port", f"turnwire cannot listen for it: {error.strerror}")
        server = servers[port]
        path = server.link(frontend.role)
        return {
            "url": f"http://{_host_of_link(self._host, server.name)}:{server.origin_port}{path}",
            "port": server.origin_port,
            "path": path,
        }

    async def close(self, session: str) -> None:
        """Close the ports of a session."""
        _, servers = self._open.pop(session, (None, {}))
        for server in servers.values():
            await server.close()


def _host_of_link(host: str, name: str) -> str:
    """Return the host in a link: a name of its own on loopback, where browsers know such names."""
    if _is_loopback(host):
        return f"{name}.localhost"
    return f"[{host}]" if ":" in host else host


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback or ip_address(host).is_unspecified
    except ValueError:
        return host == "localhost"
