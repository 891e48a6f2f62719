"""An OTLP collector in a process of its own: gRPC and HTTP, what it received as rows of JSON in a file.

python otlp_collector.py FILE     prints the two ports, serves until its standard input closes
"""

import base64
import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]  # grpcio has no types
from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]  # protobuf has no types
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc


@dataclass(frozen=True)
class Span:
    """A span as the collector got it."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start: int
    end: int
    attributes: dict[str, Any]
    events: dict[str, dict[str, Any]]
    error: bool
    service: str
    links: tuple[tuple[str, str], ...] = ()
    """Traces and spans that it is linked to, in hexadecimal."""

    @property
    def ids(self) -> tuple[str, str]:
        """Trace and span in hexadecimal."""
        return _hex(self.trace_id), _hex(self.span_id)

    @property
    def parent(self) -> str:
        """The span above in hexadecimal; empty for none."""
        return _hex(self.parent_id)


@dataclass(frozen=True)
class Point:
    """A point of a metric as the collector got it."""

    value: float
    """The value; of a histogram the sum."""
    count: int
    """How many were summed up; 0 for what is no histogram."""
    attributes: dict[str, Any]


@dataclass(frozen=True)
class Collector:
    """A running collector."""

    grpc_port: int
    http_port: int
    file: Path

    def environment(self, protocol: str) -> dict[str, str]:
        """What makes an exporter send here."""
        port = self.grpc_port if protocol == "grpc" else self.http_port
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
            "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }

    def metrics(self) -> dict[str, list[Point]]:
        """The newest points of each metric."""
        found = {}
        for row in self.file.read_text().splitlines():
            for resource in json.loads(row).get("resourceMetrics", []):
                for scope in resource["scopeMetrics"]:
                    for metric in scope["metrics"]:
                        ((_, content),) = ((k, v) for k, v in metric.items() if isinstance(v, dict))
                        found[metric["name"]] = [_point(point) for point in content["dataPoints"]]
        return found

    def spans(self) -> list[Span]:
        """What was received so far, in order."""
        found = []
        for row in self.file.read_text().splitlines():
            for resource in json.loads(row).get("resourceSpans", []):
                service = _attributes(resource["resource"]).get("service.name", "")
                found += [
                    _span(span, service)
                    for scope in resource.get("scopeSpans", [])
                    for span in scope.get("spans", [])
                ]
        return found


def _attributes(holder: dict[str, Any]) -> dict[str, Any]:
    return {entry["key"]: _value(entry["value"]) for entry in holder.get("attributes", [])}


def _value(value: dict[str, Any]) -> Any:
    ((kind, content),) = value.items()
    match kind:
        case "intValue":
            return int(content)
        case "arrayValue":
            return [_value(item) for item in content.get("values", [])]
        case _:
            return content


def _point(point: dict[str, Any]) -> Point:
    value = point.get("sum", point.get("asDouble", point.get("asInt", 0)))
    return Point(float(value), int(point.get("count", 0)), _attributes(point))


def _span(span: dict[str, Any], service: str) -> Span:
    return Span(
        trace_id=span["traceId"],
        span_id=span["spanId"],
        parent_id=span.get("parentSpanId", ""),
        name=span["name"],
        start=int(span["startTimeUnixNano"]),
        end=int(span["endTimeUnixNano"]),
        attributes=_attributes(span),
        events={event["name"]: _attributes(event) for event in span.get("events", [])},
        error=span.get("status", {}).get("code") == "STATUS_CODE_ERROR",
        service=service,
        links=tuple((_hex(link["traceId"]), _hex(link["spanId"])) for link in span.get("links", [])),
    )


def _hex(told: str) -> str:
    """An id as W3C writes it; protobuf's JSON has it in base64."""
    return base64.b64decode(told).hex()


@contextmanager
def otlp_collector(folder: Path) -> Iterator[Collector]:
    """Run a collector."""
    file = folder / "spans.jsonl"
    file.touch()
    process = subprocess.Popen(
        [sys.executable, __file__, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        grpc_port, http_port = map(int, process.stdout.readline().split())
        yield Collector(grpc_port, http_port, file)
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(timeout=60)


def serve(file: Path) -> None:
    """Be the collector."""
    lock = threading.Lock()

    def take(request: Any) -> None:
        with lock, file.open("a") as out:
            out.write(json.dumps(MessageToDict(request)) + "\n")

    class Traces(trace_service_pb2_grpc.TraceServiceServicer):
        def Export(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802 - the service says so
            take(request)
            return trace_service_pb2.ExportTraceServiceResponse()

    class Metrics(metrics_service_pb2_grpc.MetricsServiceServicer):
        def Export(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802 - the service says so
            take(request)
            return metrics_service_pb2.ExportMetricsServiceResponse()

    class Logs(logs_service_pb2_grpc.LogsServiceServicer):
        def Export(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802 - the service says so
            take(request)
            return logs_service_pb2.ExportLogsServiceResponse()

    kinds: dict[str, Any] = {
        "/v1/logs": logs_service_pb2.ExportLogsServiceRequest,
        "/v1/traces": trace_service_pb2.ExportTraceServiceRequest,
        "/v1/metrics": metrics_service_pb2.ExportMetricsServiceRequest,
    }

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            take(kinds[self.path].FromString(body))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = grpc.server(ThreadPoolExecutor(2))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Traces(), server)  # type: ignore[no-untyped-call]  # generated
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(Metrics(), server)  # type: ignore[no-untyped-call]  # generated
    logs_service_pb2_grpc.add_LogsServiceServicer_to_server(Logs(), server)  # type: ignore[no-untyped-call]  # generated
    grpc_port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    sys.stdout.write(f"{grpc_port} {web.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.stop(None).wait()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
