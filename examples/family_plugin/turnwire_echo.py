"""The family of echo agents. It is light: what it names is imported when there is a line, or an agent, of it."""

from turnwire.normalize.streams.family import stream_family
from turnwire.protocol.json_wire import LineShape, any_of

ECHO = stream_family(
    name="echo",
    title="Echo (echo-agent)",
    reader="turnwire_echo_reader:EchoReader",
    claims=any_of(LineShape(None, ("echo", "session"))),
    agents="turnwire_echo_agents:ECHO_AGENTS",
)
