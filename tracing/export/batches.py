"""Batches of spans that a collector takes: bounded by bytes, because gRPC refuses a message of more than 4 MiB whole."""

import json
from collections.abc import Iterator, Mapping, Sequence

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.util.types import AttributeValue

from turnwire.tracing.spans.span import cut_text, fit

MOST_BYTES = 3 << 20
"""Bytes of a batch. gRPC's limit is 4 MiB, and headers and the resource need room."""

_OVERHEAD = 256
"""Bytes of a span beside its texts, at most."""

_LEAST = 256
"""Bytes to which a text is cut at least."""


def batches(spans: Sequence[ReadableSpan], most: int = MOST_BYTES) -> Iterator[Sequence[ReadableSpan]]:
    """Yield the spans in their order, in batches of at most so many bytes. A span that is larger alone is cut."""
    batch: list[ReadableSpan] = []
    total = 0
    for span in spans:
        size = _size(span)
        fitting = span
        if size > most:
            fitting = _cut(span, most)
            size = _size(fitting)
        if batch and total + size > most:
            yield batch
            batch, total = [], 0
        batch.append(fitting)
        total += size
    if batch:
        yield batch


def _size(span: ReadableSpan) -> int:
    """Return about how many bytes a span has on the wire, at least its texts."""
    return (
        _OVERHEAD
        + len(span.name)
        + _texts(span.attributes)
        + sum(_OVERHEAD + _texts(event.attributes) for event in span.events)
        + _OVERHEAD * len(span.links)
    )


def _texts(attributes: Mapping[str, AttributeValue] | None) -> int:
    return sum(
        len(name) + 16 + (_length(value) if isinstance(value, str) else 8 * _count(value))
        for name, value in (attributes or {}).items()
    )


def _count(value: AttributeValue) -> int:
    return sum(1 + len(str(one)) for one in value) if isinstance(value, Sequence) else 1


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _cut(span: ReadableSpan, most: int) -> ReadableSpan:
    """Return the span with its longest texts cut. Events are left out if that is not enough."""
    room = most // 2
    attributes, events = span.attributes, span.events
    while room > _LEAST:
        cut = ReadableSpan(
            name=span.name,
            context=span.context,
            parent=span.parent,
            resource=span.resource,
            attributes=_shorter(attributes, room),
            events=[Event(one.name, _shorter(one.attributes, room), one.timestamp) for one in events],
            links=span.links,
            kind=span.kind,
            status=span.status,
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )
        if _size(cut) <= most:
            return cut
        room //= 2
        if room <= _LEAST and events:
            room, events = most // 2, ()
    return cut


def _shorter(attributes: Mapping[str, AttributeValue] | None, room: int) -> dict[str, AttributeValue]:
    return {
        name: _fitting(value, room) if isinstance(value, str) and _length(value) > room else value
        for name, value in (attributes or {}).items()
    }


def _fitting(text: str, room: int) -> str:
    """Cut a text. One that is JSON stays JSON."""
    if text[:1] in ("{", "["):
        try:
            return json.dumps(fit(json.loads(text), room), ensure_ascii=False)
        except (ValueError, RecursionError):
            pass
    return cut_text(text.encode("utf-8", "replace"), room)
