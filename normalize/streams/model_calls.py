"""What lines of these wires tell of calls of the model: that they tell none, so what is said stands for them."""

from collections.abc import Sequence

from turnwire.normalize.model_calls import CallsUntold, ModelCall, ModelCallReaders
from turnwire.protocol.wire import JsonLine

_UNTOLD = (CallsUntold(),)


def _untold(_: JsonLine) -> Sequence[ModelCall]:
    return _UNTOLD


MODEL_CALLS: ModelCallReaders = {JsonLine: _untold}
