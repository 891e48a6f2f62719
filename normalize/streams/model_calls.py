"""Calls of the model on these wires: lines report none, so the agent's output stands for them."""

from collections.abc import Sequence

from turnwire.normalize.model_calls import CallsUntold, ModelCall, ModelCallReaders
from turnwire.protocol.json_wire import JsonLine

_UNTOLD = (CallsUntold(),)


def _untold(_: JsonLine) -> Sequence[ModelCall]:
    return _UNTOLD


MODEL_CALLS: ModelCallReaders = {JsonLine: _untold}
