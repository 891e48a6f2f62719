"""The family of the Agent Client Protocol."""

from typing import TYPE_CHECKING

from turnwire.normalize.acp.files import KEPT_BY_OTHERS
from turnwire.normalize.core import Core
from turnwire.normalize.family import Family
from turnwire.protocol.acp.recognise import is_acp
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.json_wire import LineWire, Wire

if TYPE_CHECKING:
    from turnwire.normalize.model_calls import ModelCallReaders


def _core(*, resumed: bool = False, first_turn: int = 1) -> Core:
    from turnwire.normalize.acp.core import AcpCore  # noqa: PLC0415 - most recordings have nothing of it

    return AcpCore(resumed=resumed, first_turn=first_turn)


def _wire() -> Wire:
    from turnwire.protocol.acp.decode import decode  # noqa: PLC0415 - as above

    return LineWire(decode)


def _claims(value: JsonObject) -> bool:
    return "jsonrpc" in value and is_acp(value)


def _model_calls() -> "ModelCallReaders":
    from turnwire.normalize.acp.model_calls import MODEL_CALLS  # noqa: PLC0415 - for spans alone

    return MODEL_CALLS


ACP = Family(
    name="acp",
    title="an agent of the Agent Client Protocol",
    core=_core,
    wire=_wire,
    claims=_claims,
    model_calls=_model_calls,
    files=KEPT_BY_OTHERS,
    agents="turnwire.adapter.acp.family:ACP",
)
