"""Agents of the Agent Client Protocol as a family."""

from functools import partial

from turnwire.adapter.acp.asking import never_asks
from turnwire.adapter.acp.handshake import BEFORE
from turnwire.adapter.acp.listing import list_conversations
from turnwire.adapter.acp.opening import open_acp_session
from turnwire.adapter.family import AgentFamily, resume_at_unsupported
from turnwire.normalize.acp.core import AcpCore

ACP = AgentFamily(
    "acp",
    AcpCore,
    lambda _: BEFORE,
    open_acp_session,
    partial(resume_at_unsupported, "acp"),
    never_asks,
    list_conversations,
)
