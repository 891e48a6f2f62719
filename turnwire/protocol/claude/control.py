"""The control protocol: requests of both sides, and their answers.

The bodies of requests are in `turnwire.protocol.claude.requests`. Answers exist in
three shapes: the official one (`response.request_id`, `response.response`), one with `request_id` beside `response`
and the payload under `result`, and both at once. CLIs obey only the first; `ControlResponse` reads all of them.
"""

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta, Struct, field

from turnwire.protocol.claude.requests import AnyRequest, UnknownRequest
from turnwire.protocol.json_values import Json, JsonObject

RequestId: TypeAlias = Annotated[str, Meta(min_length=1)] | int | float | bool | list[Json] | JsonObject
"""The id of a request: any value but null and the empty text. The answer repeats it as it came."""

_LONGEST_NAME = 200
"""Characters of an id that is a name as it is."""


def name_of(own_id: Json) -> str:
    """Return the name of a request for frontends and logs; "" if the id is null or empty, so that nobody can answer it.

    Short printable ASCII is a name as it is. Any other id gets a name of ours, the same for the same id.
    """
    if type(own_id) is str and own_id.isascii() and own_id.isprintable() and len(own_id) <= _LONGEST_NAME:
        return own_id
    if own_id is None:
        return ""
    from hashlib import blake2b  # noqa: PLC0415 - hardly ever needed, and costs each start three modules

    return f"request-{blake2b(msgspec.json.encode(own_id, order='sorted'), digest_size=8).hexdigest()}"


class ControlRequest(Struct, frozen=True, gc=False, tag_field="type", tag="control_request"):
    """One side asks the other."""

    __match_args__ = ("request_id", "request")

    own_id: RequestId = field(name="request_id")
    """The id that the answer repeats."""
    request: AnyRequest = UnknownRequest(None)
    """The request's body."""

    @property
    def request_id(self) -> str:
        """The request's name."""
        return name_of(self.own_id)


class ResponseBody(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The inner object of an answer, with the fields of all shapes."""

    subtype: str | None = None
    """success or error."""
    request_id: Json = None
    """The answered request, by its own id."""
    response: Json = None
    """The answer's payload."""
    result: Json = None
    """The same field in Kandev's lines."""
    error: str | None = None
    """Why it failed."""
    error_code: str | None = None
    """The same for programs (2.1.330)."""
    pending_user_dialog_requests: list[JsonObject] = field(default_factory=list)
    """Dialog requests that still wait (2.1.330)."""
    pending_permission_requests: list[JsonObject] = field(default_factory=list)
    """Permission requests that still wait, each a whole control request (2.1.330)."""


class ControlResponse(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="type", tag="control_response"
):
    """One side answers the other."""

    response: ResponseBody = ResponseBody()
    """The answer."""
    outer_request_id: Json = field(default=None, name="request_id")
    """The answered request, where Kandev puts it."""

    @property
    def request_id(self) -> str:
        """The name of the answered request, in any of the shapes; "" if there is none."""
        return name_of(self.response.request_id) or name_of(self.outer_request_id)

    @property
    def payload(self) -> Json:
        """The answer's payload, in any of the shapes; None if there is none."""
        body = self.response
        return body.result if body.response is None else body.response

    @property
    def error(self) -> str | None:
        """Why the request failed; None if it did not."""
        if self.response.subtype == "error":
            return self.response.error or "error"
        return None


class ControlCancelRequest(Struct, frozen=True, gc=False, tag_field="type", tag="control_cancel_request"):
    """The CLI cancels a request: nobody needs to answer it. Never write it to a CLI (1.0 and 2.0 exit)."""

    __match_args__ = ("request_id",)

    own_id: RequestId = field(name="request_id")
    """The request."""

    @property
    def request_id(self) -> str:
        """The request's name."""
        return name_of(self.own_id)


def success(request_id: Json, payload: JsonObject | None = None) -> ControlResponse:
    """Return the official shape of a good answer."""
    return ControlResponse(response=ResponseBody(subtype="success", request_id=request_id, response=payload))


def failure(request_id: Json, error: str) -> ControlResponse:
    """Return the official shape of a failure. A permission is refused otherwise: see `turnwire.protocol.claude.answers`."""
    return ControlResponse(response=ResponseBody(subtype="error", request_id=request_id, error=error))
