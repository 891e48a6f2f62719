"""Messages of both sides. An answer has the id of its request. Each side numbers its own requests."""

from typing import ClassVar, TypeAlias

from msgspec import Struct, field

from turnwire.protocol.acp.updates import AnyUpdate, ToolCallUpdate, UnknownUpdate
from turnwire.protocol.json_values import Foreign, Json, JsonObject
from turnwire.protocol.malformed import Malformed

Id: TypeAlias = str | int | float | None
"""A request's id, of its sender's choice."""


class UpdateParams(Struct, frozen=True, gc=False, rename="camel"):
    """The params of `session/update`."""

    session_id: str = ""
    """The session it is about."""
    update: AnyUpdate = field(default_factory=lambda: UnknownUpdate(raw=None))
    """The news."""
    meta: Json = field(name="_meta", default=None)


class SessionUpdate(Struct, frozen=True, gc=False, tag_field="method", tag="session/update"):
    """News of a session."""

    family: ClassVar[str] = "acp"

    params: UpdateParams = field(default_factory=UpdateParams)

    @property
    def session_id(self) -> str:
        """The session it is about."""
        return self.params.session_id

    @property
    def update(self) -> AnyUpdate:
        """The news."""
        return self.params.update


class Option(Struct, frozen=True, gc=False, rename="camel"):
    """One way to answer a permission request."""

    option_id: str = ""
    """The value for the answer."""
    name: str = ""
    """The button's text."""
    kind: str = ""
    """allow_once, allow_always, reject_once, reject_always."""


class PermissionParams(Struct, frozen=True, gc=False, rename="camel"):
    """The params of `session/request_permission`."""

    session_id: str = ""
    """The session that asks."""
    tool_call: ToolCallUpdate = field(default_factory=ToolCallUpdate)
    """The call it is about; agents often tell more here than before."""
    options: list[Option] = field(default_factory=list)
    """The possible answers."""
    title: str | None = None
    """Version 2: one line for humans."""
    description: str | None = None
    """Version 2: more of them."""
    subject: JsonObject | None = None
    """Version 2: `{"type": "tool_call", "toolCall"}`, in the place of `toolCall`."""
    meta: Json = field(name="_meta", default=None)


class PermissionRequest(Struct, frozen=True, gc=False, tag_field="method", tag="session/request_permission"):
    """The agent waits for permission to call a tool."""

    family: ClassVar[str] = "acp"

    id: Id = None
    params: PermissionParams = field(default_factory=PermissionParams)

    @property
    def session_id(self) -> str:
        """The session that asks."""
        return self.params.session_id

    @property
    def tool_call(self) -> ToolCallUpdate:
        """The call it is about."""
        return self.params.tool_call

    @property
    def options(self) -> list[Option]:
        """The possible answers."""
        return self.params.options


class Request(Struct, frozen=True, gc=False):
    """Any other request, of either side."""

    family: ClassVar[str] = "acp"

    id: Id
    method: str
    params: Json = None


class Notification(Struct, frozen=True, gc=False):
    """Any other notification, of either side."""

    family: ClassVar[str] = "acp"

    method: str
    params: Json = None


class RpcError(Struct, frozen=True, gc=False):
    """Why a request failed."""

    code: int | str | float | None = None
    """JSON-RPC's, HTTP's, or the agent's own."""
    message: str = ""
    """The error's text. Some agents put JSON text here."""
    data: Json = None
    """More of it."""


class Response(Struct, frozen=True, gc=False):
    """The answer to a request of the other side."""

    family: ClassVar[str] = "acp"

    id: Id
    result: Json = None
    error: RpcError | None = None


class Batch(Struct, frozen=True, gc=False):
    """Several messages in one line, as JSON-RPC has them; the protocol uses none."""

    family: ClassVar[str] = "acp"

    messages: "list[AcpMessage]"


class Unknown(Foreign, frozen=True, gc=False):
    """An object that is neither request nor answer. `raw` has all of it."""

    family: ClassVar[str] = "acp"


AcpMessage: TypeAlias = (
    SessionUpdate | PermissionRequest | Request | Notification | Response | Batch | Unknown | Malformed
)
"""Every message."""

ACP_TYPES: tuple[type, ...] = (
    SessionUpdate,
    PermissionRequest,
    Request,
    Notification,
    Response,
    Batch,
    Unknown,
)
"""Types that no other wire has."""
